/* Any bytes as a program of calls: every function, in any order, with what is there, with NULL, with what was freed. Nothing may
   crash, leak or be undefined (this runs under AddressSanitizer and valgrind), and all that can be read is read.
   Usage: random lua/ [inputs] [seed]. With -DFUZZ it is a target for libFuzzer: tests/c/fuzz. */
#include "check.h"

enum { SLOTS = 3, WORDS_MAX = 20 };

/* All there is, and the bytes that say what happens next. */
struct world {
    const uint8_t *input;
    size_t left;
    mk_options *options[SLOTS];
    mk_engine *engines[SLOTS];
    mk_client *clients[SLOTS];
    mk_script *scripts[SLOTS];
    mk_snapshot *snapshots[SLOTS];
    mk_journal *journals[SLOTS];
    mk_reply *replies[SLOTS];
    size_t read; /* so that no reading is left out */
};

static uint8_t next(struct world *world) {
    if (world->left == 0) {
        return 0;
    }
    world->left--;
    return *world->input++;
}

static size_t slot(struct world *world) {
    return next(world) % SLOTS;
}

/* A number with all its edges. */
static int64_t number(struct world *world) {
    static const int64_t edges[] = {0, 1, -1, 5000, INT64_MAX, INT64_MIN, INT32_MAX, 86400000};
    uint8_t byte = next(world);
    return byte < 128 ? edges[byte % 8] : byte - 192;
}

static void read_reply(struct world *world, const mk_reply *reply, int depth) {
    const char *text = mk_reply_str(reply);
    size_t length = mk_reply_len(reply);
    CHECK(text == NULL ? length == 0 : text[length] == '\0');
    for (size_t index = 0; index < length; index++) {
        world->read += (unsigned char)text[index];
    }
    const char *format = mk_reply_vtype(reply);
    world->read += format == NULL ? 0 : strlen(format);
    world->read += (size_t)mk_reply_integer(reply) + (mk_reply_dval(reply) > 0 ? 1 : 0);
    size_t count = mk_reply_elements(reply);
    for (size_t index = 0; index < count; index++) {
        const mk_reply *element = mk_reply_element(reply, index);
        CHECK(element != NULL);
        if (depth < 300) {
            read_reply(world, element, depth + 1);
        }
    }
    CHECK(mk_reply_element(reply, count) == NULL);
}

static void forms(struct world *world, const mk_reply *reply) {
    read_reply(world, reply, 0);
    for (int version = 1; version <= 3; version++) {
        mk_reply *bytes = mk_reply_resp(reply, version);
        CHECK((bytes != NULL) == (reply != NULL && version > 1));
        read_reply(world, bytes, 0);
        mk_reply_free(bytes);
    }
    mk_reply *text = mk_reply_text(reply);
    read_reply(world, text, 0);
    mk_reply_free(text);
}

static void keep(struct world *world, mk_reply *reply) {
    size_t at = slot(world);
    CHECK(reply != NULL || mk_last_error_code() != MK_OK);
    forms(world, reply);
    mk_reply_free(world->replies[at]);
    world->replies[at] = reply;
}

static const char *const PIECES[] = {
    "SET", "GET", "k", "l", "1", "-1", "", "EVAL", "return redis.call('INCR', KEYS[1])", "return {1, {2, {3, ARGV[1]}}}", "EVALSHA", "0",
    "redis.setresp(3) return {{double = 1.5}, true, {map = {a = {}}}, {set = {1}}}", "MULTI", "EXEC", "DISCARD", "WATCH", "RPUSH",
    "BLPOP", "LRANGE", "SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "*", "SELECT", "3", "HELLO", "RESET", "QUIT", "PX", "5000",
    "XADD", "XREAD", "BLOCK", "STREAMS", "ZADD", "ZRANGE", "WITHSCORES", "HSET", "HGETALL", "GEOADD", "GEOPOS", "DEBUG", "PROTOCOL",
    "ATTRIB", "BIGNUM", "VERBATIM", "FAULT", "REPLIES", "REQUESTS", "HEAL", "COUNT", "CLIENT", "REPLY", "OFF", "ON", "SKIP", "CONFIG",
    "FLUSHALL", "INFO", "COMMAND", "PANIC", "while true do end", "return string.rep('x', 100000)", "error('x')", "KEYS", "SCRIPT", "LOAD",
};

