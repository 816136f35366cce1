// A tour of all families of commands with redigo: `tour ADDRESS 2`, ADDRESS a unix socket or host:port. It flushes the
// server. Each reply is written as text and asserted; the first that differs ends it.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/gomodule/redigo/redis"
)

var checks int

// text writes a reply: strings quoted, numbers bare, errors with -, arrays in brackets.
func text(reply interface{}) string {
	switch reply := reply.(type) {
	case []byte:
		return "'" + string(reply) + "'"
	case string:
		return "+" + reply
	case redis.Error:
		return "-" + reply.Error()
	case []interface{}:
		parts := make([]string, len(reply))
		for n, part := range reply {
			parts[n] = text(part)
		}
		return "[" + strings.Join(parts, " ") + "]"
	default:
		return fmt.Sprint(reply)
	}
}

func same(got, want string) {
	checks++
	if got != want {
		fmt.Printf("check %d: got %s, not %s\n", checks, got, want)
		os.Exit(1)
	}
}

func reply(value interface{}, err error) string {
	if err != nil {
		return "-" + err.Error()
	}
	return text(value)
}

// call runs a line of words and further words with any bytes.
func call(c redis.Conn, want, line string, more ...interface{}) {
	words := strings.Fields(line)
	args := redis.Args{}.AddFlat(words[1:]).Add(more...)
	same(reply(c.Do(words[0], args...)), want)
}

