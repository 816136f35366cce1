"""moonkeep from Python, by ctypes alone: engines, clients, scripts, snapshots and journals of include/moonkeep.h.

    import moonkeep
    engine = moonkeep.Engine()
    client = engine.client()
    client.call("SET", "lease", "me", "PX", 5000)
    engine.advance_ms(5001)
    assert client.call("GET", "lease") is None

Replies are Python values: bytes, int, float, bool, None, list, dict (RESP3 maps), frozenset; a status is a str. An error reply
raises ErrorReply, and stands as one where it is part of a reply. All else that fails raises Failure, with its code.
"""

import ctypes
import ctypes.util
import os
import sys
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

ABI_VERSION = 1
OK = 0
ERR_NULL, ERR_USAGE, ERR_CLOSED, ERR_BUSY, ERR_REENTERED, ERR_POISONED = range(1, 7)
ERR_WOULD_BLOCK, ERR_PANIC, ERR_LOST, ERR_BREACH = range(7, 11)
STRING, ARRAY, INTEGER, NIL, STATUS, ERROR, DOUBLE, BOOL, MAP, SET = range(1, 11)
PUSH, BIGNUM, VERB = range(12, 15)


class Failure(Exception):
    """A call that was not made, or not to its end."""

    def __init__(self):
        self.code = _lib.mk_last_error_code()
        super().__init__(_lib.mk_last_error().decode(errors="replace"))


class ErrorReply(Exception):
    """What a command or a script answers as an error."""


def _load():
    name = "libmoonkeep.dylib" if sys.platform == "darwin" else "libmoonkeep.so"
    root = os.path.join(os.path.dirname(__file__), "..", "..", "target", "release", name)
    for path in (os.environ.get("MOONKEEP_LIBRARY"), root, ctypes.util.find_library("moonkeep")):
        if path and (os.path.exists(path) or os.sep not in path):
            return ctypes.CDLL(path)
    raise OSError("libmoonkeep is not found: name it in MOONKEEP_LIBRARY, or install it (just install PREFIX)")


_lib = _load()
_WORDS = (c_int, POINTER(c_char_p), POINTER(c_size_t))

for _name, _result, _arguments in (
    ("mk_abi_version", c_int, ()),
    ("mk_version", c_char_p, ()),
    ("mk_last_error", c_char_p, ()),
    ("mk_last_error_code", c_int, ()),
    ("mk_options_new", c_void_p, ()),
    ("mk_options_free", None, (c_void_p,)),
    ("mk_options_seed", c_int, (c_void_p, c_uint64)),
    ("mk_options_manual_clock", c_int, (c_void_p, c_int64)),
    ("mk_options_system_clock", c_int, (c_void_p,)),
    ("mk_engine_with", c_void_p, (c_void_p,)),
    ("mk_engine_free", None, (c_void_p,)),
    ("mk_advance_ms", c_int, (c_void_p, c_int64)),
    ("mk_set_time_ms", c_int, (c_void_p, c_int64)),
    ("mk_now_ms", c_int64, (c_void_p,)),
    ("mk_fork", c_void_p, (c_void_p,)),
    ("mk_restore", c_int, (c_void_p, c_void_p)),
    ("mk_state_hash", c_int, (c_void_p, POINTER(c_uint64))),
    ("mk_snapshot_new", c_void_p, (c_void_p,)),
    ("mk_snapshot_free", None, (c_void_p,)),
    ("mk_snapshot_diff", c_void_p, (c_void_p, c_void_p)),
    ("mk_client_new", c_void_p, (c_void_p,)),
    ("mk_client_free", None, (c_void_p,)),
    ("mk_call_borrow", c_void_p, (c_void_p, *_WORDS)),
    ("mk_start", c_int, (c_void_p, *_WORDS)),
    ("mk_poll", c_int, (c_void_p, POINTER(c_void_p))),
    ("mk_cancel", c_int, (c_void_p,)),
    ("mk_next_message", c_int, (c_void_p, POINTER(c_void_p))),
    ("mk_script_new", c_void_p, (c_char_p, c_size_t)),
    ("mk_script_checked", c_void_p, (c_char_p, c_size_t, c_char_p, c_size_t)),
    ("mk_script_free", None, (c_void_p,)),
    ("mk_script_sha", c_char_p, (c_void_p,)),
    ("mk_script_run_borrow", c_void_p, (c_void_p, c_void_p, c_int, *_WORDS)),
    ("mk_journal_new", c_void_p, (c_void_p,)),
    ("mk_journal_free", None, (c_void_p,)),
    ("mk_journal_next", c_int, (c_void_p, POINTER(c_void_p))),
    ("mk_reply_type", c_int, (c_void_p,)),
    ("mk_reply_integer", c_int64, (c_void_p,)),
    ("mk_reply_dval", c_double, (c_void_p,)),
    ("mk_reply_str", c_void_p, (c_void_p,)),
    ("mk_reply_len", c_size_t, (c_void_p,)),
    ("mk_reply_elements", c_size_t, (c_void_p,)),
    ("mk_reply_element", c_void_p, (c_void_p, c_size_t)),
    ("mk_reply_free", None, (c_void_p,)),
):
    _function = getattr(_lib, _name)
    _function.restype, _function.argtypes = _result, _arguments

