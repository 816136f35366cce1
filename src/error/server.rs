//! Error texts of the transaction, connection, client, configuration and server families.

use super::{Failure, c_str};

texts! {
    /// DEBUG ADVANCE on the system's clock.
    CLOCK_RUNS = "ERR the system clock cannot be moved; DEBUG ADVANCE needs a manual one";
    /// DEBUG FAULT with other words.
    FAULT_USAGE = "ERR DEBUG FAULT takes REQUESTS|REPLIES [COUNT n] [ONLY command [command ...]], or HEAL; n is at least 1";
    /// MULTI in an open transaction.
    NESTED_MULTI = "ERR MULTI calls can not be nested";
    /// EXEC without an open transaction.
    EXEC_WITHOUT_MULTI = "ERR EXEC without MULTI";
    /// DISCARD without an open transaction.
    DISCARD_WITHOUT_MULTI = "ERR DISCARD without MULTI";
    /// WATCH in an open transaction.
    WATCH_IN_MULTI = "ERR WATCH inside MULTI is not allowed";
    /// A command that may not be queued.
    NOT_IN_MULTI = "ERR Command not allowed inside a transaction";
    /// SLOWLOG GET with what is no number of entries.
    BAD_SLOWLOG_COUNT = "ERR count should be greater than or equal to -1";
    /// CLIENT LIST ID with what is no number.
    BAD_CLIENT_ID = "ERR Invalid client ID";
    /// CLIENT KILL ID with what names nobody.
    BAD_KILL_ID = "ERR client-id should be greater than 0";
    /// CLIENT KILL with an address that nobody has.
    NO_SUCH_CLIENT = "ERR No such client";
    /// What a client reads that CLIENT UNBLOCK has unblocked with ERROR.
    UNBLOCKED = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
    /// What a reader of a consumer group reads whose stream is gone.
    STREAM_GONE = "UNBLOCKED the stream key no longer exists";
    /// A timeout in seconds that is no float.
    TIMEOUT_NOT_FLOAT = "ERR timeout is not a float or out of range";
    /// A timeout in milliseconds that is no integer.
    TIMEOUT_NOT_INTEGER = "ERR timeout is not an integer or out of range";
    /// A timeout below zero.
    TIMEOUT_NEGATIVE = "ERR timeout is negative";
    /// CLIENT UNBLOCK with another reason.
    BAD_UNBLOCK_REASON = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR";
    /// CLIENT TRACKING with REDIRECT given twice.
    TRACKING_REDIRECTED_TWICE = "ERR A client can only redirect to a single other client";
    /// CLIENT TRACKING with REDIRECT to nobody.
    TRACKING_NO_SUCH_CLIENT = "ERR The client ID you want redirect to does not exist";
    /// CLIENT TRACKING with PREFIX only.
    TRACKING_PREFIX_WITHOUT_BCAST = "ERR PREFIX option requires BCAST mode to be enabled";
    /// CLIENT TRACKING with or without BCAST, as it was not before.
    TRACKING_SWITCHES_BCAST = "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.";
    /// CLIENT TRACKING with BCAST and one of OPTIN and OPTOUT.
    TRACKING_OPT_WITH_BCAST = "ERR OPTIN and OPTOUT are not compatible with BCAST";
    /// CLIENT TRACKING with OPTIN and OPTOUT.
    TRACKING_BOTH_OPTS = "ERR You can't specify both OPTIN mode and OPTOUT mode";
    /// CLIENT TRACKING with OPTIN instead of OPTOUT, or the other way round.
    TRACKING_SWITCHES_OPT = "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.";
    /// CLIENT CACHING YES without OPTIN.
    CACHING_NEEDS_OPTIN = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.";
    /// CLIENT CACHING NO without OPTOUT.
    CACHING_NEEDS_OPTOUT = "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.";
    /// CLIENT CACHING by a client that does not track.
    NOT_TRACKING = "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled";
    /// CLIENT PAUSE with another mode.
    BAD_PAUSE_MODE = "ERR CLIENT PAUSE mode must be WRITE or ALL";
    /// MONITOR where one reply is expected.
    NO_MONITOR = "ERR MONITOR isn't allowed for DENY BLOCKING client";
    /// RESET by a replica.
    NO_RESET = "ERR can only reset normal client connections";
    /// SSUBSCRIBE where one reply is expected.
    NO_SSUBSCRIBE = "ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client";
    /// A client name that would break CLIENT LIST.
    BAD_CLIENT_NAME = "ERR Client names cannot contain spaces, newlines or special characters.";
    /// AUTH with a password where none is set.
    NO_PASSWORD = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?";
    /// No such user, or not this password.
    WRONG_PASSWORD = "WRONGPASS invalid username-password pair or user is disabled.";
    /// HELLO with a version that is neither 2 nor 3.
    NO_PROTOCOL = "NOPROTO unsupported protocol version";
    /// HELLO with what is no number.
    BAD_PROTOCOL = "ERR Protocol version is not an integer or out of range";
    /// CONFIG REWRITE: there is no file.
    NO_CONFIG_FILE = "ERR The server is running without a config file";
    /// PSYNC FAILOVER, which goes to replicas.
    PSYNC_TO_MASTER = "ERR PSYNC FAILOVER can't be sent to a master.";
    /// REPLCONF rdb-filter-only with unbalanced quotes.
    NO_IMAGE_FILTER = "ERR Missing rdb-filter-only values";
    /// REPLICAOF by a session that follows.
    NOT_FOR_REPLICAS = "ERR Command is not valid when client is a replica.";
    /// REPLICAOF with what is no port.
    BAD_MASTER_PORT = "ERR Invalid master port";
    /// A write on a replica.
    READ_ONLY_REPLICA = "READONLY You can't write against a read only replica.";
    /// A command on a replica that does not show what may be out of date.
    MASTER_IS_DOWN = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
    /// SYNC of a replica that has nothing to show.
    NO_MASTER_LINK = "NOMASTERLINK Can't SYNC while not connected with my master";
    /// WAIT on a replica.
    WAIT_ON_REPLICA = "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.";
    /// FAILOVER on a replica.
    NO_FAILOVER_OF_REPLICA = "ERR FAILOVER is not valid when server is a replica.";
    /// What a waiting client reads when the engine becomes a replica.
    ROLE_CHANGED = "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";
    /// FAILOVER ABORT.
    NO_FAILOVER = "ERR No failover in progress.";
    /// FAILOVER TIMEOUT of nothing.
    BAD_FAILOVER_TIMEOUT = "ERR FAILOVER timeout must be greater than 0";
    /// FAILOVER without replicas.
    FAILOVER_NEEDS_REPLICAS = "ERR FAILOVER requires connected replicas.";
    /// FAILOVER FORCE without the others.
    FAILOVER_FORCE_NEEDS_MORE = "ERR FAILOVER with force option requires both a timeout and target HOST and IP.";
    /// FAILOVER TO who does not follow.
    NO_FAILOVER_TARGET = "ERR FAILOVER target HOST and PORT is not a replica.";
    /// FAILOVER that could begin.
    CANNOT_FAIL_OVER = "ERR FAILOVER is not supported by moonkeep: an engine stays its own master";
    /// A write while too few replicas follow.
    NO_REPLICAS = "NOREPLICAS Not enough good replicas to write.";
    /// A session that follows asks for a key.
    REPLICA_TOUCHES_KEYS = "ERR Replica can't interact with the keyspace";
    /// SAVE by an engine that has no place for files.
    NO_FILES = "ERR this engine has no place for files: Builder::files gives it one, as moonkeep serve does; Engine::save_rdb gives the bytes";
    /// SAVE that failed, in the server's one word.
    SAVE_FAILED = "ERR";
    /// SHUTDOWN ABORT.
    NO_SHUTDOWN = "ERR No shutdown in progress.";
    /// SHUTDOWN in a script.
    SHUTDOWN_WOULD_BLOCK = "ERR SHUTDOWN without NOW or ABORT isn't allowed for DENY BLOCKING client";
    /// SHUTDOWN whose image could not be written.
    SHUTDOWN_FAILED = "ERR Errors trying to SHUTDOWN. Check logs.";
    /// SHUTDOWN of an engine in process.
    NOT_SERVED = "ERR SHUTDOWN is not supported by an engine that no front serves: drop it";
    /// MODULE LOAD.
    CANNOT_LOAD_MODULE = "ERR Error loading the extension. Please check the server logs.";
    /// MODULE UNLOAD.
    NO_SUCH_MODULE = "ERR Error unloading module: no such module with that name";
    /// DEBUG SDSLEN of what is no string, or a number.
    NOT_AN_SDS = "ERR Not an sds encoded string.";
    /// DEBUG LISTPACK of another form.
    NOT_A_LISTPACK = "ERR Not a listpack encoded object.";
    /// DEBUG QUICKLIST of another form.
    NOT_A_QUICKLIST = "ERR Not a quicklist encoded object.";
    /// DEBUG HTSTATS-KEY of another form.
    NO_HASH_TABLE = "ERR The value stored at the specified key is not represented using an hash table";
    /// DEBUG HTSTATS with a database that does not exist.
    DB_OUT_OF_RANGE_HERE = "ERR Out of range database";
    /// DEBUG MALLCTL of a setting that no allocator has.
    NO_SUCH_FILE = "ERR No such file or directory";
    /// DEBUG CLIENT-EVICTION while clients are not evicted.
    NO_CLIENT_EVICTION = "ERR maxmemory-clients is disabled.";
    /// DEBUG CLUSTERLINK where there is no cluster.
    NO_CLUSTER_LINK = "ERR Debug option only available for cluster mode enabled setup!";
    /// DEBUG PROTOCOL push in RESP2.
    NEEDS_RESP3 = "ERR RESP2 is not supported by this command";
    /// DEBUG PROTOCOL of a type that is none.
    NO_PROTOCOL_TYPE = "ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false";
    /// DEBUG QUICKLIST-PACKED-THRESHOLD with what is no size.
    BAD_PACKED_THRESHOLD = "ERR argument must be a memory value bigger than 1 and smaller than 4gb";
    /// DEBUG RELOAD with another option.
    BAD_RELOAD_OPTION = "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.";
    /// DEBUG RELOAD without an image, or with one that does not load.
    CANNOT_RELOAD = "ERR Error trying to load the RDB dump";
    /// SWAPDB with what is no number.
    BAD_FIRST_DB = "ERR invalid first DB index";
    /// SWAPDB with what is no number.
    BAD_SECOND_DB = "ERR invalid second DB index";
}

