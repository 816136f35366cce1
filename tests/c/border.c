/* The C border without scripts: every kind of reply, binary words, misuse, ownership and the clock. */
#include "check.h"
#include <stdint.h>

static void versions(void) {
    CHECK(mk_abi_version() != 0);
    CHECK(mk_abi_version() == MK_ABI_VERSION);
    CHECK(strchr(mk_version(), '.') != NULL);
    CHECK(mk_last_error_code() == MK_OK);
    CHECK(strcmp(mk_last_error(), "") == 0);
}

static void refused(const char *what, const void *result, int code) {
    CHECK(result == NULL);
    CHECK(mk_last_error_code() == code);
    printf("%s: %s\n", what, mk_last_error());
}

static void misuse(mk_engine *engine, mk_client *client) {
    const char *words[] = {"GET", NULL};
    size_t lengths[] = {3, 1};
    size_t too_long[] = {3, SIZE_MAX};
    const char *two[] = {"GET", "k"};

    refused("no engine", mk_client_new(NULL), MK_ERR_NULL);
    refused("no client", mk_call(NULL, 1, words, NULL), MK_ERR_NULL);
    refused("no argv", mk_call(client, 1, NULL, NULL), MK_ERR_NULL);
    refused("no words", mk_call(client, 0, words, NULL), MK_ERR_USAGE);
    refused("fewer than no words", mk_call(client, -1, words, NULL), MK_ERR_USAGE);
    refused("no text", mk_call(client, 2, words, NULL), MK_ERR_NULL);
    refused("no bytes", mk_call(client, 2, words, lengths), MK_ERR_NULL);
    refused("no such length", mk_call(client, 2, two, too_long), MK_ERR_USAGE);
    CHECK(mk_advance_ms(NULL, 1) == MK_ERR_NULL);
    CHECK(mk_advance_ms(engine, -1) == MK_ERR_USAGE);
    printf("back in time: %s\n", mk_last_error());
    CHECK(mk_advance_ms(engine, INT64_MIN) == MK_ERR_USAGE);
    CHECK(mk_advance_ms(engine, INT64_MAX) == MK_OK);

    CHECK(mk_reply_type(NULL) == MK_REPLY_NONE);
    CHECK(mk_reply_integer(NULL) == 0);
    CHECK(mk_reply_dval(NULL) == 0.0);
    CHECK(mk_reply_str(NULL) == NULL);
    CHECK(mk_reply_len(NULL) == 0);
    CHECK(mk_reply_elements(NULL) == 0);
    CHECK(mk_reply_element(NULL, 0) == NULL);
    CHECK(mk_reply_vtype(NULL) == NULL);
    refused("no reply", mk_reply_resp(NULL, 2), MK_ERR_NULL);
    refused("no reply", mk_reply_text(NULL), MK_ERR_NULL);
    mk_reply_free(NULL);
    mk_client_free(NULL);
    mk_engine_free(NULL);
    mk_options_free(NULL);
    mk_script_free(NULL);
    mk_snapshot_free(NULL);
    mk_journal_free(NULL);
}

/* What is freed twice, or by the function for something else, is refused, as long as nothing new stands there. */
static void freed_twice(void) {
    mk_engine *engine = mk_engine_new();
    mk_client *client = mk_client_new(engine);
    int fine = mk_note_error(1000, "no failure");
    mk_engine_free((mk_engine *)(void *)client);
    CHECK(mk_last_error_code() == MK_ERR_USAGE);
    mk_client_free(client);
    mk_note_error(fine, "no failure");
    mk_client_free(client);
    CHECK(mk_last_error_code() == MK_ERR_USAGE);
    printf("client twice: %s\n", mk_last_error());
    mk_engine_free(engine);
    mk_note_error(fine, "no failure");
    mk_engine_free(engine);
    CHECK(mk_last_error_code() == MK_ERR_USAGE);
    printf("engine twice: %s\n", mk_last_error());
    mk_note_error(fine, "no failure");
    mk_script_free((mk_script *)(void *)&fine);
    CHECK(mk_last_error_code() == MK_ERR_USAGE);
}

