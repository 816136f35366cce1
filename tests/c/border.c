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
    mk_reply_free(NULL);
    mk_client_free(NULL);
    mk_engine_free(NULL);
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
    refused("panic", mk_call(client, WORDS("DEBUG", "PANIC")), MK_ERR_PANIC);
    refused("same client", mk_call(client, WORDS("PING")), MK_ERR_POISONED);
    refused("other client", mk_call(other, WORDS("PING")), MK_ERR_POISONED);
    refused("new client", mk_client_new(engine), MK_ERR_POISONED);
    CHECK(mk_advance_ms(engine, 1) == MK_ERR_POISONED);
    show("other engine", elsewhere, WORDS("PING"));
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
    clock_of_the_engine(engine, client);
    misuse(engine, client);
    panics(client);
    mk_client_free(client);
    mk_engine_free(engine);
    ownership();
    return 0;
}
