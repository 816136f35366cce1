"""The three scripts of lua/ from Python: a stock, and a lock that is renewed and given back, on a clock that is held.

    just install /usr/local && python3 examples/python/scripts.py
"""

import os

import moonkeep

LUA = os.path.join(os.path.dirname(__file__), "..", "..", "lua")


def script(name):
    with open(os.path.join(LUA, name), "rb") as file:
        return moonkeep.Script(file.read(), checked=True)


def main():
    engine = moonkeep.Engine()
    client = engine.client()
    take, renew, unlock = map(script, ("decrease_stock.lua", "renew_lock.lua", "unlock.lua"))

    client.call("SET", "stock:{p1}", 10)
    print("take 3 of 10:", take.run(client, ["stock:{p1}"], [3]))
    print("take 8 of 7:", take.run(client, ["stock:{p1}"], [8]))
    try:
        take.run(client, ["stock:{p1}"], ["03"])
    except moonkeep.ErrorReply as error:
        print("take 03:", error)

    print("lock:", client.call("SET", "lock:{p1}", "mine", "NX", "PX", 5000))
    engine.advance_ms(4000)
    print("renewed after 4 s:", renew.run(client, ["lock:{p1}"], ["mine", 5000]))
    engine.advance_ms(4000)
    print("left after 8 s:", client.call("PTTL", "lock:{p1}"), "ms")
    print("unlocked by another:", unlock.run(client, ["lock:{p1}"], ["theirs"]))
    engine.advance_ms(1001)
    print("renewed too late:", renew.run(client, ["lock:{p1}"], ["mine", 5000]))


if __name__ == "__main__":
    main()
