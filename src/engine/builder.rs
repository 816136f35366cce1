//! Settings of a new engine.

use super::{Blocking, Engine, Files};
use crate::command::cluster::Node;
use crate::command::config::{Config, ConfigFile, setting};
use crate::error::Error;
use crate::reply::Reply;
use crate::script::{Coverage, Limits, Settings, is_free_name};
use crate::store::{Db, Store};
use crate::util::clock::Clock;
use std::sync::Arc;

/// Each database takes memory, also an empty one.
pub(crate) const DATABASES_MAX: u32 = 1_000_000;

/// Settings of a new engine, see [`Engine::builder`].
#[derive(Debug, Clone, Default)]
pub struct Builder {
    clock: Clock,
    seed: u64,
    hasher_seed: u64,
    config: Config,
    files: Option<Arc<dyn Files>>,
    config_file: Option<ConfigFile>,
    nodes: Vec<(Node, Vec<u16>)>,
    script_settings: Settings,
    blocking: Blocking,
}

impl Builder {
    /// The clock. Default: a manual one that stands at the start of 2024.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
    /// The seed of the one source of randomness. Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// The seed of the hash tables. Default: 0. Choose it at random where the input is not trusted.
    #[must_use]
    pub fn hasher_seed(mut self, seed: u64) -> Self {
        self.hasher_seed = seed;
        self
    }
    /// How many databases SELECT knows; 1 to 1,000,000. Default: 16.
    #[must_use]
    pub fn databases(mut self, databases: u32) -> Self {
        self.config.databases = databases.clamp(1, DATABASES_MAX).into();
        self
    }
    /// Sets a parameter of the server by its name, as a line of its configuration file does: also one that CONFIG SET does
    /// not change.
    ///
    /// ```
    /// let engine = moonkeep::Engine::builder().setting("hash-max-listpack-entries", "64")?.setting("port", "6379")?.build();
    /// let port: Vec<(String, String)> = engine.client().query(["CONFIG", "GET", "port"])?;
    /// assert_eq!(port, [("port".to_owned(), "6379".to_owned())]);
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such parameter, or it does not take the value: with the server's reason.
    pub fn setting(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let (name, setting) = setting(name.as_bytes())
            .ok_or_else(|| Error::usage(format!("there is no parameter {name:?}")))?;
        setting
            .change(&mut self.config, value.as_bytes())
            .map_err(|why| Error::usage(format!("{name} does not take {value:?}: {why}")))?;
        if self.config.databases > DATABASES_MAX.into() {
            return Err(Error::usage(format!(
                "{name} does not take {value:?}: there are 1 to {DATABASES_MAX}"
            )));
        }
        Ok(self)
    }
    /// Whether [`setting`](Self::setting) knows a parameter of this name.
    #[must_use]
    pub fn knows_setting(&self, name: &str) -> bool {
        setting(name.as_bytes()).is_some()
    }
    /// Where files are: SAVE and BGSAVE then write an `.rdb` file there, named by the parameters `dir` and `dbfilename`, and
    /// the engine saves by itself when `save` says so. Default: nowhere, and SAVE is refused.
    #[must_use]
    pub fn files(mut self, files: Arc<dyn Files>) -> Self {
        self.files = Some(files);
        self
    }
    /// The configuration file that CONFIG REWRITE rewrites, by its whole path, and where it is. It is not read here: see
    /// [`setting`](Self::setting). Default: none, and CONFIG REWRITE says so.
    #[must_use]
    pub fn config_file(mut self, path: &str, files: Arc<dyn Files>) -> Self {
        self.config_file = Some(ConfigFile { path: path.into(), files, directory: "".into() });
        self
    }
    /// Tells a node of a cluster (`setting("cluster-enabled", "yes")`) of another one: its identity of 40 hexadecimal
    /// digits, where it is, and the slots it serves; commands for their keys are answered MOVED. All other slots are this
    /// node's. Its own identity follows from the seed: CLUSTER MYID.
    ///
    /// ```
    /// let builder = moonkeep::Engine::builder().setting("cluster-enabled", "yes")?;
    /// let engine = builder.cluster_node(&"ab".repeat(20), "127.0.0.1", 7001, 8192..=16383).build();
    /// let error = engine.client().call(["GET", "foo"]).unwrap_err();
    /// assert_eq!(error.to_string(), "MOVED 12182 127.0.0.1:7001");
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    #[must_use]
    pub fn cluster_node(
        mut self,
        id: &str,
        address: &str,
        port: u16,
        slots: impl IntoIterator<Item = u16>,
    ) -> Self {
        let node = Node { id: id.to_owned(), address: address.to_owned(), port };
        self.nodes.push((node, slots.into_iter().collect()));
        self
    }
    /// What a script may spend. Default: enough for any script that ends by itself.
    #[must_use]
    pub fn script_limits(mut self, limits: Limits) -> Self {
        self.script_settings.limits = limits;
        self
    }
    /// Gives scripts a global function of the host's: it gets what the script passes as an array, and answers with
    /// one value. What it returns as an error is raised in the script. It runs inside the script, under the lock: a
    /// call of this engine from it is refused with [`Error::is_reentered`].
    ///
    /// ```
    /// use moonkeep::{Engine, Script};
    /// let engine = Engine::builder()
    ///     .function("double", |arguments, answer| {
    ///         let numbers: Vec<i64> = arguments.get().map_err(|error| error.to_string())?;
    ///         answer.int(numbers.first().ok_or("double needs a number")? * 2);
    ///         Ok(())
    ///     })?
    ///     .build();
    /// let mut client = engine.client();
    /// assert_eq!(Script::new("return double(21)").call().run::<i64>(&mut client)?, 42);
    /// let error = Script::new("return double()").call().run::<i64>(&mut client).unwrap_err();
    /// assert!(error.to_string().starts_with("ERR user_script:1: double needs a number script: "), "{error}");
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the name is no Lua name, or means something else to scripts already.
    pub fn function<F>(mut self, name: &str, function: F) -> Result<Self, Error>
    where
        F: Fn(&Reply, &mut Reply) -> Result<(), String> + Send + Sync + 'static,
    {
        if !is_free_name(name) {
            let text = format!(
                "{name:?} cannot name a function: it is no Lua name, or means something else already"
            );
            return Err(Error::usage(text));
        }
        self.script_settings.functions.add(name, Arc::new(function));
        Ok(self)
    }
    /// Notes which lines of scripts and functions run, in a value that any number of engines may share; forks of this
    /// engine share it too. Scripts take longer then, and do the same work. Default: nothing is noted, at no cost.
    ///
    /// ```
    /// use moonkeep::{Coverage, Engine, Script};
    /// let coverage = Coverage::new();
    /// let script = Script::new("if ARGV[1] == 'a' then\n  return 1\nend\nreturn 2");
    /// for arg in ["b", "c"] {
    ///     let mut client = Engine::builder().coverage(&coverage).build().client();
    ///     assert_eq!(script.arg(arg).run::<i64>(&mut client)?, 2);
    /// }
    /// let [covered] = &coverage.scripts()[..] else { panic!("one script") };
    /// assert_eq!((covered.sha.as_str(), covered.missed()), (script.sha(), vec![2]));
    /// assert_eq!(covered.lines.iter().map(|line| (line.line, line.hits)).collect::<Vec<_>>(), [(1, 2), (2, 0), (4, 2)]);
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    #[must_use]
    pub fn coverage(mut self, coverage: &Coverage) -> Self {
        self.script_settings.coverage = Some(coverage.clone());
        self
    }
    /// What becomes of a call that has to wait, as BLPOP on an empty list. Default: the thread waits on the system's clock,
    /// and the call is refused on a manual one. [`Client::start`](super::Client::start) begins such a call in any case.
    ///
    /// ```
    /// use moonkeep::{Blocking, Engine};
    /// let engine = Engine::builder().blocking(Blocking::Advance).build();
    /// let (before_ms, mut client) = (engine.now_ms()?, engine.client());
    /// assert_eq!(client.query::<Option<(String, String)>, _>(["BLPOP", "queue", "5"])?, None);
    /// assert_eq!(engine.now_ms()? - before_ms, 5001);
    /// # Ok::<(), moonkeep::Error>(())
    /// ```
    #[must_use]
    pub fn blocking(mut self, blocking: Blocking) -> Self {
        self.blocking = blocking;
        self
    }
    /// Makes the engine.
    pub fn build(self) -> Engine {
        let databases = Db::try_from(self.config.databases).unwrap_or(Db::MAX);
        let store = Store::new(databases, self.hasher_seed, self.seed);
        let settings = self.script_settings;
        let engine = Engine::from_store(store, self.config, self.clock, settings, self.blocking);
        // Nobody else has the engine yet.
        if let Ok(mut core) = engine.shared.lock() {
            core.state.files = self.files;
            let directory = core.state.config.text("dir").into();
            core.state.config_file = self.config_file.map(|file| ConfigFile { directory, ..file });
            if let Some(cluster) = &mut core.state.cluster {
                self.nodes.into_iter().for_each(|(node, slots)| cluster.add(node, slots));
            }
        }
        engine
    }
}