if _lib.mk_abi_version() != ABI_VERSION:
    raise OSError(f"libmoonkeep has interface {_lib.mk_abi_version()}, this file is for {ABI_VERSION}")


def version():
    return _lib.mk_version().decode()


def _bytes(word):
    if isinstance(word, bytes):
        return word
    if isinstance(word, (str, int, float)) and not isinstance(word, bool):
        return str(word).encode()
    raise TypeError(f"a word is bytes, str, int or float, not {type(word).__name__}")


def _words(words):
    words = [_bytes(word) for word in words]
    lengths = (c_size_t * len(words))(*map(len, words))
    return len(words), (c_char_p * len(words))(*words), lengths


def _needed(result):
    """A pointer that is not NULL."""
    if not result:
        raise Failure()
    return result


def _done(code):
    if code != OK:
        raise Failure()


def _value(reply):
    """A reply as a Python value."""
    kind = _lib.mk_reply_type(reply)
    if kind in (INTEGER, BOOL):
        number = _lib.mk_reply_integer(reply)
        return bool(number) if kind == BOOL else number
    if kind == NIL:
        return None
    if kind == DOUBLE:
        return _lib.mk_reply_dval(reply)
    if kind in (ARRAY, PUSH, MAP, SET):
        elements = [_value(_lib.mk_reply_element(reply, at)) for at in range(_lib.mk_reply_elements(reply))]
        if kind == MAP:
            return dict(zip(map(_hashable, elements[::2]), elements[1::2]))
        return frozenset(map(_hashable, elements)) if kind == SET else elements
    text = ctypes.string_at(_lib.mk_reply_str(reply), _lib.mk_reply_len(reply))
    if kind == BIGNUM:
        return int(text)
    if kind == ERROR:
        return ErrorReply(text.decode(errors="replace"))
    return text.decode(errors="replace") if kind == STATUS else text


def _hashable(value):
    """A value as a member of a set or a key of a map may be: an array is a tuple, a map one of pairs."""
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return tuple((key, _hashable(item)) for key, item in value.items())
    return value


def _raised(value):
    if isinstance(value, ErrorReply):
        raise value
    return value


def _owned(reply):
    """The value of a reply that is ours to free."""
    try:
        return _value(_needed(reply))
    finally:
        _lib.mk_reply_free(reply)


def _fetched(function, handle):
    """What a function that polls gives: a value, or None when there is nothing yet."""
    reply = c_void_p()
    _done(function(handle, ctypes.byref(reply)))
    return _owned(reply.value) if reply.value else None