impl Failure {
    /// EXEC that was refused itself: the arity is the one thing that can be wrong.
    pub fn exec_arity() -> Self {
        Failure::text(
            "EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command",
        )
    }
    /// Another command than those about subscriptions by a client that has some and speaks RESP2.
    pub fn while_listening(name: &str) -> Self {
        let code = if name == "exec" { "EXECABORT Transaction discarded because of:" } else { "ERR" };
        Failure::Text(
            format!(
                "{code} Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"
            )
            .into(),
        )
    }
    /// EXEC that was refused for what its commands need.
    pub fn exec_aborted(why: &Failure) -> Self {
        Failure::Text(format!("EXECABORT Transaction discarded because of: {why}").into())
    }
    /// HELLO with a word that is no option or lacks its argument.
    pub fn hello_option(option: &[u8]) -> Self {
        Failure::with_word("ERR Syntax error in HELLO option '", option, "'")
    }
    /// A type of clients that is none.
    pub fn unknown_client_type(name: &[u8]) -> Self {
        Failure::with_word("ERR Unknown client type '", name, "'")
    }
    /// CLIENT TRACKING with a prefix that begins another one, or begins with it.
    pub fn prefix_overlaps(prefix: &[u8], what: &str, other: &[u8]) -> Self {
        let before = [b"ERR Prefix '", c_str(prefix), b"' overlaps with ", what.as_bytes(), b" '"].concat();
        let after = b"'. Prefixes for a single client must not overlap.";
        Failure::Bytes([&before, c_str(other), after].concat())
    }
    /// CLIENT KILL USER with a user that does not exist.
    pub fn no_such_user(name: &[u8]) -> Self {
        Failure::with_word("ERR No such user '", name, "'")
    }
    /// CONFIG SET of a setting that does not exist.
    pub fn unknown_setting(name: &[u8]) -> Self {
        Failure::with_word("ERR Unknown option or number of arguments for CONFIG SET - '", name, "'")
    }
    /// CONFIG SET with a value that is not taken.
    pub fn config_set(name: &[u8], why: &str) -> Self {
        let after = format!("') - {why}");
        Failure::with_word("ERR CONFIG SET failed (possibly related to argument '", name, &after)
    }
    /// A configuration file that could not be rewritten.
    pub fn config_not_rewritten(what: &str, why: &str) -> Self {
        Failure::Text(format!("ERR {what}: {why}").into())
    }
    /// REPLCONF ip-address without an end.
    pub fn replica_address_too_long(bytes: usize) -> Self {
        Failure::Text(
            format!("ERR REPLCONF ip-address provided by replica instance is too long: {bytes} bytes").into(),
        )
    }
    /// REPLCONF rdb-filter-only with another word.
    pub fn unsupported_image_filter(filter: &[u8]) -> Self {
        Failure::with_word("ERR Unsupported rdb-filter-only option: ", filter, "")
    }
    /// REPLCONF with another option.
    pub fn unrecognized_replconf(option: &[u8]) -> Self {
        Failure::with_word("ERR Unrecognized REPLCONF option: ", option, "")
    }
    /// DEBUG of what ends a server.
    pub fn ends_the_process(subcommand: &[u8]) -> Self {
        let after = " is not supported by moonkeep: it would end the program around the engine";
        Failure::with_word("ERR DEBUG ", &subcommand.to_ascii_uppercase(), after)
    }
    /// DEBUG or MODULE where the configuration does not allow it.
    pub fn not_enabled(command: &str) -> Self {
        let name = command.to_ascii_uppercase();
        Failure::Text(
            format!(
                "ERR {name} command not allowed. If the enable-{command}-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server."
            )
            .into(),
        )
    }
    /// LATENCY GRAPH of what has not happened.
    pub fn no_latency_samples(event: &[u8]) -> Self {
        Failure::with_word("ERR No samples available for event '", event, "'")
    }
    /// A subcommand with a wrong number of arguments, where the command looks itself.
    pub fn wrong_subcommand(container: &str, subcommand: &[u8]) -> Self {
        let after = format!("'. Try {container} HELP.");
        Failure::with_word("ERR unknown subcommand or wrong number of arguments for '", subcommand, &after)
    }
}
