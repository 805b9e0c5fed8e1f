# SPDX-License-Identifier: Apache-2.0
"""libutipc for Python: nodes, sockets, names and groups of TIPC, by ctypes alone.

    node = utipc.Node("memory:")                  # or "udp:10.0.0.1", "attach:", None for $UTIPC_NODE
    server = node.socket(name=utipc.service(18888, 17))
    data, info = server.recv()

Timeouts are in milliseconds: None waits without end, 0 does not wait. A call that fails raises
OSError with the errno and the library's sentence: TimeoutError, BlockingIOError, and so on. While
a call waits other threads run, and Ctrl-C is not seen: give it a timeout, or wait with a selector,
for which nodes' sockets have fileno().

The library is libutipc.so.0, or the file that $UTIPC_LIBRARY names.
"""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_size_t, c_ssize_t, c_uint32, c_void_p
from socket import SOCK_DGRAM, SOCK_RDM, SOCK_SEQPACKET, SOCK_STREAM

NONE, SERVICE, RANGE, SOCKET = range(4)  # Addr.kind
RETURNABLE, ACCEPT_AHEAD, NO_DELAY, SYNC_ERRORS, LOOPBACK, EVENTS = (1 << i for i in range(6))  # options, flags
SCOPE_CLUSTER, SCOPE_NODE = 2, 3
STRICT, LAG, DROP_OLDEST = range(3)  # options, policy
DATA, MEMBER_JOINED, MEMBER_LEFT, MEMBER_EVICTED, MEMBER_DROPPING = range(5)  # Info.kind
TRUNCATED, PRIVATE, EVICTS = 1, 2, 4  # Info.flags
PUBLISHED, WITHDRAWN, COMPLETE = 1, 2, 3  # Event.kind
SUB_RANGES, SUB_CHANGES, SUB_COMPLETE = 1, 2, 4
MAX_MESSAGE = 66000


class _Struct(ctypes.Structure):
    def __eq__(self, other):
        return type(self) is type(other) and bytes(self) == bytes(other)

    def __hash__(self):
        return hash(bytes(self))


class Addr(_Struct):
    """An address; its text is as "18888:17", "18888:0-99" or "<1001002:134550589>"."""

    _fields_ = [(name, c_uint32) for name in ("kind", "node", "port", "type", "lower", "upper")]

    def __str__(self):
        text = ctypes.create_string_buffer(64)
        _check(_lib.utipc_format(byref(self), text, len(text)))
        return text.value.decode()

    __repr__ = __str__


class Options(_Struct):
    """Options of a socket, by name: Options(flags=RETURNABLE)."""

    _names = ("flags", "importance", "scope", "multicast", "policy", "policy_limit", "receive_limit", "backlog")
    _fields_ = [(name, c_uint32) for name in _names] + [("name_wait", c_int32), ("reserved", c_uint32 * 7)]


class Info(_Struct):
    """What is known of a message."""

    _names = ("kind", "flags", "error", "importance", "behind")
    _fields_ = [("source", Addr), ("to", Addr), ("member", Addr)] + [(name, c_uint32) for name in _names]
    _fields_ += [("reserved", c_uint32 * 3)]


class Event(_Struct):
    """A name that came, or went."""

    _fields_ = [("range", Addr), ("socket", Addr)] + [(name, c_uint32) for name in ("kind", "scope", "key", "reserved")]


_lib = ctypes.CDLL(os.environ.get("UTIPC_LIBRARY", "libutipc.so.0"))
_addr, _options = POINTER(Addr), POINTER(Options)
for _name, _result, _args in (
    ("version", c_char_p, ()),
    ("strerror", c_char_p, (c_int,)),
    ("last_error", c_char_p, ()),
    ("parse", c_int, (c_char_p, _addr)),
    ("format", c_int, (_addr, c_char_p, c_size_t)),
    ("open", c_int, (c_char_p, c_int)),
    ("node_address", c_int, (c_int, POINTER(c_uint32))),
    ("wait_nodes", c_int, (c_int, c_int, c_int)),
    ("wait_published", c_int, (c_int, c_int)),
    ("wait_name", c_int, (c_int, _addr, c_int, c_int)),
    ("resolve", c_ssize_t, (c_int, _addr, _addr, c_size_t, c_int)),
    ("close", c_int, (c_int, c_int)),
    ("socket", c_int, (c_int, c_int, _addr, _options)),
    ("listen", c_int, (c_int, c_int, _addr, _options)),
    ("accept", c_int, (c_int, c_int)),
    ("connect", c_int, (c_int, c_int, _addr, _options, c_int)),
    ("join", c_int, (c_int, _addr, _options)),
    ("wait_members", c_int, (c_int, c_int, c_int)),
    ("bind", c_int, (c_int, _addr, c_int)),
    ("unbind", c_int, (c_int, _addr, c_int)),
    ("local", c_int, (c_int, _addr)),
    ("remote", c_int, (c_int, _addr)),
    ("shutdown", c_int, (c_int,)),
    ("send", c_ssize_t, (c_int, c_char_p, c_size_t, _addr, c_int)),
    ("recv", c_ssize_t, (c_int, c_void_p, c_size_t, POINTER(Info), c_int)),
    ("call", c_ssize_t, (c_int, _addr, c_char_p, c_size_t, c_void_p, c_size_t, _addr, c_int)),
    ("subscribe", c_int, (c_int, _addr, c_uint32)),
    ("next", c_int, (c_int, POINTER(Event), c_int)),
    ("fd", c_int, (c_int,)),
):
    _function = getattr(_lib, "utipc_" + _name)
    _function.restype, _function.argtypes = _result, _args


