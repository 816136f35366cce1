//! Error texts of DUMP, RESTORE and MIGRATE.

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
}
