/*
 * moonkeep: an embeddable, Lua-scripted state engine with the commands and scripts of Redis 7, on a clock that you hold.
 *
 *     mk_engine *engine = mk_engine_new();
 *     mk_client *client = mk_client_new(engine);
 *     mk_reply *reply = mk_command(client, "SET lock:%s %s NX PX %d", "p1", "me", 5000);
 *     mk_reply_free(reply);
 *     mk_advance_ms(engine, 5001);
 *     reply = mk_command(client, "EXISTS lock:p1");
 *     printf("%lld\n", (long long)mk_reply_integer(reply));        0: the lock is over, and nobody slept
 *     mk_reply_free(reply);
 *     mk_client_free(client);
 *     mk_engine_free(engine);
 *
 * What there is: mk_engine, with a clock and, by mk_options, other settings; mk_client, a session in it; mk_call, mk_command
 * and mk_call_borrow, which run commands; mk_reply, what they answer; mk_script, run with keys and arguments or held to a
 * contract; mk_start and mk_poll for calls that wait, mk_next_message for what is published; mk_snapshot to go back, to
 * fork, to compare; mk_journal, what was written. Commands are those of the server: any of them can be called, with
 * DEBUG FAULT REPLIES COUNT 1 the next reply is lost, and docs/COMMANDS.md lists them all.
 *
 * Failures. Functions that give a pointer give NULL on failure, those that give an int a code: MK_OK, which is 0, or one of
 * MK_ERR_... mk_last_error and mk_last_error_code tell the reason, kept for each thread. NULL may be given anywhere: it is
 * reported as MK_ERR_NULL, ignored by the functions that free, and read as an empty reply by those that read replies, so
 * that mk_reply_integer(mk_reply_element(reply, 1)) needs no check between. An error that a command or a script answers is
 * no failure but a reply of type MK_REPLY_ERROR. A function that fails has changed nothing, but where it says so.
 *
 * Ownership. What a function gives belongs to the caller, who frees it once with the function of its type, where the
 * function says so. All may be freed in any order: replies, scripts and snapshots stand alone, and clients of a freed engine
 * stay valid but refuse calls with MK_ERR_CLOSED. Texts and elements belong to their reply. What is passed in is copied
 * where it is kept. A second free of an engine, a client, options, a script, a snapshot or a journal is noticed and refused
 * as long as nothing new stands at its address; a second free of a reply, and any other use after a free, is undefined, as
 * everywhere in C.
 *
 * Threads. Engines, scripts, snapshots and journals may be used by any number of threads at once, a client by one at a time
 * (a second one is refused with MK_ERR_BUSY), a reply may be read by many. Freeing must not race with any use of the same
 * pointer. An engine runs one command or script at a time, whoever calls. There are no threads of its own.
 *
 * Panics. No Rust panic and no C++ exception leaves the library: a panic becomes MK_ERR_PANIC, and an engine in which one
 * struck refuses all further calls with MK_ERR_POISONED, until mk_restore.
 *
 * Versions. mk_abi_version() != MK_ABI_VERSION means that header and library do not belong together. Constants keep their
 * numbers, types stay opaque, and what is added leaves the version as it is.
 */


#ifndef MOONKEEP_H
#define MOONKEEP_H

/* Generated from src/front/capi by cbindgen (tests/capi/header.rs); edit that. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * The version of this interface. A program checks once that `mk_abi_version() == MK_ABI_VERSION`: it grows when a
 * function changes or goes; what is only added leaves it as it is.
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
 * The client is inside another call, of another thread or of this one; or a script of another thread keeps the engine for
 * longer than busy-reply-threshold, which `mk_call` answers with an error reply.
 */
#define MK_ERR_BUSY 4

/**
 * The engine was entered again by the thread that is inside it.
 */
#define MK_ERR_REENTERED 5

/**
 * An earlier panic left the engine unusable; free it and make a new one, or restore a snapshot.
 */
#define MK_ERR_POISONED 6

/**
 * The command would wait for another client or for time to pass, and must not: see `mk_options_blocking`, `mk_start`.
 */
#define MK_ERR_WOULD_BLOCK 7

/**
 * A panic inside the library was caught. If it struck inside an engine, that engine is poisoned from now on.
 */
#define MK_ERR_PANIC 8

/**
 * The engine was told (DEBUG FAULT) to lose requests or replies, and this one is lost.
 */