class _Handle:
    """Something of the library's that is freed with the object, or when a `with` block ends. It keeps what it is of."""

    _free = None

    def __init__(self, handle, of=None):
        self._handle = _needed(handle)
        self._of = of

    def close(self):
        handle, self._handle = self._handle, None
        getattr(_lib, self._free)(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) and _lib is not None:
            self.close()


class Engine(_Handle):
    """Databases, scripts and the clock, which stands until it is moved: pass clock_ms=None for the system's."""

    _free = "mk_engine_free"

    def __init__(self, seed=0, clock_ms=1_704_067_200_000, _handle=None):
        if _handle is None:
            options = _needed(_lib.mk_options_new())
            try:
                _done(_lib.mk_options_seed(options, seed))
                if clock_ms is None:
                    _done(_lib.mk_options_system_clock(options))
                else:
                    _done(_lib.mk_options_manual_clock(options, clock_ms))
                _handle = _lib.mk_engine_with(options)
            finally:
                _lib.mk_options_free(options)
        super().__init__(_handle)

    def client(self):
        return Client(_lib.mk_client_new(self._handle), self)

    def advance_ms(self, ms):
        """Moves the clock on and expires what is due."""
        _done(_lib.mk_advance_ms(self._handle, ms))

    def set_time_ms(self, unix_ms):
        _done(_lib.mk_set_time_ms(self._handle, unix_ms))

    def now_ms(self):
        now_ms = _lib.mk_now_ms(self._handle)
        if now_ms < 0:
            raise Failure()
        return now_ms

    def fork(self):
        return Engine(_handle=_lib.mk_fork(self._handle))

    def snapshot(self):
        return Snapshot(_lib.mk_snapshot_new(self._handle))

    def restore(self, snapshot):
        _done(_lib.mk_restore(self._handle, snapshot._handle))

    def state_hash(self):
        value = c_uint64()
        _done(_lib.mk_state_hash(self._handle, ctypes.byref(value)))
        return value.value

    def journal(self):
        return Journal(_lib.mk_journal_new(self._handle), self)


class Client(_Handle):
    """A session, for one thread at a time."""

    _free = "mk_client_free"

    def call(self, *words):
        return _raised(_value(_needed(_lib.mk_call_borrow(self._handle, *_words(words)))))

    def start(self, *words):
        """Begins a call that may have to wait; `poll` fetches its reply."""
        _done(_lib.mk_start(self._handle, *_words(words)))

    def poll(self):
        """True and the reply, or False and None while it waits."""
        reply = c_void_p()
        _done(_lib.mk_poll(self._handle, ctypes.byref(reply)))
        return (True, _raised(_owned(reply.value))) if reply.value else (False, None)

    def cancel(self):
        """Gives up the call that `start` began."""
        _done(_lib.mk_cancel(self._handle))

    def next_message(self):
        return _fetched(_lib.mk_next_message, self._handle)


class Script(_Handle):
    """A Lua script; checked=True holds it to the contract in its header."""

    _free = "mk_script_free"

    def __init__(self, source, checked=False):
        source = _bytes(source)
        if checked:
            super().__init__(_lib.mk_script_checked(source, len(source), None, 0))
        else:
            super().__init__(_lib.mk_script_new(source, len(source)))

    @property
    def sha(self):
        return _lib.mk_script_sha(self._handle).decode()

    def run(self, client, keys=(), args=()):
        words = _words([*keys, *args])
        reply = _lib.mk_script_run_borrow(client._handle, self._handle, len(keys), *words)
        return _raised(_value(_needed(reply)))


class Snapshot(_Handle):
    _free = "mk_snapshot_free"

    def diff(self, after):
        """What differs in `after`, a line for each key."""
        return [line.decode(errors="replace") for line in _owned(_lib.mk_snapshot_diff(self._handle, after._handle))]


class Journal(_Handle):
    """What is written from now on: (unit, Unix ms, database, words) for each write, oldest first."""

    _free = "mk_journal_free"

    def __iter__(self):
        while (write := _fetched(_lib.mk_journal_next, self._handle)) is not None:
            yield tuple(write)