/* A reply that belongs to its client: read until the next call, not freed. */
static void borrowed(mk_client *client) {
    const mk_reply *reply = mk_call_borrow(client, WORDS("SET", "own", "text"));
    CHECK(strcmp(mk_reply_str(reply), "OK") == 0);
    reply = mk_call_borrow(client, WORDS("GET", "own"));
    CHECK(mk_reply_type(reply) == MK_REPLY_STRING && mk_reply_len(reply) == 4);
    CHECK(memcmp(mk_reply_str(reply), "text", 5) == 0); /* and a NUL behind it */
    mk_reply_free((mk_reply *)(uintptr_t)reply);
    CHECK(mk_last_error_code() == MK_ERR_USAGE);
    CHECK(strcmp(mk_reply_str(reply), "text") == 0);
    reply = mk_call_borrow(client, WORDS("GET", "nobody"));
    CHECK(mk_reply_type(reply) == MK_REPLY_NIL && mk_reply_str(reply) == NULL);
    reply = mk_call_borrow(client, WORDS("STRLEN", "own"));
    CHECK(mk_reply_type(reply) == MK_REPLY_INTEGER && mk_reply_integer(reply) == 4);
    reply = mk_call_borrow(client, WORDS("NOSUCH"));
    CHECK(mk_reply_type(reply) == MK_REPLY_ERROR && strncmp(mk_reply_str(reply), "ERR unknown", 11) == 0);
    reply = mk_call_borrow(client, WORDS("EVAL", "return {1, {'two', {3}}, 'four', {}}", "0"));
    printf("borrowed: ");
    print_reply(reply);
    printf("\n");
    reply = mk_call_borrow(client, WORDS("EVAL", "return string.rep('x', 3000000)", "0"));
    CHECK(mk_reply_len(reply) == 3000000 && strlen(mk_reply_str(reply)) == 3000000);
    refused("no call", mk_call_borrow(client, 0, NULL, NULL), MK_ERR_USAGE);
}

/* The same reply as a server sends it, in both versions, and as redis-cli shows it. */
static void forms(mk_client *client) {
    const char *const sources[] = {
        "return {1, 'two', false, {ok = 'fine'}, {err = 'ERR bad'}}",
        "redis.setresp(3) return {true, {double = 0.5}, {map = {a = 1}}, {set = {x = true}}, {big_number = '123'}}",
        "return {verbatim_string = {format = 'txt', string = 'for people'}}",
        "return redis.call('GEOPOS', KEYS[1], 'here', 'nowhere')",
    };
    show("geo", client, WORDS("GEOADD", "geo", "13.361389", "38.115556", "here"));
    for (size_t index = 0; index < 4; index++) {
        mk_reply *reply = mk_call(client, WORDS("EVAL", sources[index], "1", "geo"));
        for (int version = 2; version <= 3; version++) {
            mk_reply *bytes = mk_reply_resp(reply, version);
            printf("RESP%d: ", version);
            for (const char *at = mk_reply_str(bytes); *at != '\0'; at++) {
                if (*at != '\r') {
                    putchar(*at == '\n' ? ' ' : *at);
                }
            }
            printf("\n");
            mk_reply_free(bytes);
        }
        mk_reply *text = mk_reply_text(reply);
        printf("%s\n", mk_reply_str(text));
        mk_reply_free(text);
        mk_reply_free(reply);
    }
    mk_reply *verbatim = mk_call(client, WORDS("EVAL", sources[2], "0"));
    CHECK(mk_reply_type(verbatim) == MK_REPLY_VERB);
    CHECK(strcmp(mk_reply_vtype(verbatim), "txt") == 0 && strcmp(mk_reply_str(verbatim), "for people") == 0);
    refused("no such version", mk_reply_resp(verbatim, 4), MK_ERR_USAGE);
    mk_reply_free(verbatim);
    mk_reply *number = mk_call(client, WORDS("EVAL", "return {big_number = '-12345678901234567890'}", "0"));
    CHECK(mk_reply_type(number) == MK_REPLY_BIGNUM);
    CHECK(strcmp(mk_reply_str(number), "-12345678901234567890") == 0);
    mk_reply_free(number);
}