#define MK_ERR_LOST 9

/**
 * A script did not do what its contract promises; `mk_last_error` says what. The script has run.
 */
#define MK_ERR_BREACH 10

/**
 * Units of work of a script: one is about an instruction of the Lua VM. Default: 500 million.
 */
#define MK_LIMIT_WORK 1

/**
 * Real time of a script in milliseconds, far above the limit of work. Default: 30 000.
 */
#define MK_LIMIT_TIME_MS 2

/**
 * Bytes that Lua may hold. Default: 64 MiB.
 */
#define MK_LIMIT_MEMORY 3

/**
 * Bytes of a script's text. Default: 1 MiB.
 */
#define MK_LIMIT_SOURCE 4

/**
 * Bytes of a string that a script makes or reads. Default: 16 MiB.
 */
#define MK_LIMIT_STRING 5

/**
 * Bytes that a script may pass to commands and get from them. Default: 640 MiB.
 */
#define MK_LIMIT_TRAFFIC 6

/**
 * Bytes of what a script returns, 16 for each element counted in. Default: 64 MiB.
 */
#define MK_LIMIT_REPLY 7

/**
 * How deep arrays may lie in each other in what a script returns, at most 1000. Default: 256.
 */
#define MK_LIMIT_NESTING 8

/**
 * A call that has to wait (BLPOP on an empty list) stops its thread on the system's clock, and is refused with
 * `MK_ERR_WOULD_BLOCK` on a manual one. The default.
 */
#define MK_BLOCK_BY_CLOCK 0

/**
 * It stops its thread until another one serves it or moves the clock.
 */
#define MK_BLOCK_WAIT 1

/**
 * It is refused with `MK_ERR_WOULD_BLOCK`.
 */
#define MK_BLOCK_REFUSE 2

/**
 * It moves a manual clock on to the end of its timeout; without a timeout it is refused.
 */
#define MK_BLOCK_ADVANCE 3

/**
 * What `mk_reply_type` gives for NULL: not a reply. The numbers of the types are those of hiredis.
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
 * A push message, as SUBSCRIBE and what is published give it: its parts are the elements.
 */
#define MK_REPLY_PUSH 12

/**
 * An integer of any size in decimal: `mk_reply_str`.
 */
#define MK_REPLY_BIGNUM 13

/**
 * A text for people: `mk_reply_str`; its format, as `txt`: `mk_reply_vtype`.
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
 * A reader of an engine's journal. Any number of threads may use one; each entry is given once.
 */
typedef struct mk_journal mk_journal;

/**
 * Settings for engines that are to be made. One thread at a time changes them.
 */
typedef struct mk_options mk_options;

/**
 * A reply, or an element of one. It does not change: any number of threads may read it.
 */
typedef struct mk_reply mk_reply;

/**
 * A Lua script, ready to be run any number of times, by any number of threads, in any engine.
 */
typedef struct mk_script mk_script;

/**
 * The state of an engine at one time: databases, scripts, settings, randomness and the time; clients are no part of it. It
 * does not change: any number of threads may use it. Cheap: nothing is copied that the engine does not change later.
 */
typedef struct mk_snapshot mk_snapshot;

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
 * For code that builds on this interface, as `mk_command` does: notes a failure of its own, which `mk_last_error` then
 * tells as it tells the library's. Gives the code back.
 */
int mk_note_error(int code,
                  const char *text);

/**
 * Makes an engine with 16 empty databases and a clock that stands at the start of 2024 until `mk_advance_ms` moves it.
 * Owned by the caller: `mk_engine_free`. NULL on failure.
 */
mk_engine *mk_engine_new(void);

/**
 * Makes an engine with other settings, which are only read: further engines can be made with them. Owned by the caller:
 * `mk_engine_free`. NULL on failure.
 */
mk_engine *mk_engine_with(mk_options *options);

/**
 * Closes and frees an engine; NULL is ignored. Its clients stay valid and must still be freed, but each call through
 * them fails with `MK_ERR_CLOSED`. The memory of the databases is returned with the last client. A call that another
 * thread has begun is finished, and waited for; one that waits itself (BLPOP, `mk_wait_message`) fails with
 * `MK_ERR_CLOSED`. What is not a living engine is refused, as far as it can be told: `MK_ERR_USAGE` in
 * `mk_last_error_code`. No other thread uses this pointer from now on.
 */
void mk_engine_free(mk_engine *engine);

