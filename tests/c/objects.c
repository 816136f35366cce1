/* Scripts, options, state, journal, waiting calls and messages as objects of the border. Usage: objects lua/ */
#include "check.h"

static void line(const char *what, mk_reply *reply) {
    CHECK(reply != NULL);
    printf("%s: ", what);
    print_reply(reply);
    printf("\n");
    mk_reply_free(reply);
}

static void failed(const char *what, int code, int wanted) {
    CHECK(code == wanted);
    CHECK(mk_last_error_code() == wanted);
    printf("%s: %s\n", what, mk_last_error());
}

static void scripts(const char *folder) {
    mk_engine *engine = mk_engine_new();
    mk_client *client = mk_client_new(engine);
    const char *text = "return {KEYS[1], ARGV[1], #KEYS, #ARGV}";
    mk_script *script = mk_script_new(text, strlen(text));
    CHECK(strlen(mk_script_sha(script)) == 40);
    CHECK(mk_script_sha(NULL) == NULL);
    line("first run", mk_script_run(client, script, 1, WORDS("k", "a", "b")));
    line("second run", mk_script_run(client, script, 2, WORDS("k", "l", "a")));
    line("no words", mk_script_run(client, script, 0, 0, NULL, NULL));
    const mk_reply *borrowed = mk_script_run_borrow(client, script, 1, WORDS("k", "a"));
    CHECK(mk_reply_elements(borrowed) == 4);
    CHECK(strcmp(mk_reply_str(mk_reply_element(borrowed, 1)), "a") == 0);
    CHECK(mk_script_run(client, script, 2, WORDS("k")) == NULL);
    failed("too many keys", mk_last_error_code(), MK_ERR_USAGE);
    CHECK(mk_script_run(client, script, -1, WORDS("k")) == NULL);
    CHECK(mk_script_run(client, NULL, 1, WORDS("k")) == NULL);
    failed("no script", mk_last_error_code(), MK_ERR_NULL);
    mk_reply_free(mk_command(client, "NOSUCH")); /* what was answered before says nothing of this */
    CHECK(mk_script_verdict(client, script, 1, WORDS("k")) == NULL);
    failed("no contract", mk_last_error_code(), MK_ERR_USAGE);
    CHECK(mk_check(script, 1, 10) == NULL);
    failed("no check", mk_last_error_code(), MK_ERR_USAGE);
    mk_script_free(script);

    char path[512];
    snprintf(path, sizeof path, "%s/decrease_stock.lua", folder);
    size_t length;
    char *source = read_file(path, &length);
    script = mk_script_checked(source, length, NULL, 0);
    CHECK(script != NULL);
    line("stock", mk_command(client, "SET stock 3"));
    line("verdict", mk_script_verdict(client, script, 1, WORDS("stock", "2")));
    line("refused verdict", mk_script_verdict(client, script, 1, WORDS("stock", "02")));
    line("checked", mk_script_run(client, script, 1, WORDS("stock", "2")));
    line("refused", mk_script_run(client, script, 1, WORDS("stock", "02")));
    line("kept", mk_check(script, 7, 200));
    mk_script_free(script);

    const char *liar = "return redis.call('INCRBY', KEYS[1], 2)";
    const char *contract = "--!contract one\n--!key n string int(0, 100) required rw\n"
                           "--!error arity \"ERR one key\"\n--!error n \"ERR no number\"\n--!error n.type WRONGTYPE\n"
                           "--!case else => n + 1 ; n = n + 1\n";
    script = mk_script_checked(liar, strlen(liar), contract, strlen(contract));
    CHECK(script != NULL);
    CHECK(mk_script_run(client, script, 1, WORDS("stock")) == NULL);
    CHECK(mk_last_error_code() == MK_ERR_BREACH);
    CHECK(strlen(mk_last_error()) > 0);
    mk_reply *failures = mk_check(script, 7, 200);
    CHECK(mk_reply_elements(failures) > 0);
    CHECK(mk_reply_elements(mk_reply_element(failures, 0)) == 3);
    mk_reply_free(failures);
    mk_script_free(script);
    CHECK(mk_script_checked(liar, strlen(liar), NULL, 0) == NULL);
    failed("no header", mk_last_error_code(), MK_ERR_USAGE);

    line("trace", mk_trace(client, WORDS("EVAL", "redis.call('SET', KEYS[1], 1) return redis.call('INCR', KEYS[1])", "1", "n")));
    line("log", mk_command(client, "EVAL %s 0", "redis.log(redis.LOG_WARNING, 'left:', 3)"));
    line("its line", mk_take_log(engine));
    line("no more", mk_take_log(engine));
    CHECK(mk_kill_script(engine) == MK_OK);
    free(source);
    mk_client_free(client);
    mk_engine_free(engine);
}