static void binary_words(mk_client *client) {
    const char *set[] = {"SET", "k\0\xff", "a\0b"};
    size_t set_lengths[] = {3, 3, 3};
    const char *get[] = {"GET", "k\0\xff"};
    size_t get_lengths[] = {3, 3};
    const char *empty[] = {"SET", NULL, NULL};
    size_t empty_lengths[] = {3, 0, 0};

    show("binary SET", client, 3, set, set_lengths);
    mk_reply *reply = mk_call(client, 2, get, get_lengths);
    CHECK(mk_reply_type(reply) == MK_REPLY_STRING);
    CHECK(mk_reply_len(reply) == 3);
    CHECK(memcmp(mk_reply_str(reply), "a\0b", 4) == 0); /* and a NUL behind it */
    CHECK(mk_reply_elements(reply) == 0);
    CHECK(mk_reply_element(reply, 0) == NULL);
    mk_reply_free(reply);
    show("empty SET", client, 3, empty, empty_lengths);
    show("empty GET", client, WORDS("GET", ""));
}

static void replies(mk_client *client) {
    show("status", client, WORDS("SET", "n", "41"));
    show("integer", client, WORDS("INCR", "n"));
    show("string", client, WORDS("GET", "n"));
    show("nil", client, WORDS("GET", "nobody"));
    show("unknown", client, WORDS("NOSUCH", "x"));
    show("arity", client, WORDS("GET"));
    show("array", client, WORDS("MGET", "n", "nobody", "n"));
    show("many words", client,
         WORDS("MSET", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8",
               "i", "9"));
    show("multi", client, WORDS("MULTI"));
    show("queued", client, WORDS("MGET", "a", "i"));
    show("queued", client, WORDS("INCR", "a"));
    show("exec", client, WORDS("EXEC"));
    show("set", client, WORDS("SADD", "set", "1", "2"));
    show("members", client, WORDS("SMEMBERS", "set"));
    show("hash", client, WORDS("HSET", "hash", "f", "v"));
    show("map", client, WORDS("HGETALL", "hash"));
}

static void elements(mk_client *client) {
    mk_reply *whole = mk_call(client, WORDS("MGET", "a", "b"));
    CHECK(mk_reply_type(whole) == MK_REPLY_ARRAY);
    CHECK(mk_reply_elements(whole) == 2);
    const mk_reply *second = mk_reply_element(whole, 1);
    CHECK(mk_reply_element(whole, 2) == NULL);
    CHECK(mk_reply_element(whole, SIZE_MAX) == NULL);

    mk_reply_free((mk_reply *)(uintptr_t)second); /* refused: it belongs to the whole */
    CHECK(mk_last_error_code() == MK_ERR_USAGE);
    printf("free an element: %s\n", mk_last_error());
    CHECK(strcmp(mk_reply_str(second), "2") == 0);
    mk_reply_free(whole);
}

static void clock_of_the_engine(mk_engine *engine, mk_client *client) {
    show("lease", client, WORDS("SET", "lease", "me", "PX", "20000"));
    CHECK(mk_advance_ms(engine, 20000) == MK_OK);
    show("at 20.000 s", client, WORDS("GET", "lease"));
    show("left", client, WORDS("PTTL", "lease"));
    CHECK(mk_advance_ms(engine, 1) == MK_OK);
    show("at 20.001 s", client, WORDS("GET", "lease"));
}