/**
 * Moves the engine's clock on by so many milliseconds and expires what is due, earliest first. `MK_OK` or a code:
 * `MK_ERR_USAGE` on the system's clock.
 */
int mk_advance_ms(mk_engine *engine,
                  int64_t ms);

/**
 * Sets the engine's clock to this Unix time in milliseconds, also backwards (not before 1970), and expires what is due.
 * `MK_OK` or a code: `MK_ERR_USAGE` on the system's clock.
 */
int mk_set_time_ms(mk_engine *engine,
                   int64_t unix_ms);

/**
 * The engine's time in Unix milliseconds; -1 on failure.
 */
int64_t mk_now_ms(mk_engine *engine);

/**
 * On the system's clock, for who keeps an engine for long and has nothing else to do: expires what is due and ends the
 * waiting of those whose timeout is over; any call does a little of it too. `*idle_ms` is how long nothing is to be done by
 * the clock, -1 for no end, as on a manual clock, which does all of this when it is moved. `MK_OK` or a code.
 */
int mk_keep_time(mk_engine *engine,
                 int64_t *idle_ms);

/**
 * Empties all databases at once; clients, scripts, settings and the clock stay as they are. `MK_OK` or a code.
 */
int mk_reset(mk_engine *engine);

/**
 * Stops the script that runs, whatever it has written, from another thread; does not wait for the engine. `MK_OK`, when
 * none runs too, or a code.
 */
int mk_kill_script(mk_engine *engine);

/**
 * Takes what scripts wrote with `redis.log`, the oldest line first: an array of lines as in `warning: text`, owned by the
 * caller (`mk_reply_free`). The last thousand lines are kept. NULL on failure.
 */
mk_reply *mk_take_log(mk_engine *engine);

/**
 * Settings as `mk_engine_new` has them, to be changed. Owned by the caller: `mk_options_free`. NULL on failure.
 */
mk_options *mk_options_new(void);

/**
 * Frees settings; NULL is ignored, and what is not living settings refused as far as it can be told. Engines that were
 * made with them stay as they are.
 */
void mk_options_free(mk_options *options);

/**
 * A clock that stands at this Unix time in milliseconds until it is moved. `MK_OK` or a code.
 */
int mk_options_manual_clock(mk_options *options, int64_t unix_ms);

/**
 * The system's clock, which nobody moves. `MK_OK` or a code.
 */
int mk_options_system_clock(mk_options *options);

/**
 * The seed of all randomness, of commands and scripts: the same calls then have the same results. Default: 0. `MK_OK` or a
 * code.
 */
int mk_options_seed(mk_options *options,
                    uint64_t seed);

/**
 * The seed of the hash tables: choose it at random where keys come from people you do not trust. Default: 0. `MK_OK` or a
 * code.
 */
int mk_options_hash_seed(mk_options *options,
                         uint64_t seed);

/**
 * How many databases SELECT knows, 1 to 1,000,000. Default: 16. `MK_OK` or a code.
 */
int mk_options_databases(mk_options *options, int databases);

/**
 * A parameter of the server's configuration file by its name, as `maxmemory`, also one that CONFIG SET does not change.
 * `MK_OK` or a code: `MK_ERR_USAGE` when there is no such parameter, or it does not take the value.
 */
int mk_options_setting(mk_options *options,
                       const char *name,
                       const char *value);

/**
 * What a script may spend: `which` is one of `MK_LIMIT_...`. `MK_OK` or a code.
 */
int mk_options_limit(mk_options *options, int which, uint64_t value);

/**
 * What becomes of a call that has to wait: one of `MK_BLOCK_...`. `MK_OK` or a code.
 */
int mk_options_blocking(mk_options *options, int how);

/**
 * Opens a session in an engine. Owned by the caller: `mk_client_free`, before or after the engine is freed. NULL on
 * failure.
 */
mk_client *mk_client_new(mk_engine *engine);

/**
 * Closes and frees a session; NULL is ignored. Replies that `mk_call` gave stay valid; the one that `mk_call_borrow` gave
 * last does not. What is not a living client is refused, as far as it can be told: `MK_ERR_USAGE` in
 * `mk_last_error_code`. No other thread uses the client.
 */
void mk_client_free(mk_client *client);

