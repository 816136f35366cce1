#!/usr/bin/env bash
# Requests a second, the slowest hundredth and CPU time of `moonkeep serve` beside redis-server, under redis-benchmark:
# each server on one core and the benchmark on the other, by turns, so that both see the same machine.
#   benches/serving.sh MOONKEEP [REQUESTS]
set -euo pipefail
moonkeep=$1 requests=${2:-200000}
folder=$(mktemp -d)
trap 'kill "$redis" "$ours" 2>/dev/null; rm -rf "$folder"' EXIT
taskset -c 0 redis-server --port 0 --unixsocket "$folder/redis" --save '' --appendonly no >/dev/null & redis=$!
taskset -c 0 "$moonkeep" serve --unix "$folder/moonkeep" >/dev/null & ours=$!
until [ -S "$folder/redis" ] && [ -S "$folder/moonkeep" ]; do sleep 0.05; done

cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15) * 1000 / hz }' "/proc/$1/stat"; }

measure() { # name, process, pipeline, test
    local before after line
    before=$(cpu_ms "$2")
    line=$(taskset -c 1 redis-benchmark -s "$folder/$1" -P "$3" -n "$requests" -t "$4" --csv 2>/dev/null | tail -n 1)
    after=$(cpu_ms "$2")
    printf '%-6s P=%-3s %-9s' "$4" "$3" "$1"
    awk -F, -v ms="$((after - before))" -v n="$requests" \
        '{ gsub(/"/, ""); $0 = $0; printf "%10.0f requests/s   p99 %7.3f ms   CPU %6.2f us/request\n", $2, $7, ms * 1000 / n }' <<<"$line"
}

for pipeline in 1 16; do
    for test in set get incr lpush hset; do
        for round in 1 2 3; do
            measure redis "$redis" "$pipeline" "$test"
            measure moonkeep "$ours" "$pipeline" "$test"
        done
    done
done
