/* What the C tests share: a check that names its line, and calls of a few words. */
#ifndef CHECK_H
#define CHECK_H

#include "moonkeep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(truth)                                                                       \
    do {                                                                                   \
        if (!(truth)) {                                                                    \
            fprintf(stderr, "%s:%d: not so: %s (last error %d: %s)\n", __FILE__, __LINE__, \
                    #truth, mk_last_error_code(), mk_last_error());                        \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

#define WORDS(...) \
    (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]){__VA_ARGS__}, NULL

/* Prints a reply on one line, without the end of the line. */
static inline void print_reply(const mk_reply *reply) {
    size_t count = mk_reply_elements(reply);
    switch (mk_reply_type(reply)) {
    case MK_REPLY_INTEGER:
    case MK_REPLY_BOOL:
        printf("%lld", (long long)mk_reply_integer(reply));
        break;
    case MK_REPLY_NIL:
        printf("nil");
        break;
    case MK_REPLY_STATUS:
        printf("+%s", mk_reply_str(reply));
        break;
    case MK_REPLY_ERROR:
        printf("-%s", mk_reply_str(reply));
        break;
    case MK_REPLY_ARRAY:
    case MK_REPLY_MAP:
    case MK_REPLY_SET:
    case MK_REPLY_PUSH:
        printf("[");
        for (size_t index = 0; index < count; index++) {
            printf("%s", index > 0 ? ", " : "");
            print_reply(mk_reply_element(reply, index));
        }
        printf("]");
        break;
    case MK_REPLY_NONE:
        printf("none");
        break;
    default:
        printf("\"%s\"", mk_reply_str(reply));
    }
}

/* Reads a file; the caller frees it. */
static inline char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    char *text = (char *)malloc(1 << 16);
    CHECK(text != NULL);
    *length = fread(text, 1, 1 << 16, file);
    CHECK(*length > 0 && *length < 1 << 16);
    fclose(file);
    return text;
}

/* Runs a command and prints `what: reply`. */
static inline void show(const char *what, mk_client *client, int argc, const char *const *argv,
                        const size_t *argvlen) {
    mk_reply *reply = mk_call(client, argc, argv, argvlen);
    CHECK(reply != NULL);
    printf("%s: ", what);
    print_reply(reply);
    printf("\n");
    mk_reply_free(reply);
}

#endif