/**
 * Runs a command: `argc` words (the name first) at `argv`, with their lengths at `argvlen`, so that a word may hold any
 * bytes, up to 512 MiB. `argvlen` may be NULL: then each word ends at its NUL. A word of length 0 may be NULL.
 *
 * Gives the reply, owned by the caller: `mk_reply_free`. An error of the command or script is a reply too, of type
 * `MK_REPLY_ERROR`. A call that is answered several times, as SUBSCRIBE for each channel, gives an array of the answers;
 * one that is not answered (CLIENT REPLY OFF) a nil. NULL when the call was not made: `mk_last_error` says why, and
 * nothing was changed but after `MK_ERR_PANIC` or `MK_ERR_LOST`.
 */
mk_reply *mk_call(mk_client *client,
                  int argc,
                  const char *const *argv,
                  const size_t *argvlen);

/**
 * As `mk_call`, but the reply belongs to the client: it is valid until the next function that is given this client, and
 * not freed. At steady state nothing is allocated for it, and a single string is not copied.
 */
const mk_reply *mk_call_borrow(mk_client *client,
                               int argc,
                               const char *const *argv,
                               const size_t *argvlen);

/**
 * Runs a command as `mk_call` does, and tells what it called: an array of its reply and a list with, for each
 * `redis.call` and `redis.pcall` of a script, in their order, an array of the words and what they were answered. Owned by
 * the caller: `mk_reply_free`. NULL on failure.
 */
mk_reply *mk_trace(mk_client *client,
                   int argc,
                   const char *const *argv,
                   const size_t *argvlen);

/**
 * Begins a call that may have to wait (BLPOP, XREAD with BLOCK …) without stopping the thread; `mk_poll` fetches its reply.
 * Until then the client takes no other call, but `mk_cancel`; a reply that is there already is lost by another call.
 * `MK_OK` or a code.
 */
int mk_start(mk_client *client,
             int argc,
             const char *const *argv,
             const size_t *argvlen);

/**
 * Fetches the reply of the call that `mk_start` began: `*reply` is owned by the caller (`mk_reply_free`), or NULL as long as
 * the call waits for another client or, on a manual clock, for `mk_advance_ms`. `MK_OK` or a code.
 */
int mk_poll(mk_client *client,
            mk_reply **reply);

/**
 * Gives up the call that `mk_start` began, with its reply if that is there. `MK_OK`, when there is none too, or a code.
 */
int mk_cancel(mk_client *client);

/**
 * Takes the oldest message that was published to a channel or pattern of this client, which it subscribed to by a call:
 * `*message` is owned by the caller (`mk_reply_free`), or NULL when none has come. It is a push of `message`, channel and
 * payload, of `pmessage`, pattern, channel and payload, or of `smessage`, channel and payload. `MK_OK` or a code.
 */
int mk_next_message(mk_client *client,
                    mk_reply **message);

/**
 * As `mk_next_message`, but waits for a message as a call that has to wait does: see `mk_options_blocking`.
 */
int mk_wait_message(mk_client *client,
                    mk_reply **message);

/**
 * What kind of reply it is (`MK_REPLY_...`): as with RESP3, whatever HELLO chose. `MK_REPLY_NONE` for NULL.
 */
int mk_reply_type(const mk_reply *reply);

/**
 * The number of an integer, 1 or 0 for a boolean; 0 for all else.
 */
int64_t mk_reply_integer(const mk_reply *reply);

/**
 * The number of a double; 0 for all else.
 */
double mk_reply_dval(const mk_reply *reply);

/**
 * The bytes of a string, status, error, double, big number or verbatim text; NULL for all else. They may hold NULs, so
 * `mk_reply_len` counts them, and one more NUL stands behind them. Valid as long as the whole reply.
 */
const char *mk_reply_str(const mk_reply *reply);

/**
 * How many bytes `mk_reply_str` gives; 0 where it gives NULL.
 */
size_t mk_reply_len(const mk_reply *reply);

/**
 * The format of a verbatim text, three letters as in `txt`; NULL for all else. Valid as long as the whole reply.
 */
const char *mk_reply_vtype(const mk_reply *reply);

/**
 * How many elements an array, set or push message has, twice the pairs of a map; 0 for all else.
 */
size_t mk_reply_elements(const mk_reply *reply);

/**
 * An element, from 0 on; NULL when there is none. It belongs to the whole reply: valid as long, never freed itself.
 */
const mk_reply *mk_reply_element(const mk_reply *reply,
                                 size_t index);

