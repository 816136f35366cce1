//! `moonkeep serve`: the engine for Redis clients of any language, over TCP and unix sockets, until a signal ends it.

use crate::parameters;
use crate::setting::{Setting, number, setting_help, text};
use crate::{Refusal, Word, next_word, print};
use moonkeep::server::{Disk, InMemory, Interface, Listen, Server};
use moonkeep::{Blocking, Clock, Engine, Files, Limits};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) const HELP: &str = concat!(
    "\
Serve Redis clients of any language (redis-cli, redis-py, ioredis …) from a keyspace in this process.

Usage: moonkeep serve [OPTIONS] [CONFIGFILE]

Where it listens (default: --port 6379):
  --port N            TCP port; 0 lets the system choose one, or stands for none where there is a unix socket
  --bind ADDRESS …    the addresses it listens at (default 127.0.0.1: this machine only), one with a dash before it only if
                      the machine has it; whoever reaches the port may do everything, unless there is a password
  --requirepass WORD  the password that clients have to give (AUTH); ACL SETUSER has more of this kind
  --unix PATH         a unix socket
  --dir DIRECTORY     where the keyspace is kept in a file: loaded from there at the start, written there by SAVE and BGSAVE,
                      and when it ends if the parameter save says so. Default: in memory only; SAVE and BGSAVE work, and nothing of it
                      is left at the end
  --dbfilename NAME   the name of that file (default dump.rdb)
  --NAME VALUE …      a parameter as redis-server takes it, as --save 900 1 --maxmemory 100mb; --config NAME=VALUE is the
                      same in one word. For each user: --user alice on \">secret\" ~orders:* +@read; aclfile names a file of
                      users in DIRECTORY
  CONFIGFILE          such parameters, one a line, as in redis.conf; options that come after it win. CONFIG REWRITE rewrites it.
                      A dash stands for standard input
  --max-clients N     how many clients are served at a time (default 10000)

Which time it is:
  --clock system      that of this machine (default)
  --clock manual      the time stands still until a client moves it: DEBUG ADVANCE 1500 (milliseconds)

What sets the keyspace up is done in the order given, before anybody is served:
",
    setting_help!(),
    "
How much scripts may do:
  --script-work N     units of work, about an instruction each; a script that needs more ends with an error. Default: no
                      end, as on a server: others are answered BUSY after a while (busy-reply-threshold), and may kill it
  --version 7.0       whose commands and replies: those of Redis 7.0 are the ones there are
  -h, --help          this text

SIGINT (Ctrl-C) and SIGTERM end it, as SHUTDOWN does; the keyspace is gone then unless it is kept in a file. The first line of standard output says where it listens.

Examples:
  moonkeep serve --port 6380 &
  redis-cli -p 6380 SET greeting hello
  moonkeep serve --unix /tmp/moonkeep.sock --clock manual --setup fixture.redis
"
);

/// The port of a Redis server.
const PORT: u16 = 6379;
/// The most work that a script may do unless told otherwise: none is too much, but it is counted.
const SCRIPT_WORK: u64 = u64::MAX - 1;

#[derive(Default)]
struct Options {
    listen: Listen,
    setting: Setting,
    manual: bool,
    password: Option<String>,
    /// Parameters of the server.
    parameters: Vec<(String, String)>,
    /// Users, as the lines of a configuration file that begin with `user`.
    users: Vec<String>,
    /// There is a place for files.
    keeps_files: bool,
    /// The file that CONFIG REWRITE rewrites.
    file: Option<PathBuf>,
    script_work: Option<u64>,
}

pub(crate) fn run(parser: &mut lexopt::Parser) -> Result<ExitCode, Refusal> {
    let mut options = Options::default();
    while let Some(word) = next_word(parser)? {
        match word {
            Word::Option(option) if option == "--help" || option == "-h" => {
                print(HELP.as_bytes())?;
                return Ok(ExitCode::SUCCESS);
            }
            Word::Option(option) => options.take(&option, parser)?,
            Word::Value(path) => {
                for (name, value) in parameters::of_file(Path::new(&path))? {
                    options.parameter(&name, value)?;
                }
                let is_file = path != parameters::STDIN;
                options.file = is_file.then(|| std::path::absolute(&path)).transpose()?;
            }
        }
    }
    options.serve()?;
    Ok(ExitCode::SUCCESS)
}