/* Words: pieces, or bytes of the input. */
static int words(struct world *world, const char **argv, size_t *argvlen) {
    int argc = next(world) % WORDS_MAX;
    for (int index = 0; index < argc; index++) {
        uint8_t byte = next(world);
        if (byte < 230) {
            argv[index] = PIECES[byte % (sizeof PIECES / sizeof *PIECES)];
            argvlen[index] = strlen(argv[index]);
        } else {
            size_t length = next(world);
            length = length < world->left ? length : world->left;
            argv[index] = length == 0 ? NULL : (const char *)world->input;
            argvlen[index] = length;
            world->input += length;
            world->left -= length;
        }
    }
    return argc;
}

static int is_piece(const char *word) {
    for (size_t index = 0; index < sizeof PIECES / sizeof *PIECES; index++) {
        if (word == PIECES[index]) {
            return 1;
        }
    }
    return 0;
}

static void call(struct world *world, mk_client *client) {
    const char *argv[WORDS_MAX];
    size_t argvlen[WORDS_MAX];
    mk_script *script = world->scripts[slot(world)];
    uint8_t how = next(world);
    int argc = words(world, argv, argvlen);
    int numkeys = (int)(next(world) % 4) - 1;
    if (how == 255) {
        argc = -argc;
    }
    mk_reply *reply = NULL;
    switch (how % 9) {
    case 0:
        keep(world, mk_call(client, argc, argv, argvlen));
        break;
    case 1:
        forms(world, mk_call_borrow(client, argc, argv, argvlen));
        break;
    case 2:
        keep(world, mk_trace(client, argc, argv, argvlen));
        break;
    case 3:
        mk_start(client, argc, argv, argvlen);
        break;
    case 4:
        keep(world, mk_script_run(client, script, numkeys, argc, argv, argvlen));
        break;
    case 5:
        forms(world, mk_script_run_borrow(client, script, numkeys, argc, argv, argvlen));
        break;
    case 6:
        keep(world, mk_script_verdict(client, script, numkeys, argc, argv, argvlen));
        break;
    case 7: /* without lengths: bytes of the input do not end in a NUL */
        for (int index = 0; index < argc; index++) {
            argv[index] = is_piece(argv[index]) ? argv[index] : "k";
        }
        keep(world, mk_call(client, argc, argv, NULL));
        break;
    default:
        CHECK(mk_call(client, 3, NULL, argvlen) == NULL);
        CHECK(mk_poll(client, &reply) == MK_OK || reply == NULL);
        if (reply == NULL && argc > 0) {
            reply = mk_command(client, "ECHO %b", argv[0], argvlen[0]);
        }
        forms(world, reply);
        mk_reply_free(reply);
    }
}

/* A format of the input, with arguments for whatever it asks. */
static void format(struct world *world, mk_client *client) {
    static const char *const parts[] = {"SET", " ", "k", "%s", "%b", "%d", "%%", "%5.2f", "%-08lld", "%", "%y", "%hhx", "%zu", " %s ", "%#o",
                                        "%.", "%999d", "%e"};
    char text[512] = "";
    int kinds[64];
    size_t asked = 0;
    for (size_t count = next(world) % 12; count > 0; count--) {
        size_t part = next(world) % (sizeof parts / sizeof *parts);
        strcat(text, parts[part]);
        if (strchr(parts[part], '%') != NULL && asked < 64) {
            kinds[asked++] = (int)part;
        }
    }
    /* One conversion at most is tried with its own argument: what comes behind it must not be read. */
    if (asked > 1) {
        return;
    }
    int kind = asked == 1 ? kinds[0] : 0;
    if (kind == 3 || kind == 13) {
        keep(world, mk_command(client, text, "text"));
    } else if (kind == 4) {
        keep(world, mk_command(client, text, "bytes", (size_t)3));
    } else if (kind == 7 || kind == 17) {
        keep(world, mk_command(client, text, 2.5));
    } else if (kind == 8) {
        keep(world, mk_command(client, text, (long long)number(world)));
    } else if (kind == 12) {
        keep(world, mk_command(client, text, (size_t)number(world)));
    } else {
        keep(world, mk_command(client, text, (int)next(world)));
    }
}

