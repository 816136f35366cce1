//! Libraries of functions: their sources, and what each function declares. Compiled functions are the VM's own affair;
//! what the commands of the FUNCTION family answer is in `commands::functions`.

use crate::error::Failure;
use crate::util::hasher::Map;
use crate::value::digest::Digest;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a function declares of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FunctionFlags(u8);

impl FunctionFlags {
    /// The flags in the order in which FUNCTION LIST shows them.
    const NAMES: [&'static str; 5] =
        ["no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"];

    /// Sets the flag of this name, in any case; false when there is none.
    pub fn set(&mut self, name: &[u8]) -> bool {
        let flag = Self::NAMES.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(name));
        flag.map(|flag| self.0 |= 1 << flag).is_some()
    }
    /// The names of the flags that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        Self::NAMES
            .into_iter()
            .enumerate()
            .filter(move |(flag, _)| self.0 >> flag & 1 == 1)
            .map(|(_, name)| name)
    }
    /// Whether the function promises not to write.
    pub fn no_writes(self) -> bool {
        self.0 & 1 == 1
    }
    /// Whether the function may run on a replica whose link is down.
    pub fn allow_stale(self) -> bool {
        self.0 >> 2 & 1 == 1
    }
    /// Whether the function does not fit a node of a cluster.
    pub fn no_cluster(self) -> bool {
        self.0 >> 3 & 1 == 1
    }
    /// Whether the function may use keys of several slots.
    pub fn allow_cross_slot_keys(self) -> bool {
        self.0 >> 4 & 1 == 1
    }
    /// Whether the function may run when memory is short.
    pub fn allow_oom(self) -> bool {
        self.0 >> 1 & 1 == 1
    }
}

/// What a library registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name, in the case in which it was registered.
    pub name: Vec<u8>,
    /// What it says it does.
    pub description: Option<Vec<u8>>,
    /// What it declares.
    pub flags: FunctionFlags,
}

/// A library.
#[derive(Debug)]
pub struct Library {
    /// Never given to another library in this process: a VM finds its compiled functions by it.
    pub id: u64,
    /// Its name.
    pub name: Vec<u8>,
    /// What was given to FUNCTION LOAD.
    pub code: Vec<u8>,
    /// Its functions, in the order in which they were registered.
    pub functions: Vec<Function>,
}

impl Library {
    /// A library of its own identity.
    pub fn new(name: Vec<u8>, code: Vec<u8>, functions: Vec<Function>) -> Self {
        Library { id: unique(), name, code, functions }
    }
}

fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// All libraries. A copy shares them until one side changes.
#[derive(Debug, Clone, Default)]
pub struct Libraries {
    registry: Arc<Registry>,
}

#[derive(Debug, Clone, Default)]
struct Registry {
    libraries: BTreeMap<Vec<u8>, Arc<Library>>,
    /// By names in lower case: functions are called in any.
    functions: Map<Vec<u8>, Place>,
    /// Another one after each change.
    generation: u64,
}

/// Where a function is.
#[derive(Debug, Clone)]
struct Place {
    library: Arc<Library>,
    index: usize,
}

/// Names up to this length are looked up without memory of their own.
const SHORT_NAME: usize = 64;

impl Libraries {
    /// The libraries in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Library>> {
        self.registry.libraries.values()
    }
    /// A library by its name.
    pub fn get(&self, name: &[u8]) -> Option<&Arc<Library>> {
        self.registry.libraries.get(name)
    }
    /// A function by its name in any case: its library, and its number there.
    #[inline]
    pub fn function(&self, name: &[u8]) -> Option<(&Arc<Library>, usize)> {
        let mut short = [0; SHORT_NAME];
        let place = match short.get_mut(..name.len()) {
            Some(lower) => {
                lower.copy_from_slice(name);
                lower.make_ascii_lowercase();
                self.registry.functions.get(&*lower)
            }
            None => self.registry.functions.get(&name.to_ascii_lowercase()),
        };
        place.map(|place| (&place.library, place.index))
    }
    /// What their sources take, with their names.
    pub fn memory_bytes(&self) -> usize {
        self.iter().map(|library| library.code.len() + library.name.len()).sum()
    }
    /// How many libraries there are.
    pub fn len(&self) -> usize {
        self.registry.libraries.len()
    }
    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.registry.libraries.is_empty()
    }
    /// How many functions all libraries registered.
    pub fn functions_len(&self) -> usize {
        self.iter().map(|library| library.functions.len()).sum()
    }
    /// Another number after each change, in all the process: a VM knows by it that some functions may be gone.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.registry.generation
    }
    /// Adds a library, in the place of the one of this name.
    ///
    /// # Errors
    /// When another library has a function of one of its names.
    pub fn insert(&mut self, library: Library) -> Result<(), Failure> {
        let taken = |function: &&Function| {
            self.function(&function.name).is_some_and(|(other, _)| other.name != library.name)
        };
        if let Some(function) = library.functions.iter().find(taken) {
            return Err(Failure::function_exists(&function.name));
        }
        self.remove(&library.name);
        self.change().link(Arc::new(library));
        Ok(())
    }
    /// Removes a library; false when there is none of this name.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        self.get(name).is_some() && self.change().unlink(name)
    }
    /// Removes all libraries.
    pub fn clear(&mut self) {
        *self = Libraries::default();
        self.change();
    }
    /// Takes over all libraries of another collection; when that fails nothing changes.
    ///
    /// # Errors
    /// When a name is taken: that of a library unless it is to be `replace`d, that of a function.
    pub fn join(&mut self, other: &Libraries, replace: bool) -> Result<(), Failure> {
        let mut joined = self.clone();
        let registry = joined.change();
        for library in other.iter() {
            if registry.unlink(&library.name) && !replace {
                return Err(Failure::restored_library_exists(&library.name));
            }
        }
        for library in other.iter() {
            let taken = |function: &&Function| joined.function(&function.name).is_some();
            if let Some(function) = library.functions.iter().find(taken) {
                return Err(Failure::function_exists(&function.name));
            }
        }
        for library in other.iter() {
            joined.change().link(library.clone());
        }
        *self = joined;
        Ok(())
    }
    /// A number that tells what the libraries are; 0 when there are none.
    pub(crate) fn digest(&self) -> u64 {
        let one = |library: &Arc<Library>| {
            let mut digest = Digest::new(0x6c69_6272_6172_6965);
            digest.bytes(&library.code);
            digest.finish()
        };
        self.iter().map(one).fold(0, u64::wrapping_add)
    }
    /// Whether both are the same libraries.
    pub(crate) fn same(&self, other: &Libraries) -> bool {
        self.iter().map(|library| &library.code).eq(other.iter().map(|library| &library.code))
    }
    fn change(&mut self) -> &mut Registry {
        let registry = Arc::make_mut(&mut self.registry);
        registry.generation = unique();
        registry
    }
}

impl Registry {
    /// Of functions whose names differ by case only, the first one is called.
    fn link(&mut self, library: Arc<Library>) {
        for (index, function) in library.functions.iter().enumerate() {
            let place = || Place { library: library.clone(), index };
            self.functions.entry(function.name.to_ascii_lowercase()).or_insert_with(place);
        }
        self.libraries.insert(library.name.clone(), library);
    }
    fn unlink(&mut self, name: &[u8]) -> bool {
        let Some(library) = self.libraries.remove(name) else { return false };
        self.functions.retain(|_, place| place.library.id != library.id);
        true
    }
}