/* Replies of types that only RESP3 tells apart, as a script makes them. */
static void typed(mk_client *client) {
    mk_reply *reply = mk_call(client, WORDS("EVAL", "redis.setresp(3) return {double = 1.5}", "0"));
    CHECK(mk_reply_type(reply) == MK_REPLY_DOUBLE);
    CHECK(mk_reply_dval(reply) == 1.5);
    CHECK(strcmp(mk_reply_str(reply), "1.5") == 0 && mk_reply_len(reply) == 3);
    mk_reply_free(reply);
    reply = mk_call(client, WORDS("EVAL", "return {map = {a = {1, {2, {}}}}}", "0"));
    CHECK(mk_reply_type(reply) == MK_REPLY_MAP);
    CHECK(mk_reply_elements(reply) == 2);
    print_reply(reply);
    printf(" of depth 4\n");
    mk_reply_free(reply);
    reply = mk_call(client, WORDS("EVAL", "return {set = {x = true}}", "0"));
    CHECK(mk_reply_type(reply) == MK_REPLY_SET);
    CHECK(strcmp(mk_reply_str(mk_reply_element(reply, 0)), "x") == 0);
    mk_reply_free(reply);
    reply = mk_call(client, WORDS("EVAL", "redis.setresp(3) return true", "0"));
    CHECK(mk_reply_type(reply) == MK_REPLY_BOOL);
    CHECK(mk_reply_integer(reply) == 1);
    mk_reply_free(reply);
}

/* Two engines share nothing; a reply outlives its client, and a client its engine. */
static void ownership(void) {
    mk_engine *first = mk_engine_new();
    mk_engine *second = mk_engine_new();
    mk_client *one = mk_client_new(first);
    mk_client *other = mk_client_new(first);
    mk_client *elsewhere = mk_client_new(second);
    show("first engine", one, WORDS("SET", "k", "v"));
    show("its other client", other, WORDS("GET", "k"));
    show("second engine", elsewhere, WORDS("GET", "k"));

    mk_reply *reply = mk_call(one, WORDS("GET", "k"));
    mk_client_free(one);
    mk_engine_free(first);
    refused("freed engine", mk_call(other, WORDS("GET", "k")), MK_ERR_CLOSED);
    mk_client_free(other);
    CHECK(strcmp(mk_reply_str(reply), "v") == 0);
    mk_reply_free(reply);

    show("quit", elsewhere, WORDS("QUIT"));
    refused("after quit", mk_call(elsewhere, WORDS("GET", "k")), MK_ERR_CLOSED);
    mk_engine_free(second);
    mk_client_free(elsewhere);
}

/* A panic becomes a code, and poisons its engine only. */
static void panics(mk_client *elsewhere) {
    mk_engine *engine = mk_engine_new();
    mk_client *client = mk_client_new(engine);
    mk_client *other = mk_client_new(engine);
    show("before", client, WORDS("SET", "k", "v"));
    mk_snapshot *snapshot = mk_snapshot_new(engine);
    refused("panic", mk_call(client, WORDS("DEBUG", "PANIC")), MK_ERR_PANIC);
    refused("same client", mk_call(client, WORDS("PING")), MK_ERR_POISONED);
    refused("other client", mk_call(other, WORDS("PING")), MK_ERR_POISONED);
    refused("new client", mk_client_new(engine), MK_ERR_POISONED);
    CHECK(mk_advance_ms(engine, 1) == MK_ERR_POISONED);
    show("other engine", elsewhere, WORDS("PING"));
    CHECK(mk_restore(engine, snapshot) == MK_OK);
    show("restored", other, WORDS("GET", "k"));
    mk_snapshot_free(snapshot);
    mk_client_free(client);
    mk_engine_free(engine);
    mk_client_free(other);
}

int main(void) {
    versions();
    mk_engine *engine = mk_engine_new();
    mk_client *client = mk_client_new(engine);
    CHECK(engine != NULL && client != NULL);
    binary_words(client);
    replies(client);
    elements(client);
    typed(client);
    borrowed(client);
    forms(client);
    clock_of_the_engine(engine, client);
    misuse(engine, client);
    panics(client);
    mk_client_free(client);
    mk_engine_free(engine);
    ownership();
    freed_twice();
    return 0;
}