/**
 * The reply as the bytes that a server sends to a client of this protocol version, 2 or 3: a new reply of type
 * `MK_REPLY_STRING`, owned by the caller (`mk_reply_free`). NULL on failure.
 */
mk_reply *mk_reply_resp(const mk_reply *reply,
                        int version);

/**
 * The reply as redis-cli shows it to people, as in `(integer) 1`: a new reply of type `MK_REPLY_STRING`, owned by the
 * caller (`mk_reply_free`). NULL on failure.
 */
mk_reply *mk_reply_text(const mk_reply *reply);

/**
 * Frees a reply with all its elements; NULL is ignored. An element, or a reply that `mk_call_borrow` gave, is refused:
 * nothing happens but that `mk_last_error` says so. No other thread uses the reply.
 */
void mk_reply_free(mk_reply *reply);

/**
 * A script of this text, `len` bytes. It is not compiled yet: an error in it is answered when it runs. Owned by the
 * caller: `mk_script_free`. NULL on failure.
 */
mk_script *mk_script_new(const char *source,
                         size_t len);

/**
 * A script that is held to a contract: the one of these `contract_len` bytes, or, where `contract` is NULL, the one in its
 * own header. A call that the contract refuses is answered without Lua; any other call runs, and where what it replied and
 * wrote is not what the contract promises, the run fails with `MK_ERR_BREACH`. NULL on failure: `mk_last_error` names line
 * and column of a mistake in the contract.
 */
mk_script *mk_script_checked(const char *source,
                             size_t len,
                             const char *contract,
                             size_t contract_len);

/**
 * Frees a script; NULL is ignored, and what is not a living script refused as far as it can be told. Engines that have run
 * it still know it.
 */
void mk_script_free(mk_script *script);

/**
 * The SHA1 of the text as EVALSHA takes it, 40 hexadecimal digits and a NUL; NULL for NULL. Valid as long as the script.
 */
const char *mk_script_sha(const mk_script *script);

/**
 * Runs a script with `argc` words at `argv` (see `mk_call`): the first `numkeys` are its keys, the others its arguments.
 * EVALSHA, and EVAL when the engine does not know the script yet; where the call is queued (MULTI), run the script once
 * before, or call `SCRIPT LOAD`. Gives its reply, owned by the caller: `mk_reply_free`; an error of the script is a reply
 * too. NULL on failure.
 */
mk_reply *mk_script_run(mk_client *client,
                        const mk_script *script,
                        int numkeys,
                        int argc,
                        const char *const *argv,
                        const size_t *argvlen);

/**
 * As `mk_script_run`, but the reply belongs to the client, as that of `mk_call_borrow`.
 */
const mk_reply *mk_script_run_borrow(mk_client *client,
                                     const mk_script *script,
                                     int numkeys,
                                     int argc,
                                     const char *const *argv,
                                     const size_t *argvlen);

/**
 * What the contract of a script says of a call in the state as it is; nothing runs. A status `ACCEPTED`, or the error that
 * the call will be answered: all of it, or its code where a command of the script will raise it. Owned by the caller:
 * `mk_reply_free`. NULL on failure: `MK_ERR_USAGE` for a script without a contract.
 */
mk_reply *mk_script_verdict(mk_client *client,
                            const mk_script *script,
                            int numkeys,
                            int argc,
                            const char *const *argv,
                            const size_t *argvlen);

/**
 * Checks a script against its contract: `runs` calls that are made from it with this seed, on engines of their own; what the
 * contract refuses runs too. Gives an array with an element for each way in which the script does not keep its word, none
 * where it does: the rule that is broken, what is told of it, and the smallest call that was found, as `moonkeep check`
 * writes it. Owned by the caller: `mk_reply_free`. NULL on failure: `MK_ERR_USAGE` for a script without a contract.
 */
mk_reply *mk_check(const mk_script *script,
                   uint64_t seed,
                   uint64_t runs);

/**
 * The state of an engine as it is now. Owned by the caller: `mk_snapshot_free`, before or after the engine is freed. NULL on
 * failure.
 */
mk_snapshot *mk_snapshot_new(mk_engine *engine);

/**
 * Frees a snapshot; NULL is ignored, and what is not a living snapshot refused as far as it can be told.
 */
void mk_snapshot_free(mk_snapshot *snapshot);

/**
 * Goes back to a snapshot, of this engine or another one with as many databases. Clients stay open, and see the clock of
 * the snapshot if it is a manual one. An engine that a panic poisoned works again. `MK_OK` or a code.
 */
