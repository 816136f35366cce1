/* moonkeep in unit tests of C code: a lease whose time runs out while the test holds the clock. The code under test is on top;
 * it would run against a server just the same, with redisCommand in the place of mk_command.
 *
 *     cc examples/c/lease.c -I include target/release/libmoonkeep.a -lm -lpthread -ldl -o lease && ./lease lua
 */
#include "moonkeep.h"

/* ---- the code under test: a lease on a key, by SET NX PX and two scripts ---- */

struct lease {
    mk_client *client;
    const mk_script *renew;
    const mk_script *unlock;
    const char *key;
    const char *token;
};

static int is_one(mk_reply *reply) {
    int answer = mk_reply_integer(reply) == 1;
    mk_reply_free(reply);
    return answer;
}

static int lease_acquire(const struct lease *lease, int ms) {
    mk_reply *reply = mk_command(lease->client, "SET %s %s NX PX %d", lease->key, lease->token, ms);
    int is_held = mk_reply_type(reply) == MK_REPLY_STATUS;
    mk_reply_free(reply);
    return is_held;
}

static int lease_renew(const struct lease *lease, const char *ms) {
    const char *const words[] = {lease->key, lease->token, ms};
    return is_one(mk_script_run(lease->client, lease->renew, 1, 3, words, NULL));
}

static int lease_release(const struct lease *lease) {
    const char *const words[] = {lease->key, lease->token};
    return is_one(mk_script_run(lease->client, lease->unlock, 1, 2, words, NULL));
}

/* ---- its tests ---- */

#define EXPECT(truth)                                                      \
    do {                                                                   \
        if (!(truth)) {                                                    \
            printf("not ok %s: %s, line %d\n", __func__, #truth, __LINE__); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

/* What each test gets: an engine of its own, which costs a microsecond, and two holders. */
struct world {
    mk_engine *engine;
    struct lease mine;
    struct lease theirs;
};

static void is_free_again_when_its_time_is_over(struct world *world) {
    EXPECT(lease_acquire(&world->mine, 5000));
    EXPECT(!lease_acquire(&world->theirs, 5000));
    mk_advance_ms(world->engine, 5000);
    EXPECT(!lease_acquire(&world->theirs, 5000)); /* the last millisecond is ours */
    mk_advance_ms(world->engine, 1);
    EXPECT(lease_acquire(&world->theirs, 5000));
}

static void lasts_as_long_as_it_is_renewed(struct world *world) {
    EXPECT(lease_acquire(&world->mine, 5000));
    for (int hour = 0; hour < 24; hour++) {
        for (int second = 0; second < 3600; second += 4) {
            mk_advance_ms(world->engine, 4000);
            EXPECT(lease_renew(&world->mine, "5000"));
        }
    }
    EXPECT(!lease_acquire(&world->theirs, 5000));
}

static void cannot_be_renewed_too_late(struct world *world) {
    EXPECT(lease_acquire(&world->mine, 5000));
    mk_advance_ms(world->engine, 7000); /* we slept */
    EXPECT(!lease_renew(&world->mine, "5000"));
}

static void is_not_released_by_who_lost_it(struct world *world) {
    EXPECT(lease_acquire(&world->mine, 5000));
    mk_advance_ms(world->engine, 7000);
    EXPECT(lease_acquire(&world->theirs, 5000));
    EXPECT(!lease_release(&world->mine));
    EXPECT(lease_release(&world->theirs));
}

static void is_held_when_the_reply_is_lost(struct world *world) {
    mk_reply_free(mk_command(world->mine.client, "DEBUG FAULT REPLIES COUNT 1 ONLY set"));
    EXPECT(!lease_acquire(&world->mine, 5000)); /* so it seems */
    EXPECT(mk_last_error_code() == MK_ERR_LOST);
    EXPECT(lease_renew(&world->mine, "5000")); /* our token stands there: it is ours */
}

static mk_script *load(const char *folder, const char *name) {
    char path[512];
    char source[1 << 14];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    size_t length = fread(source, 1, sizeof source, file);
    fclose(file);
    return mk_script_new(source, length);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "lua";
    mk_script *renew = load(folder, "renew_lock.lua");
    mk_script *unlock = load(folder, "unlock.lua");
    const struct {
        const char *name;
        void (*run)(struct world *);
    } tests[] = {
        {"is free again when its time is over", is_free_again_when_its_time_is_over},
        {"lasts as long as it is renewed", lasts_as_long_as_it_is_renewed},
        {"cannot be renewed too late", cannot_be_renewed_too_late},
        {"is not released by who lost it", is_not_released_by_who_lost_it},
        {"is held when the reply is lost", is_held_when_the_reply_is_lost},
    };
    for (size_t index = 0; index < sizeof tests / sizeof *tests; index++) {
        struct world world;
        world.engine = mk_engine_new();
        world.mine = (struct lease){mk_client_new(world.engine), renew, unlock, "lock:{p1}", "token-of-mine-0123"};
        world.theirs = (struct lease){mk_client_new(world.engine), renew, unlock, "lock:{p1}", "token-of-theirs-45"};
        int64_t start_ms = mk_now_ms(world.engine);
        tests[index].run(&world);
        printf("ok: a lease %s (%lld ms of its clock)\n", tests[index].name,
               (long long)(mk_now_ms(world.engine) - start_ms));
        mk_client_free(world.mine.client);
        mk_client_free(world.theirs.client);
        mk_engine_free(world.engine);
    }
    mk_script_free(renew);
    mk_script_free(unlock);
    return 0;
}
