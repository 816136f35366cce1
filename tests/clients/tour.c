/* A tour of all families of commands with hiredis: `tour ADDRESS 2`, ADDRESS a unix socket or host:port. It flushes the
 * server. Each reply is written as text and asserted; the first that differs ends it. */

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks;

/* A reply as text: strings quoted, numbers bare, errors with '-', states with '+', arrays in brackets. */
static void write_reply(const redisReply *reply, char **at, const char *end) {
    switch (reply->type) {
    case REDIS_REPLY_INTEGER: *at += snprintf(*at, end - *at, "%lld", reply->integer); break;
    case REDIS_REPLY_NIL: *at += snprintf(*at, end - *at, "nil"); break;
    case REDIS_REPLY_STATUS: *at += snprintf(*at, end - *at, "+%s", reply->str); break;
    case REDIS_REPLY_ERROR: *at += snprintf(*at, end - *at, "-%s", reply->str); break;
    case REDIS_REPLY_STRING: *at += snprintf(*at, end - *at, "'%s'", reply->str); break;
    case REDIS_REPLY_ARRAY:
        *at += snprintf(*at, end - *at, "[");
        for (size_t n = 0; n < reply->elements; n++) {
            if (n > 0) *at += snprintf(*at, end - *at, " ");
            write_reply(reply->element[n], at, end);
        }
        *at += snprintf(*at, end - *at, "]");
        break;
    default: *at += snprintf(*at, end - *at, "type %d", reply->type);
    }
}

static void same(redisContext *c, redisReply *reply, const char *want) {
    static char text[1 << 16];
    char *at = text;
    checks++;
    if (reply == NULL) {
        printf("check %d: %s\n", checks, c->errstr);
        exit(1);
    }
    write_reply(reply, &at, text + sizeof text);
    if (strcmp(text, want) != 0) {
        printf("check %d: got %s, not %s\n", checks, text, want);
        exit(1);
    }
    freeReplyObject(reply);
}

/* The reply to a command in hiredis' own format, then the values that it names. */
static void call(redisContext *c, const char *want, const char *format, ...) {
    va_list values;
    va_start(values, format);
    same(c, redisvCommand(c, format, values), want);
    va_end(values);
}

/* The next reply of those that are on their way. */
static void next(redisContext *c, const char *want) {
    void *reply = NULL;
    if (redisGetReply(c, &reply) != REDIS_OK) reply = NULL;
    same(c, reply, want);
}

static redisContext *open_connection(const char *address) {
    const char *colon = strrchr(address, ':');
    redisContext *c = NULL;
    if (strchr(address, '/') != NULL) {
        c = redisConnectUnix(address);
    } else {
        char host[256] = "";
        memcpy(host, address, (size_t)(colon - address));
        c = redisConnect(host, atoi(colon + 1));
    }
    if (c == NULL || c->err) {
        printf("no connection: %s\n", c ? c->errstr : "no memory");
        exit(1);
    }
    return c;
}

static void values(redisContext *c) {
    call(c, "+OK", "SET %s %s NX", "s", "one");
    call(c, "nil", "SET s two NX");
    call(c, "'one'", "SET s two PXAT 4102444800000 GET");
    call(c, "4102444800000", "PEXPIRETIME s");
    call(c, "+OK", "SET %b %b", "bin\0ary", (size_t)7, "a\0b\r\nc", (size_t)6);
    call(c, "6", "STRLEN %b", "bin\0ary", (size_t)7);
    call(c, "['two' nil]", "MGET s none");
    call(c, "-ERR value is not an integer or out of range", "INCR s");
    call(c, "42", "INCRBY n 42");
    call(c, "'42.5'", "INCRBYFLOAT n 0.5");
    call(c, "2", "HSET h f 1 g 2");
    call(c, "['f' '1' 'g' '2']", "HGETALL h");
    call(c, "['1' nil]", "HMGET h f none");
    call(c, "3", "RPUSH l a b c");
    call(c, "'a'", "LMOVE l other LEFT RIGHT");
    call(c, "['l' ['b' 'c']]", "LMPOP 2 none l LEFT COUNT 5");
    call(c, "['other' 'a']", "BLPOP none other 5");
    call(c, "nil", "BLPOP none 0.05");
    call(c, "-WRONGTYPE Operation against a key holding the wrong kind of value", "LPUSH s 1");
    call(c, "2", "SADD s1 a b");
    call(c, "2", "SADD s2 b c");
    call(c, "['b']", "SINTER s1 s2");
    call(c, "[1 0]", "SMISMEMBER s1 a c");
    call(c, "3", "ZADD z 1 a 2.5 b inf c");
    call(c, "['a' '1' 'b' '2.5' 'c' 'inf']", "ZRANGE z 0 -1 WITHSCORES");
    call(c, "['z' 'c' 'inf']", "BZPOPMAX z 1");
    call(c, "2", "GEOADD geo 13.361389 38.115556 Palermo 15.087269 37.502669 Catania");
    call(c, "'166.2742'", "GEODIST geo Palermo Catania km");
    call(c, "[['Catania' '56.4413'] ['Palermo' '190.4424']]", "GEOSEARCH geo FROMLONLAT 15 37 BYRADIUS 200 km ASC WITHDIST");
    call(c, "1", "PFADD hll a b c");
    call(c, "3", "PFCOUNT hll");
    call(c, "0", "SETBIT bits 7 1");
    call(c, "[1 0]", "BITFIELD bits SET u8 0 255 INCRBY u8 0 1");
    call(c, "['0' ['h']]", "SCAN 0 COUNT 1000 TYPE hash");
}