int mk_restore(mk_engine *engine,
               const mk_snapshot *snapshot);

/**
 * A new engine that goes on from the state of this one, with a clock of its own and no clients: neither sees what the other
 * does from now on. Owned by the caller: `mk_engine_free`. NULL on failure.
 */
mk_engine *mk_fork(mk_engine *engine);

/**
 * A new engine that goes on from a snapshot. Owned by the caller: `mk_engine_free`. NULL on failure.
 */
mk_engine *mk_snapshot_fork(const mk_snapshot *snapshot);

/**
 * What differs between two snapshots, key by key: an array of lines as in `~ stock string "10" -> "9"` (`+` for a key that
 * came, `-` for one that went), owned by the caller (`mk_reply_free`). NULL on failure.
 */
mk_reply *mk_snapshot_diff(const mk_snapshot *before,
                           const mk_snapshot *after);

/**
 * 64 bits that tell what the databases hold: keys, values and expiry. Engines that hold the same have the same hash. Cheap
 * after a small change. `MK_OK` or a code.
 */
int mk_state_hash(mk_engine *engine,
                  uint64_t *hash);

/**
 * All databases as an `.rdb` file, which a server of version 7.0 loads: a string, owned by the caller (`mk_reply_free`).
 * NULL on failure.
 */
mk_reply *mk_save_rdb(mk_engine *engine);

/**
 * Takes the databases of an `.rdb` file, `len` bytes, in the place of the engine's own. `MK_OK` or a code: a broken file is
 * `MK_ERR_USAGE`, `mk_last_error` names the place, and the engine is as it was.
 */
int mk_load_rdb(mk_engine *engine,
                const char *file,
                size_t len);

/**
 * Starts to read the journal: each write from now on, in the form in which a server propagates it, so that it does not
 * depend on time or chance. Owned by the caller: `mk_journal_free`, before or after the engine is freed; until then what is
 * not read is kept. NULL on failure.
 */
mk_journal *mk_journal_new(mk_engine *engine);

/**
 * Ends the reading and frees the reader; NULL is ignored, and what is not a living journal refused as far as it can be told.
 */
void mk_journal_free(mk_journal *journal);

/**
 * Takes the oldest write that was not read yet: `*write` is owned by the caller (`mk_reply_free`), or NULL when there is none.
 * It is an array of four: the number of its unit of work, the Unix time of that in milliseconds, the number of the
 * database, and the words of the command. Writes of one unit, if there are several, stand between MULTI and EXEC. `MK_OK`
 * or a code.
 */
int mk_journal_next(mk_journal *journal,
                    mk_reply **write);

/**
 * Takes all writes that were not read yet and applies them to another engine, each at its time; a manual clock there moves
 * on with them. `MK_OK` or a code; where a write is refused, those before it stay applied.
 */
int mk_journal_replay(mk_journal *journal,
                      mk_engine *engine);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/*
 * mk_command: a command from a format, as redisCommand of hiredis takes it. Spaces part the words; quotes mean nothing; what a
 * conversion gives joins the word that it stands in, spaces and all, so "SET key:%s %b" has three words.
 *
 *     %s                            a text up to its NUL: const char *
 *     %b                            bytes: const void * and size_t
 *     %d %i                         signed int; with hh h l ll z j t before it what printf takes there
 *     %u %o %x %X                   unsigned int; with the same
 *     %f %F %e %E %g %G %a %A       double
 *     %%                            a percent sign
 *
 * Numbers take flags (# 0 - + and space), a width and a precision of up to three digits each, as in %05d or %.17g; * is not
 * taken. Anything else fails with MK_ERR_USAGE, and nothing runs. The reply is that of mk_call.
 *
 *     mk_reply *reply = mk_command(client, "SET lock:%s %b NX PX %d", name, token, token_length, 5000);
 *
 * Names that end in an underscore are no part of the interface.
 */

/* The longest word: as of mk_call. */
#define MK_WORD_MAX_ ((size_t)512 << 20)

/* All words of a command one behind the other, and where each ends. */
typedef struct mk_words_ {
    char *bytes;
    size_t used;
    size_t room;
    size_t *ends;
    size_t count;
    size_t slots;
    int is_open;
} mk_words_;

