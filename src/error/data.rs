//! Error texts of the families that hold data: strings, bitmaps, lists, sets, hashes, sorted sets, places, streams.

use super::{Failure, c_str};

texts! {
    /// A bit position that is no number, negative, or beyond the longest string.
    BAD_BIT_OFFSET = "ERR bit offset is not an integer or out of range";
    /// SETBIT with neither 0 nor 1.
    BAD_BIT = "ERR bit is not an integer or out of range";
    /// BITPOS with neither 0 nor 1.
    BAD_BITPOS_BIT = "ERR The bit argument must be 1 or 0.";
    /// BITOP NOT of several strings.
    BITOP_NOT_OF_MANY = "ERR BITOP NOT must be called with a single source key.";
    /// BITFIELD with a type that is none.
    BAD_BITFIELD_TYPE = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";
    /// BITFIELD OVERFLOW with another word.
    BAD_OVERFLOW_TYPE = "ERR Invalid OVERFLOW type specified";
    /// BITFIELD_RO that would write.
    BITFIELD_READ_ONLY = "ERR BITFIELD_RO only supports the GET subcommand";
    /// HINCRBY of a field that is no integer.
    HASH_NOT_INTEGER = "ERR hash value is not an integer";
    /// HINCRBYFLOAT of a field that is no float.
    HASH_NOT_FLOAT = "ERR hash value is not a float";
    /// HINCRBYFLOAT by what is not finite.
    NAN_INCREMENT = "ERR value is NaN or Infinity";
    /// INCRBYFLOAT and HINCRBYFLOAT to what is not finite.
    NAN_RESULT = "ERR increment would produce NaN or Infinity";
    /// LCS with LEN and IDX.
    LCS_LEN_AND_IDX = "ERR If you want both the length and indexes, please just use IDX.";
    /// LCS of what is no string.
    LCS_NOT_STRINGS = "ERR The specified keys must contain string values";
    /// LCS of strings of 4 GiB.
    LCS_TOO_LONG = "ERR String too long for LCS";
    /// LCS whose table would be larger than the longest string.
    LCS_TABLE_TOO_BIG = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
    /// LCS whose table finds no memory.
    LCS_NO_MEMORY = "ERR Insufficient memory, failed allocating transient memory for LCS";
    /// LSET of an item that is not there.
    INDEX_OUT_OF_RANGE = "ERR index out of range";
    /// LMPOP and the like without keys.
    NUMKEYS_NOT_POSITIVE = "ERR numkeys should be greater than 0";
    /// LMPOP and the like that take nothing.
    COUNT_NOT_POSITIVE = "ERR count should be greater than 0";
    /// SINTERCARD and ZINTERCARD with a limit below zero.
    NEGATIVE_LIMIT = "ERR LIMIT can't be negative";
    /// SRANDMEMBER and the like with a negative count that no reply can hold.
    RANDOM_REPLY_TOO_LARGE = "ERR count is out of range, the reply would exceed 64 MiB";
    /// LPOS with a rank of zero.
    RANK_IS_ZERO = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list";
    /// LPOS with a count below zero.
    NEGATIVE_COUNT = "ERR COUNT can't be negative";
    /// LPOS with a length below zero.
    NEGATIVE_MAXLEN = "ERR MAXLEN can't be negative";
    /// XADD with the lowest ID.
    ZERO_ID = "ERR The ID specified in XADD must be greater than 0-0";
    /// XADD to a stream whose last ID is the highest.
    STREAM_EXHAUSTED = "ERR The stream has exhausted the last possible ID, unable to add more items";
    /// XADD in a millisecond whose numbers are used up: the server says so.
    ELEMENTS_TOO_LARGE = "ERR Elements are too large to be stored";
    /// XADD with an ID that does not exceed the last.
    ID_TOO_SMALL = "ERR The ID specified in XADD is equal or smaller than the target stream top item";
    /// XSETID with a count below zero.
    NEGATIVE_ENTRIES_ADDED = "ERR entries_added must be positive";
    /// XSETID with an ID below that of a deleted entry.
    XSETID_BELOW_DELETED = "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id";
    /// XSETID with an ID below that of an entry.
    XSETID_BELOW_TOP = "ERR The ID specified in XSETID is smaller than the target stream top item";
    /// XSETID with a count below the number of entries.
    XSETID_BELOW_LENGTH = "ERR The entries_added specified in XSETID is smaller than the target stream length";
    /// An ID that does not parse.
    INVALID_STREAM_ID = "ERR Invalid stream ID specified as stream command argument";
    /// A range that starts behind the highest ID.
    INVALID_START_ID = "ERR invalid start ID for the interval";
    /// A range that ends before the lowest ID.
    INVALID_END_ID = "ERR invalid end ID for the interval";
    /// A trim with a limit below zero.
    NEGATIVE_TRIM_LIMIT = "ERR The LIMIT argument must be >= 0.";
    /// Two trims at once.
    TWO_TRIMS = "ERR syntax error, MAXLEN and MINID options at the same time are not compatible";
    /// A trim to a length below zero.
    NEGATIVE_TRIM_LENGTH = "ERR The MAXLEN argument must be >= 0.";
    /// XADD with a limit but no trim.
    LIMIT_WITHOUT_TRIM = "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy";
    /// An exact trim with a limit.
    LIMIT_WITHOUT_TILDE = "ERR syntax error, LIMIT cannot be used without the special ~ option";
    /// XTRIM without MAXLEN and MINID.
    XTRIM_WITHOUT_TRIM = "ERR syntax error, XTRIM must be called with a trimming strategy";
    /// XREAD with a key too many, or an ID.
    UNBALANCED_STREAMS = "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.";
    /// XREAD with GROUP.
    GROUP_OF_XREAD = "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.";
    /// XREAD with NOACK.
    NOACK_OF_XREAD = "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.";
    /// XREADGROUP without GROUP.
    MISSING_GROUP = "ERR Missing GROUP option for XREADGROUP";
    /// XREADGROUP from `$`.
    LAST_ID_OF_GROUP = "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.";
    /// XREAD from `>`.
    NEW_ID_OF_XREAD = "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.";
    /// What a reader of a consumer group reads whose group is gone.
    GROUP_GONE = "NOGROUP the consumer group this client was blocked on no longer exists";
    /// XGROUP CREATE of a group that is there.
    BUSY_GROUP = "BUSYGROUP Consumer Group name already exists";
    /// XGROUP of a stream that is not there.
    XGROUP_WITHOUT_KEY = "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.";
    /// XGROUP with a count below -1.
    NEGATIVE_ENTRIES_READ = "ERR value for ENTRIESREAD must be positive or -1";
    /// XCLAIM of what has been idle for no integer.
    XCLAIM_MIN_IDLE = "ERR Invalid min-idle-time argument for XCLAIM";
    /// XCLAIM with an idle time that is no integer.
    XCLAIM_IDLE = "ERR Invalid IDLE option argument for XCLAIM";
    /// XCLAIM with a time that is no integer.
    XCLAIM_TIME = "ERR Invalid TIME option argument for XCLAIM";
    /// XCLAIM with a count that is no integer.
    XCLAIM_RETRYCOUNT = "ERR Invalid RETRYCOUNT option argument for XCLAIM";
    /// XAUTOCLAIM of what has been idle for no integer.
    XAUTOCLAIM_MIN_IDLE = "ERR Invalid min-idle-time argument for XAUTOCLAIM";
    /// XAUTOCLAIM of none, or of more than can be counted.
    XAUTOCLAIM_COUNT = "ERR COUNT must be > 0";
    /// XAUTOCLAIM of more than there is memory for.
    XAUTOCLAIM_NO_MEMORY = "ERR Insufficient memory, failed allocating transient memory, COUNT too high.";
    /// DECRBY by the lowest integer.
    DECREMENT_OVERFLOW = "ERR decrement would overflow";
    /// SETRANGE below zero.
    BAD_OFFSET = "ERR offset is out of range";
    /// ZRANGE by rank with LIMIT.
    LIMIT_BY_RANK = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";
    /// ZRANGE by member with WITHSCORES.
    WITHSCORES_BY_LEX = "ERR syntax error, WITHSCORES not supported in combination with BYLEX";
    /// An end of a range of scores that does not parse.
    BAD_SCORE_RANGE = "ERR min or max is not a float";
    /// An end of a range of members that does not parse.
    BAD_LEX_RANGE = "ERR min or max not valid string range item";
    /// ZUNION and the like with a weight that does not parse.
    WEIGHT_NOT_FLOAT = "ERR weight value is not a float";
    /// ZADD with both.
    XX_AND_NX = "ERR XX and NX options at the same time are not compatible";
    /// ZADD with two of these.
    GT_LT_NX = "ERR GT, LT, and/or NX options at the same time are not compatible";
    /// ZADD INCR with several members.
    INCR_OF_MANY = "ERR INCR option supports a single increment-element pair";
    /// ZADD INCR and ZINCRBY of infinities of both signs.
    NAN_SCORE = "ERR resulting score is not a number (NaN)";
    /// A GEO command with a unit that is none.
    UNSUPPORTED_UNIT = "ERR unsupported unit provided. please use M, KM, FT, MI";
    /// A search around a member that is not there.
    NO_SUCH_PLACE = "ERR could not decode requested zset member";
    /// A search with a radius that does not parse.
    RADIUS_NOT_FLOAT = "ERR need numeric radius";
    /// A search with a radius below zero.
    NEGATIVE_RADIUS = "ERR radius cannot be negative";
    /// A search in a box with a width that does not parse.
    WIDTH_NOT_FLOAT = "ERR need numeric width";
    /// A search in a box with a height that does not parse.
    HEIGHT_NOT_FLOAT = "ERR need numeric height";
    /// A search in a box with a side below zero.
    NEGATIVE_SIDE = "ERR height or width cannot be negative";
    /// A search for no place at all.
    COUNT_NOT_ABOVE_ZERO = "ERR COUNT must be > 0";
    /// A search for any places, but not for how many.
    ANY_WITHOUT_COUNT = "ERR the ANY argument requires COUNT argument";
    /// GEORADIUS and the like that both store and answer more than a number.
    GEORADIUS_STORE_WITH = "ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options";
    /// GEOSEARCHSTORE that answers more than a number.
    GEOSEARCHSTORE_WITH = "ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options";
}

