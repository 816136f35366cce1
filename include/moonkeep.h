/*
 * moonkeep: an embeddable, Lua-scripted state engine with the commands and scripts of Redis 7.
 *
 *     mk_engine *engine = mk_engine_new();
 *     mk_client *client = mk_client_new(engine);
 *     const char *argv[] = {"INCR", "visits"};
 *     mk_reply *reply = mk_call(client, 2, argv, NULL);
 *     printf("%lld\n", (long long)mk_reply_integer(reply));
 *     mk_reply_free(reply);
 *     mk_client_free(client);
 *     mk_engine_free(engine);
 *
 * Failures. Functions that give a pointer give NULL on failure, mk_advance_ms a code. mk_last_error and
 * mk_last_error_code tell the reason, kept for each thread. NULL may be given anywhere: it is reported as
 * MK_ERR_NULL, ignored by the functions that free, and read as an empty reply by those that read replies, so that
 * mk_reply_integer(mk_reply_element(reply, 1)) needs no check between. An error that a command or a script answers is
 * no failure but a reply of type MK_REPLY_ERROR.
 *
 * Ownership. What mk_engine_new, mk_client_new and mk_call give belongs to the caller, who frees each once with the
 * function of that name. Engine, clients and replies may be freed in any order: replies stand alone, and clients of a
 * freed engine stay valid but refuse calls with MK_ERR_CLOSED. Texts and elements belong to their reply. Using a
 * pointer after it was freed, or freeing it twice, is undefined, as everywhere in C.
 *
 * Threads. An engine may be used by any number of threads at once, a client by one at a time (a second one is refused
 * with MK_ERR_BUSY), a reply may be read by many. Freeing must not race with any use of the same pointer.
 *
 * Panics. No Rust panic and no C++ exception leaves the library: a panic becomes MK_ERR_PANIC, and an engine in which
 * one struck refuses all further calls with MK_ERR_POISONED.
 */


#ifndef MOONKEEP_H
#define MOONKEEP_H

/* Generated from src/front/capi.rs by cbindgen (tests/capi.rs); edit that. */

#include <stddef.h>
#include <stdint.h>

/**
 * The version of this interface. A program checks once that `mk_abi_version() == MK_ABI_VERSION`.
 */
#define MK_ABI_VERSION 1

/**
 * Success.
 */
#define MK_OK 0

/**
 * A pointer that must not be NULL is NULL.
 */
#define MK_ERR_NULL 1

/**
 * An argument is not what the function takes; `mk_last_error` says what is allowed.
 */
#define MK_ERR_USAGE 2

/**
 * The engine of this client was freed, or its session ended by QUIT or CLIENT KILL.
 */
#define MK_ERR_CLOSED 3

/**
 * The client is inside another call, of another thread or of this one.
 */
#define MK_ERR_BUSY 4

/**
 * The engine was entered again by the thread that is inside it.
 */
#define MK_ERR_REENTERED 5

/**
 * An earlier panic left the engine unusable; free it and make a new one.
 */
#define MK_ERR_POISONED 6

/**
 * The command would wait for another client.
 */
#define MK_ERR_WOULD_BLOCK 7

/**
 * A panic inside the library was caught. If it struck inside an engine, that engine is poisoned from now on.
 */
#define MK_ERR_PANIC 8

/**
 * The engine was told to lose requests or replies, and this one is lost.
 */
#define MK_ERR_LOST 9

/**
 * What `mk_reply_type` gives for NULL: not a reply.
 */
#define MK_REPLY_NONE 0

/**
 * A string of any bytes: `mk_reply_str`, `mk_reply_len`.
 */
#define MK_REPLY_STRING 1

/**
 * An array: `mk_reply_elements`, `mk_reply_element`.
 */
#define MK_REPLY_ARRAY 2

/**
 * An integer: `mk_reply_integer`.
 */
#define MK_REPLY_INTEGER 3

/**
 * A null.
 */
#define MK_REPLY_NIL 4

/**
 * A status such as `OK`: `mk_reply_str`.
 */
#define MK_REPLY_STATUS 5

/**
 * An error reply, code first: `mk_reply_str`.
 */
#define MK_REPLY_ERROR 6

/**
 * A double: `mk_reply_dval`, and as text `mk_reply_str`.
 */
#define MK_REPLY_DOUBLE 7

/**
 * A boolean: `mk_reply_integer` is 1 or 0.
 */
#define MK_REPLY_BOOL 8

/**
 * A map: its keys and values in turn are the elements.
 */
#define MK_REPLY_MAP 9

/**
 * A set: its members are the elements.
 */
#define MK_REPLY_SET 10

/**
 * What is said of the value that follows: keys and values in turn are the elements.
 */
#define MK_REPLY_ATTR 11

/**
 * A push message: an array that no command asked for.
 */
#define MK_REPLY_PUSH 12

/**
 * An integer of any size in decimal: `mk_reply_str`.
 */
#define MK_REPLY_BIGNUM 13

/**
 * A text for people: `mk_reply_str`.
 */
#define MK_REPLY_VERB 14

/**
 * A session in an engine, as a connection is on a server: it has its own database number, transaction and watched
 * keys. One thread at a time may use it; it may move from thread to thread.
 */
