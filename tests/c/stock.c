/* The stock script from C. Usage: stock lua/ */
#include "check.h"

static const char KEY[] = "demo:repair:stock:{p1}:ten";

/* The script's SHA1, as SCRIPT LOAD gives it. */
static void load(mk_client *client, const char *folder, char sha[41]) {
    size_t lengths[] = {6, 4, 0};
    char path[512];
    snprintf(path, sizeof path, "%s/decrease_stock.lua", folder);
    char *text = read_file(path, &lengths[2]);
    const char *words[] = {"SCRIPT", "LOAD", text};
    mk_reply *reply = mk_call(client, 3, words, lengths);
    CHECK(mk_reply_type(reply) == MK_REPLY_STRING);
    CHECK(mk_reply_len(reply) == 40);
    memcpy(sha, mk_reply_str(reply), 41);
    mk_reply_free(reply);
    free(text);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    mk_engine *engine = mk_engine_new();
    mk_client *client = mk_client_new(engine);
    char sha[41];
    load(client, argv[1], sha);

    show("missing", client, WORDS("EVALSHA", sha, "1", KEY, "1"));
    show("stock", client, WORDS("SET", KEY, "10", "PX", "100000"));
    show("take 2", client, WORDS("EVALSHA", sha, "1", KEY, "2"));
    show("take 11", client, WORDS("EVALSHA", sha, "1", KEY, "11"));
    show("take 00", client, WORDS("EVALSHA", sha, "1", KEY, "00"));
    show("no argument", client, WORDS("EVALSHA", sha, "1", KEY));
    show("no script", client, WORDS("EVALSHA", "0000000000000000000000000000000000000000", "0"));

    mk_reply *reply = mk_call(client, WORDS("EVALSHA", sha, "1", KEY, "8"));
    CHECK(mk_reply_integer(mk_reply_element(reply, 0)) == 1);
    CHECK(mk_reply_integer(mk_reply_element(reply, 1)) == 0);
    mk_reply_free(reply);

    show("sold out", client, WORDS("EVALSHA", sha, "1", KEY, "1"));
    CHECK(mk_advance_ms(engine, 100000) == MK_OK);
    show("at its last instant", client, WORDS("GET", KEY));
    CHECK(mk_advance_ms(engine, 1) == MK_OK);
    show("gone", client, WORDS("EVALSHA", sha, "1", KEY, "1"));

    mk_client_free(client);
    mk_engine_free(engine);
    return 0;
}