/* Makes room for more; 0 when there is no memory. */
static inline int mk_grow_(void **block, size_t size, size_t used, size_t more, size_t *room) {
    size_t wanted = *room < 64 ? 64 : *room;
    void *grown;
    if (more <= *room - used) {
        return 1;
    }
    while (wanted - used < more) {
        if (wanted > (size_t)-1 / 2 / size) {
            return 0;
        }
        wanted *= 2;
    }
    grown = realloc(*block, wanted * size);
    if (grown == NULL) {
        return 0;
    }
    *block = grown;
    *room = wanted;
    return 1;
}

static inline int mk_put_(mk_words_ *words, const void *bytes, size_t length) {
    void *block = words->bytes;
    if (!mk_grow_(&block, 1, words->used, length + 1, &words->room)) {
        return 0;
    }
    words->bytes = (char *)block;
    if (length > 0) {
        memcpy(words->bytes + words->used, bytes, length);
    }
    words->used += length;
    words->is_open = 1;
    return 1;
}

static inline int mk_end_word_(mk_words_ *words) {
    void *block = words->ends;
    if (!words->is_open) {
        return 1;
    }
    if (!mk_grow_(&block, sizeof(size_t), words->count, 1, &words->slots)) {
        return 0;
    }
    words->ends = (size_t *)block;
    words->ends[words->count++] = words->used;
    words->is_open = 0;
    return 1;
}

/* How many of up to three decimal digits stand there. */
static inline size_t mk_digits_(const char *at) {
    size_t count = 0;
    while (count < 3 && at[count] >= '0' && at[count] <= '9') {
        count++;
    }
    return count;
}

static inline long long mk_signed_(const char *size, va_list *args) {
    if (strcmp(size, "hh") == 0) return (signed char)va_arg(*args, int);
    if (strcmp(size, "h") == 0) return (short)va_arg(*args, int);
    if (strcmp(size, "l") == 0) return va_arg(*args, long);
    if (strcmp(size, "ll") == 0) return va_arg(*args, long long);
    if (strcmp(size, "j") == 0) return (long long)va_arg(*args, intmax_t);
    if (strcmp(size, "z") == 0) return (long long)va_arg(*args, ptrdiff_t);
    if (strcmp(size, "t") == 0) return (long long)va_arg(*args, ptrdiff_t);
    return va_arg(*args, int);
}

static inline unsigned long long mk_unsigned_(const char *size, va_list *args) {
    if (strcmp(size, "hh") == 0) return (unsigned char)va_arg(*args, unsigned int);
    if (strcmp(size, "h") == 0) return (unsigned short)va_arg(*args, unsigned int);
    if (strcmp(size, "l") == 0) return va_arg(*args, unsigned long);
    if (strcmp(size, "ll") == 0) return va_arg(*args, unsigned long long);
    if (strcmp(size, "j") == 0) return (unsigned long long)va_arg(*args, uintmax_t);
    if (strcmp(size, "z") == 0) return (unsigned long long)va_arg(*args, size_t);
    if (strcmp(size, "t") == 0) return (unsigned long long)va_arg(*args, size_t);
    return va_arg(*args, unsigned int);
}

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif

/* Writes a number as printf does. `at` stands behind the percent sign; gives where the conversion ends, or NULL when it is
   none. `*has_room` is 0 when there was no memory. */
