/* Two sessions want the last piece of a stock, in exactly the order that goes wrong; the script that gets it right.
 *
 *     cc examples/c/stock_race.c -I include target/release/libmoonkeep.a -lm -lpthread -ldl -o stock_race && ./stock_race lua
 */
#include "moonkeep.h"

static const char STOCK[] = "stock:{p1}";

/* Fails loudly: an example that goes on after an error teaches nothing. */
static mk_reply *must(mk_reply *reply) {
    if (reply == NULL || mk_reply_type(reply) == MK_REPLY_ERROR) {
        fprintf(stderr, "failed: %s\n", reply == NULL ? mk_last_error() : mk_reply_str(reply));
        exit(1);
    }
    return reply;
}

static long long number(mk_reply *reply) {
    long long value = mk_reply_type(must(reply)) == MK_REPLY_STRING ? strtoll(mk_reply_str(reply), NULL, 10)
                                                                    : (long long)mk_reply_integer(reply);
    mk_reply_free(reply);
    return value;
}

/* GET, decide, DECR: between the first and the last somebody else does the same. */
static void naive(mk_client *alice, mk_client *bob) {
    mk_reply_free(must(mk_command(alice, "SET %s 1", STOCK)));
    long long alice_sees = number(mk_command(alice, "GET %s", STOCK));
    long long bob_sees = number(mk_command(bob, "GET %s", STOCK));
    int sold = 0;
    if (alice_sees > 0) {
        number(mk_command(alice, "DECR %s", STOCK));
        sold++;
    }
    if (bob_sees > 0) {
        number(mk_command(bob, "DECR %s", STOCK));
        sold++;
    }
    printf("GET, then DECR: sold %d of 1, stock is %lld\n", sold, number(mk_command(alice, "GET %s", STOCK)));
}

/* One script does all of it at once, whoever comes first. */
static void scripted(mk_client *alice, mk_client *bob, const mk_script *take) {
    mk_reply_free(must(mk_command(alice, "SET %s 1", STOCK)));
    mk_client *const buyers[] = {alice, bob};
    const char *const names[] = {"alice", "bob"};
    const char *const words[] = {STOCK, "1"}; /* one key, one argument */
    for (int index = 0; index < 2; index++) {
        mk_reply *reply = must(mk_script_run(buyers[index], take, 1, 2, words, NULL));
        printf("decrease_stock: %s %s, stock is %lld\n", names[index],
               mk_reply_integer(mk_reply_element(reply, 0)) == 1 ? "gets it" : "is refused",
               (long long)mk_reply_integer(mk_reply_element(reply, 1)));
        mk_reply_free(reply);
    }
}

/* The script, held to the contract in its header: what it may answer and change is checked in each call. */
static mk_script *load(const char *folder) {
    char path[512];
    char source[1 << 14];
    snprintf(path, sizeof path, "%s/decrease_stock.lua", folder);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    size_t length = fread(source, 1, sizeof source, file);
    fclose(file);
    mk_script *script = mk_script_checked(source, length, NULL, 0);
    if (script == NULL) {
        fprintf(stderr, "%s: %s\n", path, mk_last_error());
        exit(1);
    }
    return script;
}

int main(int argc, char **argv) {
    mk_engine *engine = mk_engine_new();
    mk_client *alice = mk_client_new(engine);
    mk_client *bob = mk_client_new(engine);
    mk_script *take = load(argc > 1 ? argv[1] : "lua");

    naive(alice, bob);
    mk_snapshot *before = mk_snapshot_new(engine);
    scripted(alice, bob, take);
    mk_snapshot *after = mk_snapshot_new(engine);
    mk_reply *changes = must(mk_snapshot_diff(before, after));
    for (size_t index = 0; index < mk_reply_elements(changes); index++) {
        printf("changed: %s\n", mk_reply_str(mk_reply_element(changes, index)));
    }

    mk_reply_free(changes);
    mk_snapshot_free(before);
    mk_snapshot_free(after);
    mk_script_free(take);
    mk_client_free(alice);
    mk_client_free(bob);
    mk_engine_free(engine);
    return 0;
}
