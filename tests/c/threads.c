/* Two threads on one engine, each with its client; a third that waits; one client that two threads want. Under ThreadSanitizer
   too: tests/c/tsan. */
#include "check.h"
#include <pthread.h>

enum { ROUNDS = 200 };

static const char *const SOURCE = "return redis.call('INCR', KEYS[1])";

struct shared {
    mk_engine *engine;
    mk_script *script;
    const mk_reply *reply;
};

static void *work(void *given) {
    struct shared *shared = given;
    mk_client *client = mk_client_new(shared->engine);
    CHECK(client != NULL);
    for (int round = 0; round < ROUNDS; round++) {
        mk_reply_free(mk_command(client, "INCR plain"));
        mk_reply_free(mk_script_run(client, shared->script, 1, WORDS("scripted")));
        const mk_reply *borrowed = mk_call_borrow(client, WORDS("GET", "fixed"));
        CHECK(strcmp(mk_reply_str(borrowed), "value") == 0);
        CHECK(strcmp(mk_reply_str(mk_reply_element(shared->reply, 0)), "value") == 0);
        if (round % 50 == 0) {
            mk_snapshot *snapshot = mk_snapshot_new(shared->engine);
            mk_engine *fork = mk_snapshot_fork(snapshot);
            mk_snapshot_free(snapshot);
            mk_engine_free(fork);
            CHECK(mk_advance_ms(shared->engine, 1) == MK_OK);
        }
    }
    CHECK(mk_call(client, 0, NULL, NULL) == NULL);
    CHECK(mk_last_error_code() == MK_ERR_USAGE); /* of this thread */
    mk_reply_free(mk_command(client, "RPUSH done %d", 1));
    mk_client_free(client);
    return NULL;
}

/* Waits on its own client until both workers are done. */
static void *consume(void *given) {
    mk_client *client = given;
    for (int worker = 0; worker < 2; worker++) {
        mk_reply *reply = mk_command(client, "BLPOP done 0");
        while (reply == NULL && mk_last_error_code() == MK_ERR_BUSY) {
            reply = mk_command(client, "BLPOP done 0"); /* the other thread was inside */
        }
        CHECK(mk_reply_elements(reply) == 2);
        mk_reply_free(reply);
    }
    return NULL;
}

/* Waits until its engine is freed. */
static void *outlive(void *given) {
    mk_client *client = given;
    mk_reply *reply = mk_command(client, "BLPOP never 0");
    while (reply == NULL && mk_last_error_code() == MK_ERR_BUSY) {
        reply = mk_command(client, "BLPOP never 0");
    }
    CHECK(reply == NULL && mk_last_error_code() == MK_ERR_CLOSED);
    return NULL;
}

/* Calls until the other thread is inside a call that waits. */
static void await_wait(mk_client *client) {
    mk_reply *reply = mk_command(client, "ECHO x");
    while (reply != NULL) {
        mk_reply_free(reply);
        reply = mk_command(client, "ECHO x");
    }
    CHECK(mk_last_error_code() == MK_ERR_BUSY);
}

int main(void) {
    mk_options *options = mk_options_new();
    CHECK(mk_options_blocking(options, MK_BLOCK_WAIT) == MK_OK);
    struct shared shared = {mk_engine_with(options), mk_script_new(SOURCE, strlen(SOURCE)), NULL};
    mk_options_free(options);
    mk_client *client = mk_client_new(shared.engine);
    mk_reply_free(mk_command(client, "SET fixed value"));
    shared.reply = mk_command(client, "MGET fixed fixed");

    mk_client *waiting = mk_client_new(shared.engine);
    pthread_t threads[3];
    CHECK(pthread_create(&threads[0], NULL, consume, waiting) == 0);
    /* While the consumer waits, its client is inside a call: once it is, another thread is refused. */
    await_wait(waiting);
    for (int index = 1; index < 3; index++) {
        CHECK(pthread_create(&threads[index], NULL, work, &shared) == 0);
    }
    for (int index = 0; index < 3; index++) {
        CHECK(pthread_join(threads[index], NULL) == 0);
    }
    show("plain", client, WORDS("GET", "plain"));
    show("scripted", client, WORDS("GET", "scripted"));
    mk_reply_free((mk_reply *)(uintptr_t)shared.reply);
    CHECK(pthread_create(&threads[0], NULL, outlive, waiting) == 0);
    await_wait(waiting);
    mk_engine_free(shared.engine);
    CHECK(pthread_join(threads[0], NULL) == 0);
    mk_client_free(waiting);
    mk_client_free(client);
    mk_script_free(shared.script);
    return 0;
}