static void settings(struct world *world) {
    mk_options **options = &world->options[slot(world)];
    int64_t value = number(world);
    switch (next(world) % 9) {
    case 0:
        mk_options_free(*options);
        *options = mk_options_new();
        break;
    case 1:
        mk_options_manual_clock(*options, value);
        break;
    case 2:
        mk_options_seed(*options, (uint64_t)value);
        break;
    case 3:
        mk_options_hash_seed(*options, (uint64_t)value);
        break;
    case 4:
        mk_options_databases(*options, (int)(value % 100));
        break;
    case 5:
        mk_options_setting(*options, PIECES[next(world) % 60], "1");
        mk_options_setting(*options, "maxmemory", "1mb");
        break;
    case 6: /* limits that end what does not end */
        mk_options_limit(*options, (int)(value % 10), (uint64_t)next(world) << 8);
        break;
    case 7:
        mk_options_blocking(*options, next(world) % 2 == 0 ? MK_BLOCK_ADVANCE : 17);
        break;
    default:
        mk_options_free(*options);
        *options = NULL;
    }
}

/* A handle that is freed twice, while nothing can have taken its place. */
#define FREE_TWICE(free, handle)                                            \
    do {                                                                    \
        int is_null = (handle) == NULL;                                     \
        free(handle);                                                       \
        mk_note_error(1000, "before");                                      \
        free(handle);                                                       \
        CHECK(mk_last_error_code() == (is_null ? 1000 : MK_ERR_USAGE));     \
        (handle) = NULL;                                                    \
    } while (0)

static mk_engine *engine_of(struct world *world) {
    mk_options *options = world->options[slot(world)];
    mk_engine *engine = options == NULL ? mk_engine_new() : mk_engine_with(options);
    CHECK(engine != NULL);
    return engine;
}

static void state(struct world *world, mk_engine *engine) {
    mk_snapshot **snapshot = &world->snapshots[slot(world)];
    size_t at = slot(world);
    uint64_t hash;
    mk_reply *file;
    switch (next(world) % 8) {
    case 0:
        mk_snapshot_free(*snapshot);
        *snapshot = mk_snapshot_new(engine);
        break;
    case 1:
        mk_restore(engine, *snapshot);
        break;
    case 2:
        mk_engine_free(world->engines[at]);
        world->engines[at] = NULL;
        world->engines[at] = mk_snapshot_fork(*snapshot);
        break;
    case 3:
        keep(world, mk_snapshot_diff(*snapshot, world->snapshots[at]));
        break;
    case 4:
        CHECK((mk_state_hash(engine, &hash) == MK_OK) || engine == NULL || mk_last_error_code() == MK_ERR_POISONED);
        break;
    case 5:
        file = mk_save_rdb(engine);
        mk_load_rdb(engine, mk_reply_str(file), mk_reply_len(file) - (file != NULL && next(world) % 2 == 0 ? 3 : 0));
        mk_reply_free(file);
        break;
    case 6:
        FREE_TWICE(mk_snapshot_free, *snapshot);
        break;
    default:
        mk_load_rdb(engine, (const char *)world->input, world->left);
    }
}

static void journal(struct world *world, mk_engine *engine) {
    mk_journal **journal = &world->journals[slot(world)];
    mk_reply *write = NULL;
    switch (next(world) % 4) {
    case 0:
        mk_journal_free(*journal);
        *journal = mk_journal_new(engine);
        break;
    case 1:
        CHECK(mk_journal_next(*journal, &write) == MK_OK || write == NULL);
        forms(world, write);
        mk_reply_free(write);
        break;
    case 2:
        mk_journal_replay(*journal, engine);
        break;
    default:
        FREE_TWICE(mk_journal_free, *journal);
    }
}

static void clock_of(struct world *world, mk_engine *engine) {
    int64_t value = number(world);
    switch (next(world) % 5) {
    case 0:
        mk_advance_ms(engine, value);
        break;
    case 1:
        mk_set_time_ms(engine, value);
        break;
    case 2:
        mk_keep_time(engine, &value);
        break;
    case 3:
        mk_kill_script(engine);
        break;
    default:
        CHECK(mk_now_ms(engine) >= -1);
        mk_reset(engine);
        keep(world, mk_take_log(engine));
    }
}

