// The border from C++17: handles in std::unique_ptr, replies as values, failures as exceptions.
#include "moonkeep.h"
#include <initializer_list>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

struct Free {
    void operator()(mk_engine *engine) const { mk_engine_free(engine); }
    void operator()(mk_client *client) const { mk_client_free(client); }
    void operator()(mk_reply *reply) const { mk_reply_free(reply); }
    void operator()(mk_script *script) const { mk_script_free(script); }
    void operator()(mk_snapshot *snapshot) const { mk_snapshot_free(snapshot); }
};

template <typename T> using Handle = std::unique_ptr<T, Free>;
using Reply = Handle<mk_reply>;

static Reply check(mk_reply *reply) {
    if (reply == nullptr) {
        throw std::runtime_error(mk_last_error());
    }
    return Reply(reply);
}

static Reply call(const Handle<mk_client> &client, std::initializer_list<std::string_view> words) {
    std::vector<const char *> argv;
    std::vector<size_t> argvlen;
    for (std::string_view word : words) {
        argv.push_back(word.data());
        argvlen.push_back(word.size());
    }
    return check(mk_call(client.get(), static_cast<int>(argv.size()), argv.data(), argvlen.data()));
}

static std::string_view text(const Reply &reply) {
    return {mk_reply_str(reply.get()), mk_reply_len(reply.get())};
}

int main() {
    using namespace std::string_view_literals;
    Handle<mk_engine> engine(mk_engine_new());
    Handle<mk_client> client(mk_client_new(engine.get()));
    call(client, {"SET", "bytes", "a\0b"sv});
    std::cout << "bytes: " << text(call(client, {"GET", "bytes"})).size() << "\n";
    std::cout << "command: " << mk_reply_integer(check(mk_command(client.get(), "INCRBY n:%d %lld", 7, 40LL)).get()) << "\n";

    std::string_view source = "return redis.call('INCR', KEYS[1])";
    Handle<mk_script> script(mk_script_new(source.data(), source.size()));
    const char *words[] = {"n:7"};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 2; thread++) {
        threads.emplace_back([&] {
            Handle<mk_client> own(mk_client_new(engine.get()));
            for (int round = 0; round < 100; round++) {
                check(mk_script_run(own.get(), script.get(), 1, 1, words, nullptr));
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    std::cout << "threads: " << text(call(client, {"GET", "n:7"})) << "\n";

    Handle<mk_snapshot> before(mk_snapshot_new(engine.get()));
    call(client, {"DEL", "n:7"});
    Handle<mk_snapshot> after(mk_snapshot_new(engine.get()));
    Reply changes = check(mk_snapshot_diff(before.get(), after.get()));
    std::cout << "changed: " << mk_reply_str(mk_reply_element(changes.get(), 0)) << "\n";
    try {
        call(client, {});
    } catch (const std::runtime_error &error) {
        std::cout << "refused: " << error.what() << "\n";
    }
    return 0;
}