typedef struct mk_client mk_client;

/**
 * An engine: databases, scripts and the clock. Any number of threads may use one at the same time.
 */
typedef struct mk_engine mk_engine;

/**
 * A reply, or an element of one. It does not change: any number of threads may read it.
 */
typedef struct mk_reply mk_reply;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the interface that the library was built with; never 0. See `MK_ABI_VERSION`.
 */
int mk_abi_version(void);

/**
 * The version of the library, as in `0.1.0`. Never freed.
 */
const char *mk_version(void);

/**
 * What the last failure of this thread was, in words; empty when there was none. As with errno, a success does not
 * reset it: read it right after a function gave a code or NULL. Owned by the library; valid until the next failure of
 * this thread.
 */
const char *mk_last_error(void);

/**
 * The code (`MK_ERR_...`) of the last failure of this thread; `MK_OK` when there was none.
 */
int mk_last_error_code(void);

/**
 * Makes an engine with 16 empty databases and a clock that stands at the start of 2024 until `mk_advance_ms` moves it.
 * Owned by the caller: `mk_engine_free`. NULL on failure.
 */
mk_engine *mk_engine_new(void);

/**
 * Closes and frees an engine; NULL is ignored. Its clients stay valid and must still be freed, but each call through
 * them fails with `MK_ERR_CLOSED`. The memory of the databases is returned with the last client. A call that another
 * thread has begun is finished.
 *
 * # Safety
 * `engine` came from `mk_engine_new`, was not freed, and no other thread uses this pointer from now on.
 */
void mk_engine_free(mk_engine *engine);

/**
 * Opens a session in an engine. Owned by the caller: `mk_client_free`, before or after the engine is freed. NULL on
 * failure.
 *
 * # Safety
 * `engine` is NULL or a living engine.
 */
mk_client *mk_client_new(const mk_engine *engine);

/**
 * Closes and frees a session; NULL is ignored. Its replies stay valid.
 *
 * # Safety
 * `client` came from `mk_client_new`, was not freed, and no other thread uses it.
 */
void mk_client_free(mk_client *client);

/**
 * Moves the engine's clock on by so many milliseconds and expires what is due, earliest first. Gives `MK_OK` or a code.
 *
 * # Safety
 * `engine` is NULL or a living engine.
 */
int mk_advance_ms(const mk_engine *engine,
                  int64_t ms);

/**
 * Runs a command: `argc` words (the name first) at `argv`, with their lengths at `argvlen`, so that a word may hold any
 * bytes, up to 512 MiB. `argvlen` may be NULL: then each word ends at its NUL. A word of length 0 may be NULL.
 *
 * Gives the reply, owned by the caller: `mk_reply_free`. An error of the command or script is a reply too, of type
 * `MK_REPLY_ERROR`. NULL when the call was not made: `mk_last_error` says why, and nothing was changed but after
 * `MK_ERR_PANIC`.
 *
 * # Safety
 * `client` is NULL or a living client; `argv` and `argvlen` are NULL or hold `argc` entries; each word can be read for
 * its length.
 */
mk_reply *mk_call(mk_client *client,
                  int argc,
                  const char *const *argv,
                  const size_t *argvlen);

/**
 * What kind of reply it is (`MK_REPLY_...`): as with RESP3, whatever HELLO chose. `MK_REPLY_NONE` for NULL.
 *
 * # Safety
 * `reply` is NULL or a living reply; so for each function on replies.
 */
int mk_reply_type(const mk_reply *reply);

/**
 * The number of an integer, 1 or 0 for a boolean; 0 for all else.
 *
 * # Safety
 * As `mk_reply_type`.
 */
int64_t mk_reply_integer(const mk_reply *reply);

/**
 * The number of a double; 0 for all else.
 *
 * # Safety
 * As `mk_reply_type`.
 */
double mk_reply_dval(const mk_reply *reply);

/**
 * The bytes of a string, status, error, double, big number or verbatim text; NULL for all else. They may hold NULs, so
 * `mk_reply_len` counts them, and one more NUL stands behind them. Valid as long as the whole reply.
 *
 * # Safety
 * As `mk_reply_type`.
 */
const char *mk_reply_str(const mk_reply *reply);

/**
 * How many bytes `mk_reply_str` gives; 0 where it gives NULL.
 *
 * # Safety
 * As `mk_reply_type`.
 */
size_t mk_reply_len(const mk_reply *reply);

/**
 * How many elements an array, set or push message has, twice the pairs of a map; 0 for all else.
 *
 * # Safety
 * As `mk_reply_type`.
 */
size_t mk_reply_elements(const mk_reply *reply);

/**
 * An element, from 0 on; NULL when there is none. It belongs to the whole reply: valid as long, never freed itself.
 *
 * # Safety
 * As `mk_reply_type`.
 */
const mk_reply *mk_reply_element(const mk_reply *reply,
                                 size_t index);

/**
 * Frees a reply with all its elements; NULL is ignored. An element alone is refused: nothing happens but that
 * `mk_last_error` says so.
 *
 * # Safety
 * `reply` came from `mk_call` (or is an element of what did), was not freed, and no other thread uses it.
 */
void mk_reply_free(mk_reply *reply);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MOONKEEP_H */
