# What CI runs, by name. `just ci` is all of it; `just nightly` the long forms.

default: ci

# Everything a change must pass.
ci: fmt clippy doc lib-only test fuzz-smoke (asan "e.lua") instructions

fmt:
    cargo fmt --all --check

clippy:
    cargo clippy --all-targets --all-features -- -D warnings

doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features

# The README's test command and the tests of the features, with the differential tests required.
test:
    cargo check --all-targets
    MOONKEEP_REQUIRE_SERVER=1 MOONKEEP_REQUIRE_C=1 MOONKEEP_REQUIRE_CLIENTS="$(tests/clients/install)" cargo test --all-features

# The library alone, as it is meant to be embedded.
lib-only:
    cargo check --no-default-features --lib

# A short run of each fuzz target.
fuzz-smoke:
    MOONKEEP_FUZZ_SECONDS=10 cargo test --all-features --test main fuzz_

# One fuzz target with libFuzzer under AddressSanitizer, the Lua sources included: commands, script, script_contract, contract, lint,
# requests, parsers, libraries or payloads.
fuzz target seconds="60":
    mkdir -p fuzz/corpus/{{target}}
    MOONKEEP_FUZZ_CORPUS="$PWD/fuzz/corpus/{{target}}" cargo test --all-features --test main fuzz_smoke::fuzz_{{target}} -- --exact
    RUSTC_BOOTSTRAP=1 CC=clang CFLAGS="-fsanitize=address,fuzzer-no-link -fno-omit-frame-pointer -g" \
        cargo fuzz run {{target}} fuzz/corpus/{{target}} fuzz/seeds/{{target}} fuzz/regressions/{{target}} \
        -- -dict=fuzz/dictionaries/{{target}}.dict -max_total_time={{seconds}} -timeout=20

# The files with unsafe code, the tests of scripts and all attacks under AddressSanitizer, the Lua sources included.
# `just asan given/bc_` runs only the attacks with that in their path.
asan attacks="":
    MOONKEEP_HOSTILE_FILES="{{attacks}}" RUSTC_BOOTSTRAP=1 CC=clang CFLAGS="-fsanitize=address -fno-omit-frame-pointer -g" \
        RUSTFLAGS="-Zsanitizer=address --cfg moonkeep_asan" ASAN_OPTIONS=allocator_may_return_null=1 \
        cargo test --target x86_64-unknown-linux-gnu --lib --test main -- script front hostile capi

# Instructions per call, at most 3 % over the figures that are kept; UPDATE=1 keeps new ones.
instructions:
    MOONKEEP_REQUIRE_VALGRIND=1 cargo bench --features redis --bench instructions

# The C library, its header and what pkg-config and CMake need, below a prefix.
install prefix="/usr/local":
    packaging/install "{{prefix}}"

# Two threads on one engine under ThreadSanitizer, the library included.
tsan:
    tests/c/tsan

# Any bytes as calls of the C functions, with libFuzzer under AddressSanitizer.
fuzz-c seconds="60":
    tests/c/fuzz {{seconds}}

# What a call through C costs, to the same call in Rust.
c-calls:
    cargo bench --bench c_calls

# The ratios against a real server, as a table.
bench:
    cargo bench --bench compare

# Bytes and time of large values against a real server, and how time grows with their size.
structures:
    cargo bench --bench structures
    cargo bench --bench structures -- growth

# Requests a second and CPU time per request of `moonkeep serve` and of redis-server, by turns.
serving requests="200000":
    cargo build --release --bin moonkeep
    benches/serving.sh target/release/moonkeep {{requests}}

# Half an hour of hundreds of clients that come and go.
soak seconds="1800":
    MOONKEEP_SOAK_SECONDS={{seconds}} cargo test --release --test main soak -- --nocapture

# The long forms: run them before a release.
nightly:
    MOONKEEP_REQUIRE_SERVER=1 MOONKEEP_DIFF_PROGRAMS=200000 MOONKEEP_DIFF_BYTES=100000 MOONKEEP_HOSTILE_ROUNDS=100 MOONKEEP_HOSTILE_WORK=1000000 MOONKEEP_COVERAGE_MIN=1000 MOONKEEP_COVERAGE=target/coverage.txt MOONKEEP_LUA_PROGRAMS=1000000 MOONKEEP_LUA_MIN=1000 MOONKEEP_LUA_TEXTS_MIN=5 MOONKEEP_LUA_REACH=target/lua_reach.txt MOONKEEP_CONTRACT_INPUTS=200000 MOONKEEP_LIBRARY_INPUTS=100000 MOONKEEP_MUTANT_RUNS=2000 MOONKEEP_CHECK_RUNS=300000 cargo test --release -- --nocapture
    MOONKEEP_FUZZ_SECONDS=600 cargo test --release --test main fuzz_ -- --nocapture
    just asan
    just bench
    just soak

# Units of the Tcl suite of a Redis 7.0 checkout, in external mode against `moonkeep serve`: just tcl ~/redis unit/multi unit/info
tcl checkout +units:
    cargo build --release --bin moonkeep
    target/release/moonkeep serve --port 26790 --dir "$(mktemp -d)" & \
        server=$!; trap "kill $server" EXIT; cd "{{checkout}}"; \
        for unit in {{units}}; do ./runtest --host 127.0.0.1 --port 26790 --single $unit; done
