/* mk_command: each conversion, what joins a word and what parts words, and what is refused. */
#include "check.h"
#include <stdint.h>

/* Prints the words that a script was given, quoted, and frees the reply. */
static void words(const char *what, mk_reply *reply) {
    CHECK(reply != NULL);
    printf("%s:", what);
    for (size_t index = 0; index < mk_reply_elements(reply); index++) {
        printf(" [%s]", mk_reply_str(mk_reply_element(reply, index)));
    }
    printf("\n");
    mk_reply_free(reply);
}

static void refused(const char *what, mk_reply *reply, int code) {
    CHECK(reply == NULL);
    CHECK(mk_last_error_code() == code);
    printf("%s: %s\n", what, mk_last_error());
}

#define BACK "EVAL %s 0 "
#define SOURCE "return ARGV"

static void texts(mk_client *client) {
    words("plain", mk_command(client, BACK "a bb  ccc ", SOURCE));
    words("text", mk_command(client, BACK "%s", SOURCE, "two words"));
    words("joined", mk_command(client, BACK "key:%s:%s", SOURCE, "a", "b c"));
    words("empty", mk_command(client, BACK "%s x%sy", SOURCE, "", ""));
    words("bytes", mk_command(client, BACK "%b|%b", SOURCE, "abcdef", (size_t)3, "", (size_t)0));
    words("no bytes", mk_command(client, BACK "%b", SOURCE, NULL, (size_t)0));
    words("percent", mk_command(client, BACK "100%% %%s", SOURCE));
    words("quotes", mk_command(client, BACK "\"a b\"", SOURCE));
    mk_reply *reply = mk_command(client, "ECHO %b", "a\0b", (size_t)3);
    CHECK(mk_reply_len(reply) == 3 && memcmp(mk_reply_str(reply), "a\0b", 4) == 0);
    mk_reply_free(reply);
}

static void numbers(mk_client *client) {
    words("d i", mk_command(client, BACK "%d %i %d", SOURCE, 7, -7, INT32_MIN));
    words("u o x X", mk_command(client, BACK "%u %o %x %X", SOURCE, 4000000000U, 8U, 255U, 255U));
    words("hh h", mk_command(client, BACK "%hhd %hhu %hd %hu", SOURCE, 300, 300U, 70000, 70000U));
    words("l ll", mk_command(client, BACK "%ld %lu %lld %llu", SOURCE, -1L, 1UL, (long long)INT64_MIN,
                             (unsigned long long)UINT64_MAX));
    words("z j t", mk_command(client, BACK "%zu %zd %jd %ju %td", SOURCE, (size_t)5, (ptrdiff_t)-5, (intmax_t)-6,
                              (uintmax_t)6, (ptrdiff_t)-7));
    words("f e g a", mk_command(client, BACK "%f %.2f %e %g %a %G", SOURCE, 1.5, 2.0 / 3, 1e10, 1e-7, 1.0, 1e-7));
    words("flags", mk_command(client, BACK "%05d %+d %-4d| %#x %.3d %8.3f %.17g", SOURCE, 42, 42, 42, 255U, 7, 3.14159, 0.1));
    words("joined", mk_command(client, BACK "n:%d:%s", SOURCE, 1, "x"));
    mk_reply *reply = mk_command(client, "ECHO %.999f", 1.7976931348623157e308);
    CHECK(mk_reply_len(reply) == 309 + 1 + 999);
    mk_reply_free(reply);
}

static void many(mk_client *client) {
    char format[4096] = "RPUSH many";
    for (int index = 0; index < 1000; index++) {
        strcat(format, " x");
    }
    mk_reply *reply = mk_command(client, format);
    CHECK(mk_reply_integer(reply) == 1000);
    mk_reply_free(reply);
    char *large = malloc(1 << 20);
    CHECK(large != NULL);
    memset(large, 'a', 1 << 20);
    reply = mk_command(client, "SET large %b", large, (size_t)1 << 20);
    CHECK(strcmp(mk_reply_str(reply), "OK") == 0);
    mk_reply_free(reply);
    reply = mk_command(client, "STRLEN large");
    CHECK(mk_reply_integer(reply) == 1 << 20);
    mk_reply_free(reply);
    free(large);
}

static mk_reply *by_list(mk_client *client, const char *format, ...) {
    va_list args;
    va_start(args, format);
    mk_reply *reply = mk_vcommand(client, format, args);
    /* The list was not used up. */
    CHECK(strcmp(va_arg(args, const char *), "k") == 0);
    va_end(args);
    return reply;
}

static void misuse(mk_client *client) {
    refused("no client", mk_command(NULL, "PING"), MK_ERR_NULL);
    refused("no format", mk_command(client, NULL), MK_ERR_NULL);
    refused("empty", mk_command(client, ""), MK_ERR_USAGE);
    refused("spaces", mk_command(client, "   "), MK_ERR_USAGE);
    refused("no text", mk_command(client, "GET %s", (const char *)NULL), MK_ERR_NULL);
    refused("no bytes", mk_command(client, "GET %b", NULL, (size_t)1), MK_ERR_NULL);
    const size_t lengths[] = {(size_t)-1, (size_t)-2, ((size_t)512 << 20) + 1};
    for (size_t index = 0; index < sizeof lengths / sizeof *lengths; index++) {
        CHECK(mk_command(client, "GET %b", "abc", lengths[index]) == NULL);
        CHECK(mk_last_error_code() == MK_ERR_USAGE);
    }
    const char *const wrong[] = {"GET %", "GET %y", "GET %c", "GET %p", "GET %n", "GET %*d", "GET %lf", "GET %Lf", "GET %lll",
                                 "GET %hld", "GET %1000d", "GET %.", "GET %5", "GET %+ #-0+d", "GET %ls", "GET %5s"};
    for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
        refused(wrong[index], mk_command(client, wrong[index], 1, 2, 3), MK_ERR_USAGE);
    }
}

int main(void) {
    mk_engine *engine = mk_engine_new();
    mk_client *client = mk_client_new(engine);
    texts(client);
    numbers(client);
    many(client);
    words("list", by_list(client, "LRANGE %s 0 -1", "k"));
    misuse(client);
    CHECK(mk_note_error(1000, "mine") == 1000);
    CHECK(mk_last_error_code() == 1000 && strcmp(mk_last_error(), "mine") == 0);
    CHECK(mk_note_error(1000, NULL) == MK_ERR_NULL);
    mk_client_free(client);
    mk_engine_free(engine);
    return 0;
}