func connect() redis.Conn {
	network := "tcp"
	if strings.Contains(os.Args[1], "/") {
		network = "unix"
	}
	c, err := redis.Dial(network, os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return c
}

func values(c redis.Conn) {
	call(c, "+OK", "SET s one NX")
	call(c, "<nil>", "SET s two NX")
	call(c, "'one'", "SET s two PXAT 4102444800000 GET")
	call(c, "4102444800000", "PEXPIRETIME s")
	call(c, "+OK", "SET", "bin\x00ary", []byte("a\x00b\r\nc"))
	call(c, "6", "STRLEN", "bin\x00ary")
	call(c, "['two' <nil>]", "MGET s none")
	call(c, "-ERR value is not an integer or out of range", "INCR s")
	call(c, "'0.5'", "INCRBYFLOAT f 0.5")
	call(c, "2", "HSET h f 1 g 2")
	fields, err := redis.StringMap(c.Do("HGETALL", "h"))
	same(fmt.Sprint(fields, err), "map[f:1 g:2] <nil>")
	call(c, "3", "RPUSH l a b c")
	call(c, "'a'", "LMOVE l other LEFT RIGHT")
	call(c, "['l' ['b' 'c']]", "LMPOP 2 none l LEFT COUNT 5")
	call(c, "['other' 'a']", "BLPOP none other 5")
	call(c, "<nil>", "BLPOP none 0.05")
	call(c, "-WRONGTYPE Operation against a key holding the wrong kind of value", "LPUSH s 1")
	call(c, "2", "SADD s1 a b")
	call(c, "2", "SADD s2 b c")
	call(c, "['b']", "SINTER s1 s2")
	call(c, "3", "ZADD z 1 a 2.5 b inf c")
	scores, err := redis.StringMap(c.Do("ZRANGE", "z", 0, -1, "WITHSCORES"))
	same(fmt.Sprint(scores, err), "map[a:1 b:2.5 c:inf] <nil>")
	call(c, "['z' 'c' 'inf']", "BZPOPMAX z 1")
	call(c, "2", "GEOADD geo 13.361389 38.115556 Palermo 15.087269 37.502669 Catania")
	call(c, "'166.2742'", "GEODIST geo Palermo Catania km")
	positions, err := redis.Positions(c.Do("GEOPOS", "geo", "none", "Palermo"))
	same(fmt.Sprint(positions[0], *positions[1], err), "<nil> [13.361389338970184 38.1155563954963] <nil>")
	call(c, "1", "PFADD hll a b c")
	call(c, "3", "PFCOUNT hll")
	call(c, "[0 0]", "BITFIELD bits SET u8 0 255 INCRBY u8 0 1")
	call(c, "['0' ['h']]", "SCAN 0 COUNT 1000 TYPE hash")
	call(c, "'1-1'", "XADD st 1-1 f 1")
	call(c, "+OK", "XGROUP CREATE st workers 0")
	call(c, "[['st' [['1-1' ['f' '1']]]]]", "XREADGROUP GROUP workers alice COUNT 1 STREAMS st >")
	call(c, "['0-0' [['1-1' ['f' '1']]] []]", "XAUTOCLAIM st workers bob 0 0")
	call(c, "1", "XACK st workers 1-1")
	call(c, "<nil>", "XREAD BLOCK 10 STREAMS st $")
}

func scripts(c redis.Conn) {
	call(c, "+OK", "SCRIPT FLUSH")
	add := redis.NewScript(1, "return redis.call('INCRBY', KEYS[1], ARGV[1])")
	same(reply(c.Do("EVALSHA", add.Hash(), 1, "n", 1)), "-NOSCRIPT No matching script. Please use EVAL.")
	same(reply(add.Do(c, "n", 40)), "40")
	same(reply(c.Do("EVALSHA", add.Hash(), 1, "n", 2)), "42")
	call(c, "['k' 'v' 3 <nil> +fine]", "EVAL", "return {KEYS[1], ARGV[1], 3.9, false, {ok='fine'}}", 1, "k", "v")
	call(c, "'tour'", "FUNCTION LOAD REPLACE",
		"#!lua name=tour\nredis.register_function('add', function(keys, args) return #keys + args[1] end)")
	call(c, "8", "FCALL add 1 n 7")
	call(c, "+OK", "FUNCTION DELETE tour")
}

func transactions(c, other redis.Conn) {
	c.Send("MULTI")
	c.Send("SET", "t", 1)
	c.Send("INCR", "t")
	c.Send("LPUSH", "t", "x")
	same(reply(c.Do("EXEC")), "[+OK 2 -WRONGTYPE Operation against a key holding the wrong kind of value]")
	call(c, "+OK", "WATCH t")
	call(other, "+OK", "SET t changed")
	c.Send("MULTI")
	c.Send("SET", "t", "lost")
	same(reply(c.Do("EXEC")), "<nil>")
	for n := 1; n <= 1000; n++ {
		c.Send("RPUSH", "piped", n)
	}
	c.Flush()
	for n := 1; n <= 1000; n++ {
		same(reply(c.Receive()), fmt.Sprint(n))
	}
}

func messages(c, other redis.Conn) {
	subscriber := redis.PubSubConn{Conn: other}
	next := func(want string) { same(fmt.Sprintf("%+v", subscriber.Receive()), want) }
	subscriber.Subscribe("news")
	subscriber.PSubscribe("n*")
	next("{Kind:subscribe Channel:news Count:1}")
	next("{Kind:psubscribe Channel:n* Count:2}")
	call(c, "2", "PUBLISH news hello")
	next("{Channel:news Pattern: Data:[104 101 108 108 111]}")
	next("{Channel:news Pattern:n* Data:[104 101 108 108 111]}")
	subscriber.Ping("still here")
	next("{Data:still here}")
	call(c, "+OK", "CONFIG SET notify-keyspace-events KEA")
	subscriber.PSubscribe("__keyevent@0__:*")
	next("{Kind:psubscribe Channel:__keyevent@0__:* Count:3}")
	call(c, "+OK", "SET noted 1")
	next("{Channel:__keyevent@0__:set Pattern:__keyevent@0__:* Data:[110 111 116 101 100]}")
	call(c, "+OK", "CONFIG SET notify-keyspace-events", "")
	subscriber.Unsubscribe()
	next("{Kind:unsubscribe Channel:news Count:2}")
}

func main() {
	c, other := connect(), connect()
	call(c, "+OK", "FLUSHALL")
	values(c)
	scripts(c)
	transactions(c, other)
	messages(c, other)
	call(c, "-ERR unknown command 'NOSUCH', with args beginning with: 'a' ", "NOSUCH a")
	call(c, "+OK", "QUIT")
	fmt.Printf("redigo, RESP2: %d checks\n", checks)
}