def _check(result):
    if result < 0:
        raise OSError(-result, _lib.utipc_last_error().decode())
    return result


def _ms(timeout):
    return -1 if timeout is None else int(timeout)


def service(type, instance, node=0):
    """One socket that has bound the instance, on the node if it is not 0."""
    return Addr(kind=SERVICE, node=node, type=type, lower=instance)


def range_of(type, lower, upper):
    """Every socket that has bound a part of the range."""
    return Addr(kind=RANGE, type=type, lower=lower, upper=upper)


def parse(text):
    """The address of a text, as "18888:17"."""
    addr = Addr()
    _check(_lib.utipc_parse(text.encode(), byref(addr)))
    return addr


def version():
    return _lib.utipc_version().decode()


class Handle:
    """What is open in the library, until close, or the end of a with."""

    def __init__(self, result):
        self.handle = _check(result)

    def close(self, timeout=5000):
        """Close it. A node or a connection waits so long until what was sent has arrived."""
        handle, self.handle = self.handle, 0
        if handle:
            _check(_lib.utipc_close(handle, _ms(timeout)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fileno(self):
        """A descriptor that is readable exactly while a call would not wait; of all but a Node."""
        return _check(_lib.utipc_fd(self.handle))


class Node(Handle):
    """A node of the cluster, within this process or as a daemon's program."""

    def __init__(self, text=None, timeout=None):
        super().__init__(_lib.utipc_open(text and text.encode(), _ms(timeout)))

    @property
    def address(self):
        address = c_uint32()
        _check(_lib.utipc_node_address(self.handle, byref(address)))
        return address.value

    def wait_nodes(self, count, timeout=None):
        _check(_lib.utipc_wait_nodes(self.handle, count, _ms(timeout)))

    def wait_published(self, timeout=None):
        _check(_lib.utipc_wait_published(self.handle, _ms(timeout)))

    def wait_name(self, name, count=1, timeout=None):
        _check(_lib.utipc_wait_name(self.handle, name, count, _ms(timeout)))

    def resolve(self, name, timeout=None):
        """The sockets that have a name now."""
        room = 16
        while True:
            found = (Addr * room)()
            count = _check(_lib.utipc_resolve(self.handle, name, found, room, _ms(timeout)))
            if count <= room:
                return list(found[:count])
            room = count

    def socket(self, type=SOCK_RDM, name=None, options=None):
        return Socket(_lib.utipc_socket(self.handle, type, name, options))

    def listen(self, name=None, type=SOCK_STREAM, options=None):
        return Socket(_lib.utipc_listen(self.handle, type, name, options))

    def connect(self, to, type=SOCK_STREAM, options=None, timeout=None):
        return Socket(_lib.utipc_connect(self.handle, type, to, options, _ms(timeout)))

    def join(self, group, options=None):
        return Socket(_lib.utipc_join(self.handle, group, options))

    def subscribe(self, name, flags=0):
        return Subscription(_lib.utipc_subscribe(self.handle, name, flags))

    def call(self, to, request, size=MAX_MESSAGE, timeout=None):
        """Send a request, and return its answer and the socket that it came from."""
        answer, source = ctypes.create_string_buffer(size), Addr()
        n = _check(_lib.utipc_call(self.handle, to, request, len(request), answer, size, byref(source), _ms(timeout)))
        return answer.raw[:n], source


class Socket(Handle):
    """A socket without connection, a listener, a connection, or a member of a group."""

    def bind(self, name, scope=0):
        _check(_lib.utipc_bind(self.handle, name, scope))

    def unbind(self, name, scope=0):
        _check(_lib.utipc_unbind(self.handle, name, scope))

    @property
    def local(self):
        addr = Addr()
        _check(_lib.utipc_local(self.handle, byref(addr)))
        return addr

    @property
    def remote(self):
        addr = Addr()
        _check(_lib.utipc_remote(self.handle, byref(addr)))
        return addr

    def accept(self, timeout=None):
        return Socket(_lib.utipc_accept(self.handle, _ms(timeout)))

    def wait_members(self, count, timeout=None):
        _check(_lib.utipc_wait_members(self.handle, count, _ms(timeout)))

    def send(self, data, to=None, timeout=None):
        """Send bytes, and return how many were sent: of a stream, not always all."""
        return _check(_lib.utipc_send(self.handle, bytes(data), len(data), to, _ms(timeout)))

    def recv(self, size=MAX_MESSAGE, timeout=None):
        """Return the bytes that come next, none at the end of a connection, and their Info."""
        data, info = ctypes.create_string_buffer(size), Info()
        n = _check(_lib.utipc_recv(self.handle, data, size, byref(info), _ms(timeout)))
        return data.raw[:n], info

    def shutdown(self):
        _check(_lib.utipc_shutdown(self.handle))


class Subscription(Handle):
    """The names of a range that come and go."""

    def next(self, timeout=None):
        event = Event()
        _check(_lib.utipc_next(self.handle, byref(event), _ms(timeout)))
        return event