static void session(struct world *world, mk_engine *engine) {
    mk_client **client = &world->clients[slot(world)];
    mk_reply *reply = NULL;
    switch (next(world) % 5) {
    case 0:
        mk_client_free(*client);
        *client = mk_client_new(engine);
        break;
    case 1:
        CHECK(mk_next_message(*client, &reply) == MK_OK || reply == NULL);
        CHECK(reply != NULL || mk_wait_message(*client, &reply) == MK_OK || reply == NULL);
        forms(world, reply);
        mk_reply_free(reply);
        break;
    case 2:
        mk_cancel(*client);
        break;
    case 3:
        FREE_TWICE(mk_client_free, *client);
        break;
    default:
        CHECK(mk_poll(*client, &reply) == MK_OK || reply == NULL);
        forms(world, reply);
        mk_reply_free(reply);
    }
}

static void script(struct world *world) {
    mk_script **script = &world->scripts[slot(world)];
    const char *source = PIECES[next(world) % (sizeof PIECES / sizeof *PIECES)];
    const char *contract = "--!contract c\n--!key n string int(0, 9) rw\n--!error arity \"ERR a\"\n--!error n \"ERR b\"\n"
                           "--!error n.type WRONGTYPE\n--!case else => n + 1 ; n = n + 1\n";
    if (next(world) % 4 == 0) {
        FREE_TWICE(mk_script_free, *script);
        return;
    }
    mk_script_free(*script);
    *script = next(world) % 2 == 0 ? mk_script_new(source, strlen(source))
                                   : mk_script_checked(source, strlen(source), contract, strlen(contract));
}

static void free_all(struct world *world) {
    for (size_t index = 0; index < SLOTS; index++) {
        FREE_TWICE(mk_engine_free, world->engines[index]);
    }
    for (size_t index = 0; index < SLOTS; index++) {
        CHECK(mk_call(world->clients[index], WORDS("PING")) == NULL);
        mk_client_free(world->clients[index]);
        FREE_TWICE(mk_options_free, world->options[index]);
        mk_script_free(world->scripts[index]);
        mk_snapshot_free(world->snapshots[index]);
        mk_journal_free(world->journals[index]);
        mk_reply_free(world->replies[index]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length) {
    struct world world;
    memset(&world, 0, sizeof world);
    world.input = input;
    world.left = length;
    world.options[0] = mk_options_new();
    mk_options_limit(world.options[0], MK_LIMIT_WORK, 20000);
    world.engines[0] = mk_engine_with(world.options[0]);
    world.clients[0] = mk_client_new(world.engines[0]);
    while (world.left > 0) {
        mk_engine *engine = world.engines[slot(&world)];
        uint8_t what = next(&world);
        if (what < 130) {
            call(&world, world.clients[what % SLOTS]);
        } else if (what < 150) {
            format(&world, world.clients[what % SLOTS]);
        } else if (what < 180) {
            session(&world, engine);
        } else if (what < 200) {
            state(&world, engine);
        } else if (what < 215) {
            journal(&world, engine);
        } else if (what < 230) {
            clock_of(&world, engine);
        } else if (what < 240) {
            script(&world);
        } else if (what < 250) {
            settings(&world);
        } else {
            size_t at = slot(&world);
            mk_engine_free(world.engines[at]);
            world.engines[at] = NULL;
            world.engines[at] = what % 2 == 0 ? engine_of(&world) : mk_fork(world.engines[slot(&world)]);
        }
    }
    free_all(&world);
    return 0;
}

#ifndef FUZZ
int main(int argc, char **argv) {
    int inputs = argc > 2 ? atoi(argv[2]) : 150;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    for (int input = 0; input < inputs; input++) {
        uint8_t bytes[2048];
        uint64_t state = seed * 1000003 + (uint64_t)input;
        for (size_t index = 0; index < sizeof bytes; index++) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            bytes[index] = (uint8_t)(state >> 56);
        }
        LLVMFuzzerTestOneInput(bytes, sizeof bytes);
    }
    printf("%d inputs\n", inputs);
    return 0;
}
#endif
