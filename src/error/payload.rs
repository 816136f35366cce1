//! Error texts of DUMP, RESTORE and MIGRATE, of SORT, and of HyperLogLogs.

use super::Failure;

texts! {
    /// RESTORE to a key that is there.
    BUSY_KEY = "BUSYKEY Target key name already exists.";
    /// RESTORE with a time to live below zero.
    BAD_RESTORE_TTL = "ERR Invalid TTL value, must be >= 0";
    /// RESTORE of a dump that holds no value.
    BAD_DUMP_DATA = "ERR Bad data format";
    /// RESTORE IDLETIME below zero.
    BAD_IDLETIME = "ERR Invalid IDLETIME value, must be >= 0";
    /// RESTORE FREQ that is no byte.
    BAD_FREQ = "ERR Invalid FREQ value, must be >= 0 and <= 255";
    /// MIGRATE with a key and KEYS.
    MIGRATE_KEY_AND_KEYS = "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string";
    /// MIGRATE, which would need a network.
    NO_NETWORK = "ERR MIGRATE is not supported by moonkeep: an engine has no network. Use DUMP and RESTORE.";
    /// The same on a server: as if nobody listened there.
    TARGET_UNREACHABLE = "IOERR error or timeout writing to target instance";
    /// SORT by what is no number.
    SORT_NOT_NUMBERS = "ERR One or more scores can't be converted into double";
    /// A HyperLogLog command on another string.
    NOT_A_HLL = "WRONGTYPE Key is not a valid HyperLogLog string value.";
    /// A HyperLogLog whose registers do not add up.
    HLL_CORRUPTED = "INVALIDOBJ Corrupted HLL object detected";
    /// PFDEBUG of a key that is not there.
    HLL_NO_KEY = "ERR The specified key does not exist";
    /// PFDEBUG DECODE of a dense one.
    HLL_NOT_SPARSE = "ERR HLL encoding is not sparse";
    /// PFSELFTEST found that few elements do not fit into the short form.
    HLL_SPARSE_UNUSED = "ERR TESTFAILED sparse encoding not used";
    /// PFSELFTEST found that the two forms differ.
    HLL_DISAGREE = "ERR TESTFAILED dense/sparse disagree";
    /// PFSELFTEST found a count that is far off.
    HLL_TOO_BIG_ERROR = "ERR TESTFAILED Too big error.";
}

impl Failure {
    /// PFDEBUG with a subcommand that is none.
    pub fn unknown_pfdebug(subcommand: &[u8]) -> Self {
        Failure::with_word("ERR Unknown PFDEBUG subcommand '", subcommand, "'")
    }
}