static void options(void) {
    mk_options *options = mk_options_new();
    CHECK(mk_options_manual_clock(options, 1000) == MK_OK);
    CHECK(mk_options_seed(options, 7) == MK_OK);
    CHECK(mk_options_hash_seed(options, 8) == MK_OK);
    CHECK(mk_options_databases(options, 2) == MK_OK);
    CHECK(mk_options_setting(options, "maxmemory", "100mb") == MK_OK);
    CHECK(mk_options_limit(options, MK_LIMIT_WORK, 10000) == MK_OK);
    for (int which = MK_LIMIT_TIME_MS; which < MK_LIMIT_NESTING; which++) {
        CHECK(mk_options_limit(options, which, 1 << 20) == MK_OK);
    }
    CHECK(mk_options_limit(options, MK_LIMIT_NESTING, 2) == MK_OK);
    CHECK(mk_options_blocking(options, MK_BLOCK_ADVANCE) == MK_OK);
    failed("before 1970", mk_options_manual_clock(options, -1), MK_ERR_USAGE);
    failed("no database", mk_options_databases(options, 0), MK_ERR_USAGE);
    failed("no parameter", mk_options_setting(options, "no-such", "1"), MK_ERR_USAGE);
    failed("no such value", mk_options_setting(options, "maxmemory", "many"), MK_ERR_USAGE);
    failed("no limit", mk_options_limit(options, 99, 1), MK_ERR_USAGE);
    failed("too deep", mk_options_limit(options, MK_LIMIT_NESTING, UINT64_MAX), MK_ERR_USAGE);
    failed("no way", mk_options_blocking(options, 99), MK_ERR_USAGE);

    mk_engine *engine = mk_engine_with(options);
    mk_engine *other = mk_engine_with(options);
    mk_options_free(options);
    mk_client *client = mk_client_new(engine);
    CHECK(mk_now_ms(engine) == 1000);
    line("waits until its time is over", mk_command(client, "BLPOP queue 5"));
    CHECK(mk_now_ms(engine) == 6001);
    CHECK(mk_now_ms(other) == 1000); /* a clock of its own */
    line("memory", mk_command(client, "CONFIG GET maxmemory"));
    line("databases", mk_command(client, "SELECT 2"));
    line("work", mk_command(client, "EVAL %s 0", "while true do end"));
    line("nesting", mk_command(client, "EVAL %s 0", "return {{{{}}}}"));
    mk_client_free(client);
    mk_engine_free(engine);
    mk_engine_free(other);
}

static void state(void) {
    mk_engine *engine = mk_engine_new();
    mk_client *client = mk_client_new(engine);
    line("set", mk_command(client, "SET stock 10 PX 1000"));
    mk_snapshot *before = mk_snapshot_new(engine);
    uint64_t first = 0, second = 0;
    CHECK(mk_state_hash(engine, &first) == MK_OK);
    mk_engine *fork = mk_fork(engine);
    line("decr", mk_command(client, "DECR stock"));
    line("more", mk_command(client, "SET more 1"));
    mk_snapshot *after = mk_snapshot_new(engine);
    CHECK(mk_state_hash(engine, &second) == MK_OK && first != second);
    CHECK(mk_state_hash(fork, &second) == MK_OK && first == second);
    line("diff", mk_snapshot_diff(before, after));
    line("no diff", mk_snapshot_diff(before, before));
    CHECK(mk_advance_ms(engine, 1001) == MK_OK);
    CHECK(mk_restore(engine, before) == MK_OK);
    line("restored", mk_command(client, "MGET stock more"));
    line("with its time", mk_command(client, "PTTL stock"));

    mk_engine *again = mk_snapshot_fork(after);
    mk_client *there = mk_client_new(again);
    line("forked", mk_command(there, "MGET stock more"));
    CHECK(mk_set_time_ms(again, 86400000) == MK_OK && mk_now_ms(again) == 86400000);
    failed("negative time", mk_set_time_ms(again, -5), MK_ERR_USAGE);
    int64_t idle = 0;
    CHECK(mk_keep_time(again, &idle) == MK_OK && idle == -1);
    CHECK(mk_reset(again) == MK_OK);
    line("reset", mk_command(there, "DBSIZE"));

    mk_reply *file = mk_save_rdb(engine);
    CHECK(memcmp(mk_reply_str(file), "REDIS", 5) == 0);
    CHECK(mk_load_rdb(again, mk_reply_str(file), mk_reply_len(file)) == MK_OK);
    CHECK(mk_state_hash(again, &second) == MK_OK && first == second);
    failed("cut off", mk_load_rdb(again, mk_reply_str(file), mk_reply_len(file) - 9), MK_ERR_USAGE);
    mk_reply_free(file);

    mk_engine_free(engine);
    mk_engine_free(fork);
    mk_engine_free(again);
    mk_snapshot_free(before);
    mk_snapshot_free(after);
    mk_client_free(client);
    mk_client_free(there);
}