static void streams(redisContext *c) {
    call(c, "'1-1'", "XADD st 1-1 f 1");
    call(c, "'2-0'", "XADD st 2-0 f 2");
    call(c, "+OK", "XGROUP CREATE st workers 0");
    call(c, "[['st' [['1-1' ['f' '1']]]]]", "XREADGROUP GROUP workers alice COUNT 1 STREAMS st >");
    call(c, "[1 '1-1' '1-1' [['alice' '1']]]", "XPENDING st workers");
    call(c, "['0-0' [['1-1' ['f' '1']]] []]", "XAUTOCLAIM st workers bob 0 0");
    call(c, "1", "XACK st workers 1-1");
    call(c, "nil", "XREAD BLOCK 10 STREAMS st $");
}

static void scripts(redisContext *c) {
    call(c, "+OK", "SCRIPT FLUSH");
    call(c, "-NOSCRIPT No matching script. Please use EVAL.", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0");
    call(c, "'e0e1f9fabfc9d4800c877a703b823ac0578ff8db'", "SCRIPT LOAD %s", "return 1");
    call(c, "1", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0");
    call(c, "['k' 'v' 3 nil +fine]", "EVAL %s 1 k v", "return {KEYS[1], ARGV[1], 3.9, false, {ok='fine'}}");
    call(c, "'tour'", "FUNCTION LOAD REPLACE %s",
         "#!lua name=tour\nredis.register_function('add', function(keys, args) return #keys + args[1] end)");
    call(c, "8", "FCALL add 1 n 7");
    call(c, "+OK", "FUNCTION DELETE tour");
}

static void transactions(redisContext *c, redisContext *other) {
    call(c, "+OK", "MULTI");
    call(c, "+QUEUED", "SET t 1");
    call(c, "+QUEUED", "INCR t");
    call(c, "+QUEUED", "LPUSH t x");
    call(c, "[+OK 2 -WRONGTYPE Operation against a key holding the wrong kind of value]", "EXEC");
    call(c, "+OK", "WATCH t");
    call(other, "+OK", "SET t changed");
    call(c, "+OK", "MULTI");
    call(c, "+QUEUED", "SET t lost");
    call(c, "nil", "EXEC");
    char want[16];
    for (int n = 1; n <= 1000; n++) redisAppendCommand(c, "RPUSH piped %d", n);
    for (int n = 1; n <= 1000; n++) {
        snprintf(want, sizeof want, "%d", n);
        next(c, want);
    }
}

static void messages(redisContext *c, redisContext *subscriber) {
    redisAppendCommand(subscriber, "SUBSCRIBE news other");
    next(subscriber, "['subscribe' 'news' 1]");
    next(subscriber, "['subscribe' 'other' 2]");
    call(subscriber, "['psubscribe' 'n*' 3]", "PSUBSCRIBE n*");
    call(c, "2", "PUBLISH news hello");
    next(subscriber, "['message' 'news' 'hello']");
    next(subscriber, "['pmessage' 'n*' 'news' 'hello']");
    call(subscriber, "['pong' '']", "PING");
    call(subscriber,
         "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context",
         "GET s");
    call(c, "+OK", "CONFIG SET notify-keyspace-events KEA");
    call(subscriber, "['psubscribe' '__key*@0__:*' 4]", "PSUBSCRIBE __key*@0__:*");
    call(c, "+OK", "SET noted 1");
    next(subscriber, "['pmessage' '__key*@0__:*' '__keyspace@0__:noted' 'set']");
    next(subscriber, "['pmessage' '__key*@0__:*' '__keyevent@0__:set' 'noted']");
    call(c, "+OK", "CONFIG SET notify-keyspace-events %s", "");
    call(subscriber, "+RESET", "RESET");
    call(subscriber, "+PONG", "PING");
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    redisContext *c = open_connection(argv[1]), *other = open_connection(argv[1]);
    call(c, "+OK", "FLUSHALL");
    values(c);
    streams(c);
    scripts(c);
    transactions(c, other);
    messages(c, other);
    call(c, "-ERR unknown command 'NOSUCH', with args beginning with: 'a' ", "NOSUCH a");
    call(c, "+OK", "QUIT");
    printf("hiredis %d.%d.%d, RESP2: %d checks\n", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH, checks);
    redisFree(c);
    redisFree(other);
    return 0;
}