impl Options {
    fn take(&mut self, option: &str, parser: &mut lexopt::Parser) -> Result<(), Refusal> {
        match option {
            "--port" => self.listen.port = Some(number(parser, "--port takes a number up to 65535")?),
            "--bind" => {
                let words = parser.values()?.map(|word| word.to_string_lossy().into_owned());
                self.parameter("bind", words.collect::<Vec<_>>().join(" "))?;
            }
            "--unix" => self.listen.unix = Some(parser.value()?.into()),
            "--max-clients" => {
                self.listen.clients_max = Some(number(parser, "--max-clients takes a number")?)
            }
            "--version" => match text(parser)?.as_str() {
                "7" | "7.0" | "7.0.15" => {}
                other => {
                    return Err(Refusal(format!(
                        "--version takes 7.0, not {other:?}: no other one is there"
                    )));
                }
            },
            "--config" => {
                let word = text(parser)?;
                let (name, value) = word
                    .split_once('=')
                    .ok_or_else(|| Refusal(format!("--config takes NAME=VALUE, not {word:?}")))?;
                self.parameter(name, value.to_owned())?;
            }
            "--script-work" => self.script_work = Some(number(parser, "--script-work takes a number")?),
            "--clock" => {
                self.manual = match text(parser)?.as_str() {
                    "system" => false,
                    "manual" => true,
                    other => {
                        return Err(Refusal(format!("--clock takes system or manual, not {other:?}")));
                    }
                }
            }
            _ if self.setting.take(option, parser)? => {}
            _ if parameters::exists(option.trim_start_matches('-')) => {
                let words: Vec<_> =
                    parser.values()?.map(|word| word.to_string_lossy().into_owned()).collect();
                self.parameter(option.trim_start_matches('-'), words.join(" "))?;
            }
            _ => return Err(Refusal(format!("invalid option '{option}'; see `moonkeep serve --help`"))),
        }
        Ok(())
    }
    /// A parameter of the server. Where it listens and who may do what is not only noted.
    fn parameter(&mut self, name: &str, value: String) -> Result<(), Refusal> {
        let not = |what: &str| Refusal(format!("{name} takes {what}, not {value:?}"));
        match name {
            "port" => {
                let port: u16 = value.parse().map_err(|_| not("a number up to 65535"))?;
                // On a server 0 stands for none.
                self.listen.port = Some(port).filter(|port| *port > 0);
            }
            "bind" => {
                let interfaces = value.split_ascii_whitespace().map(interface).collect();
                self.listen.interfaces =
                    Option::ok_or_else(interfaces, || not("IP addresses, as 127.0.0.1 -::1"))?;
                self.parameters.push((name.to_owned(), value));
            }
            "unixsocket" => self.listen.unix = Some(value.into()),
            // These hold once all else is set up.
            "requirepass" => self.password = Some(value),
            "user" => self.users.push(value),
            _ => {
                self.keeps_files |= matches!(name, "aclfile" | "dir" | "dbfilename");
                self.parameters.push((name.to_owned(), value));
            }
        }
        Ok(())
    }
    fn serve(mut self) -> Result<(), Refusal> {
        if !self.manual && self.setting.is_timed() {
            return Err(Refusal("--now and --advance need --clock manual".into()));
        }
        if self.listen.port.is_none() && self.listen.unix.is_none() {
            self.listen.port = Some(PORT);
        }
        // As a server takes it; without any other place to listen at it asks for whichever is free.
        if self.listen.unix.is_some() {
            self.listen.port = self.listen.port.filter(|port| *port > 0);
        }
        let engine = self.engine()?;
        self.setting.prepare(&engine, &mut engine.client())?;
        self.admit(&engine)?;
        let server = Server::bind(&engine, &self.listen)
            .map_err(|error| Refusal(format!("cannot listen at {}: {error}", self.place(&self.asked()))))?;
        let handle = server.handle();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        std::thread::spawn(move || {
            // The first signal asks; the second one does not.
            signals.forever().next();
            handle.stop();
            signals.forever().next();
            std::process::exit(1);
        });
        print(format!("moonkeep serves at {}\n", self.place(server.tcp_addresses())).as_bytes())?;
        server.run().map_err(|error| Refusal(format!("stopped: {error}")))?;
        engine.save_at_end()?;
        Ok(())
    }
    fn engine(&self) -> Result<Engine, Refusal> {
        let clock = if self.manual { self.setting.clock() } else { Clock::system() };
        // As on a server no time ends a script.
        let work = self.script_work.unwrap_or(SCRIPT_WORK);
        let limits = Limits { work, time_ms: u64::MAX, ..Limits::default() };
        let mut builder = Engine::builder().clock(clock).seed(self.setting.seed).script_limits(limits);
        builder = builder.blocking(Blocking::Refuse);
        // Unless another one is given.
        builder = builder.setting("bind", &Ipv4Addr::LOCALHOST.to_string())?;
        if let Some(port) = self.listen.port {
            builder = builder.setting("port", &port.to_string())?;
        }
        if let Some(path) = &self.listen.unix {
            builder = builder.setting("unixsocket", &path.to_string_lossy())?;
        }
        let here = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
        builder = builder.setting("dir", &here)?;
        for (name, value) in &self.parameters {
            if name == "dir" {
                let path = Disk.directory(&here, value);
                let path =
                    path.map_err(|why| Refusal(format!("cannot use the directory {value:?}: {why}")))?;
                builder = builder.setting(name, &path)?;
            } else {
                builder = builder.setting(name, value)?;
            }
        }
        if let Some(file) = &self.file {
            builder = builder.config_file(&file.to_string_lossy(), Arc::new(Disk));
        }
        if !self.keeps_files {
            return Ok(builder.files(Arc::new(InMemory::default())).build());
        }
        let engine = builder.files(Arc::new(Disk)).build();
        self.load(&engine)?;
        Ok(engine)
    }
    /// Who may do what: the password, the users given here or those of a file.
    fn admit(&self, engine: &Engine) -> Result<(), Refusal> {
        let mut client = engine.client();
        if let Some(password) = &self.password {
            client.call(["CONFIG", "SET", "requirepass", password])?;
        }
        let has_file = !engine.setting("aclfile")?.is_empty();
        if has_file && !self.users.is_empty() {
            return Err(Refusal(
                "users stand in the aclfile or are given by --config user=…, not both".into(),
            ));
        }
        if has_file {
            client.call(["ACL", "LOAD"])?;
        }
        let mut users: Vec<Vec<&str>> =
            self.users.iter().map(|line| line.split_ascii_whitespace().collect()).collect();
        // The default user comes last, for it may then do no more than its line says.
        users.sort_by_key(|words| (words.first() == Some(&"default"), words.first().copied()));
        if users.windows(2).any(|pair| pair[0].first() == pair[1].first()) {
            return Err(Refusal("--config user=… names a user twice".into()));
        }
        for words in users {
            let begin = if words.first() == Some(&"default") { &["reset"][..] } else { &[] };
            let (name, rules) = words.split_at(1.min(words.len()));
            client.call([&["ACL", "SETUSER"], name, begin, rules].concat())?;
        }
        Ok(())
    }
    /// Loads what was kept, if anything was.
    fn load(&self, engine: &Engine) -> Result<(), Refusal> {
        let path = Path::new(&engine.setting("dir")?).join(engine.setting("dbfilename")?);
        match std::fs::read(&path) {
            Ok(file) => {
                engine.load_rdb(&file).map_err(|error| Refusal(format!("{}: {error}", path.display())))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Refusal(format!("{}: {error}", path.display()))),
        }
    }
    /// Where it is to listen for TCP.
    fn asked(&self) -> Vec<SocketAddr> {
        let port = self.listen.port;
        let address = |it: &Interface| port.map(|port| SocketAddr::new(it.address, port));
        self.listen.interfaces.iter().filter_map(address).collect()
    }
    /// Where it listens, as people write it.
    fn place(&self, addresses: &[SocketAddr]) -> String {
        let unix = self.listen.unix.as_ref().map(|path| path.display().to_string());
        addresses.iter().map(SocketAddr::to_string).chain(unix).collect::<Vec<_>>().join(" and ")
    }
}

/// An interface as a server's parameter `bind` has it: with a dash before it, it may be missing.
fn interface(word: &str) -> Option<Interface> {
    let (may_miss, word) = word.strip_prefix('-').map_or((false, word), |word| (true, word));
    let address = match word {
        "*" => Ok(Ipv4Addr::UNSPECIFIED.into()),
        "::*" => Ok(Ipv6Addr::UNSPECIFIED.into()),
        _ => word.parse(),
    };
    Some(Interface { address: address.ok()?, may_miss })
}