static void journal(void) {
    mk_engine *engine = mk_engine_new();
    mk_engine *follower = mk_engine_new();
    mk_client *client = mk_client_new(engine);
    mk_journal *journal = mk_journal_new(engine);
    mk_journal *other = mk_journal_new(engine);
    mk_reply *write = NULL;
    CHECK(mk_journal_next(journal, &write) == MK_OK && write == NULL);
    line("lease", mk_command(client, "SET lock me NX PX 1500"));
    line("script", mk_command(client, "EVAL %s 0", "redis.call('SET', 'a', 1) redis.call('SELECT', 3) redis.call('INCR', 'b')"));
    CHECK(mk_advance_ms(engine, 1501) == MK_OK);
    while (mk_journal_next(journal, &write) == MK_OK && write != NULL) {
        line("write", write);
    }
    CHECK(mk_journal_replay(other, follower) == MK_OK);
    uint64_t first = 0, second = 0;
    CHECK(mk_state_hash(engine, &first) == MK_OK);
    CHECK(mk_state_hash(follower, &second) == MK_OK && first == second);
    CHECK(mk_journal_next(other, &write) == MK_OK && write == NULL);
    failed("no place", mk_journal_next(other, NULL), MK_ERR_NULL);
    mk_journal_free(journal);
    mk_client_free(client);
    mk_engine_free(engine);
    mk_engine_free(follower);
    mk_journal_free(other);
}

static void waiting(void) {
    mk_engine *engine = mk_engine_new();
    mk_client *consumer = mk_client_new(engine);
    mk_client *producer = mk_client_new(engine);
    mk_reply *reply = NULL;
    CHECK(mk_call(consumer, WORDS("BLPOP", "queue", "0")) == NULL);
    failed("would wait", mk_last_error_code(), MK_ERR_WOULD_BLOCK);
    failed("nothing begun", mk_poll(consumer, &reply), MK_ERR_USAGE);
    CHECK(mk_start(consumer, WORDS("BLPOP", "queue", "5")) == MK_OK);
    CHECK(mk_poll(consumer, &reply) == MK_OK && reply == NULL);
    CHECK(mk_command(consumer, "PING") == NULL);
    failed("it waits", mk_last_error_code(), MK_ERR_USAGE);
    line("push", mk_command(producer, "RPUSH queue job"));
    CHECK(mk_poll(consumer, &reply) == MK_OK);
    line("served", reply);
    failed("once", mk_poll(consumer, &reply), MK_ERR_USAGE);
    CHECK(mk_start(consumer, WORDS("BLPOP", "queue", "5")) == MK_OK);
    CHECK(mk_advance_ms(engine, 5001) == MK_OK);
    CHECK(mk_poll(consumer, &reply) == MK_OK);
    line("its time is over", reply);
    CHECK(mk_start(consumer, WORDS("ECHO", "at once")) == MK_OK);
    CHECK(mk_poll(consumer, &reply) == MK_OK);
    line("there at once", reply);
    CHECK(mk_start(consumer, WORDS("BLPOP", "queue", "0")) == MK_OK);
    CHECK(mk_cancel(consumer) == MK_OK);
    line("given up", mk_command(consumer, "PING"));
    CHECK(mk_cancel(consumer) == MK_OK);
    failed("no name", mk_start(consumer, 0, NULL, NULL), MK_ERR_USAGE);
    failed("no place", mk_poll(consumer, NULL), MK_ERR_NULL);

    line("one channel", mk_command(consumer, "SUBSCRIBE news"));
    line("two more", mk_command(consumer, "PSUBSCRIBE n* m*"));
    CHECK(mk_next_message(consumer, &reply) == MK_OK && reply == NULL);
    failed("none to wait for", mk_wait_message(consumer, &reply), MK_ERR_WOULD_BLOCK);
    line("publish", mk_command(producer, "PUBLISH news %s", "hello there"));
    CHECK(mk_next_message(consumer, &reply) == MK_OK);
    mk_reply *bytes = mk_reply_resp(reply, 2);
    CHECK(strcmp(mk_reply_str(bytes), "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$11\r\nhello there\r\n") == 0);
    mk_reply_free(bytes);
    line("message", reply);
    CHECK(mk_wait_message(consumer, &reply) == MK_OK);
    line("by pattern", reply);
    CHECK(mk_next_message(consumer, &reply) == MK_OK && reply == NULL);

    mk_engine_free(engine);
    failed("freed engine", mk_next_message(consumer, &reply), MK_ERR_CLOSED);
    mk_client_free(consumer);
    mk_client_free(producer);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    scripts(argv[1]);
    options();
    state();
    journal();
    waiting();
    return 0;
}