static inline const char *mk_number_(mk_words_ *words, const char *at, va_list *args, int *has_room) {
    char spec[32] = "%";
    char size[3] = "";
    char text[1536]; /* the longest is a double of 309 digits before and 999 behind its point */
    size_t length = 1;
    size_t count = strspn(at, "#0-+ ");
    int written = 0;
    if (count > 5) {
        return NULL;
    }
    count += mk_digits_(at + count);
    if (at[count] == '.') {
        count++;
        count += mk_digits_(at + count);
    }
    memcpy(spec + length, at, count);
    length += count;
    at += count;
    count = strspn(at, "hlzjt");
    if (count > 2 || (count == 2 && strncmp(at, "hh", 2) != 0 && strncmp(at, "ll", 2) != 0)) {
        return NULL;
    }
    memcpy(size, at, count);
    at += count;
    if (*at != '\0' && strchr("diouxX", *at) != NULL) {
        spec[length++] = 'l';
        spec[length++] = 'l';
        spec[length] = *at;
        written = *at == 'd' || *at == 'i' ? snprintf(text, sizeof text, spec, mk_signed_(size, args))
                                           : snprintf(text, sizeof text, spec, mk_unsigned_(size, args));
    } else if (*at != '\0' && size[0] == '\0' && strchr("fFeEgGaA", *at) != NULL) {
        spec[length] = *at;
        written = snprintf(text, sizeof text, spec, va_arg(*args, double));
    } else {
        return NULL;
    }
    if (written < 0 || (size_t)written >= sizeof text) {
        return NULL;
    }
    *has_room = mk_put_(words, text, (size_t)written);
    return at + 1;
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* Splits a format into words; 0 when that fails, which is noted. */
static inline int mk_format_(mk_words_ *words, const char *format, va_list *args) {
    char told[160];
    const char *at = format;
    int has_room = 1;
    while (*at != '\0' && has_room) {
        const char *start = at++;
        if (*start == ' ') {
            has_room = mk_end_word_(words);
        } else if (*start != '%') {
            has_room = mk_put_(words, start, 1);
        } else if (*at == '%') {
            has_room = mk_put_(words, at++, 1);
        } else if (*at == 's' || *at == 'b') {
            const char *bytes = va_arg(*args, const char *);
            size_t length = *at == 'b' ? va_arg(*args, size_t) : bytes == NULL ? 0 : strlen(bytes);
            if (bytes == NULL && (*at == 's' || length > 0)) {
                snprintf(told, sizeof told, "the argument of %%%c is NULL", *at);
                mk_note_error(MK_ERR_NULL, told);
                return 0;
            }
            if (length > MK_WORD_MAX_) {
                snprintf(told, sizeof told, "the length of %%%c is %zu; a word has at most %zu bytes", *at, length,
                         MK_WORD_MAX_);
                mk_note_error(MK_ERR_USAGE, told);
                return 0;
            }
            at++;
            has_room = mk_put_(words, bytes, length);
        } else {
            at = mk_number_(words, at, args, &has_room);
            if (at == NULL) {
                snprintf(told, sizeof told,
                         "\"%.20s\" is no conversion; taken are %%s, %%b, %%%%, %%d %%i %%u %%o %%x %%X, %%f %%F %%e "
                         "%%E %%g %%G %%a %%A",
                         start);
                mk_note_error(MK_ERR_USAGE, told);
                return 0;
            }
        }
    }
    if (!has_room || !mk_end_word_(words)) {
        mk_note_error(MK_ERR_USAGE, "there is no memory for the words of the command");
        return 0;
    }
    return 1;
}

/* Calls with the words of a format. */
static inline mk_reply *mk_call_words_(mk_client *client, const mk_words_ *words) {
    size_t count = words->count;
    const char **argv = (const char **)malloc((count + 1) * sizeof(const char *));
    size_t *argvlen = (size_t *)malloc((count + 1) * sizeof(size_t));
    mk_reply *reply = NULL;
    if (argv == NULL || argvlen == NULL || count > 0x7fffffff) {
        mk_note_error(MK_ERR_USAGE, "there is no memory for the words of the command");
    } else {
        size_t start = 0;
        size_t index;
        for (index = 0; index < count; index++) {
            argv[index] = words->bytes + start;
            argvlen[index] = words->ends[index] - start;
            start = words->ends[index];
        }
        reply = mk_call(client, (int)count, argv, argvlen);
    }
    free(argv);
    free(argvlen);
    return reply;
}

/** As `mk_command`, with its arguments as a list, which is as it was afterwards. */
static inline mk_reply *mk_vcommand(mk_client *client, const char *format, va_list args) {
    mk_reply *reply = NULL;
    mk_words_ words;
    va_list own;
    memset(&words, 0, sizeof words);
    if (format == NULL) {
        mk_note_error(MK_ERR_NULL, "format is NULL");
        return NULL;
    }
    va_copy(own, args);
    if (mk_format_(&words, format, &own)) {
        reply = mk_call_words_(client, &words);
    }
    va_end(own);
    free(words.bytes);
    free(words.ends);
    return reply;
}

/**
 * Runs a command that is given as a format, as redisCommand of hiredis does: see above. Gives the reply, owned by the caller:
 * `mk_reply_free`. NULL on failure.
 */
static inline mk_reply *mk_command(mk_client *client, const char *format, ...) {
    mk_reply *reply;
    va_list args;
    va_start(args, format);
    reply = mk_vcommand(client, format, args);
    va_end(args);
    return reply;
}

#endif  /* MOONKEEP_H */