/// Texts with words that came from outside.
impl Failure {
    /// ZUNION and the like of no key at all.
    pub fn no_input_key(command: &[u8]) -> Failure {
        let command = String::from_utf8_lossy(command).to_ascii_lowercase();
        Failure::Text(format!("ERR at least 1 input key is needed for '{command}' command").into())
    }
    /// Coordinates out of range.
    pub fn no_place(longitude: f64, latitude: f64) -> Failure {
        Failure::Text(format!("ERR invalid longitude,latitude pair {longitude:.6},{latitude:.6}").into())
    }
    /// GEOSEARCH that does not say where to begin; the command as it was called.
    pub fn no_search_origin(command: &[u8]) -> Self {
        Failure::with_word("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for ", command, "")
    }
    /// GEOSEARCH that does not say how far; the command as it was called.
    pub fn no_search_form(command: &[u8]) -> Self {
        Failure::with_word("ERR exactly one of BYRADIUS and BYBOX can be specified for ", command, "")
    }
    /// XREADGROUP of a key or group that is not there.
    pub fn no_group_to_read(key: &[u8], group: &[u8]) -> Self {
        let mut text = Failure::no_key_or_group(key, group).to_bytes().into_owned();
        text.extend_from_slice(b" in XREADGROUP with GROUP option");
        Failure::Bytes(text)
    }
    /// XCLAIM and the like with a key or group that is not there.
    pub fn no_key_or_group(key: &[u8], group: &[u8]) -> Self {
        let parts = [&b"NOGROUP No such key '"[..], c_str(key), b"' or consumer group '", c_str(group), b"'"];
        Failure::Bytes(parts.concat())
    }
    /// XGROUP and XINFO with a group that is not there.
    pub fn no_group(key: &[u8], group: &[u8]) -> Self {
        let parts =
            [&b"NOGROUP No such consumer group '"[..], c_str(group), b"' for key name '", c_str(key), b"'"];
        Failure::Bytes(parts.concat())
    }
    /// A word that is no option of XCLAIM.
    pub fn xclaim_option(option: &[u8]) -> Self {
        Failure::with_word("ERR Unrecognized XCLAIM option '", option, "'")
    }
    /// BLOCK in a script; the command as it was called.
    pub fn block_in_script(command: &[u8]) -> Self {
        Failure::with_word("ERR ", command, " command is not allowed with BLOCK option from scripts")
    }
}
