# SPDX-License-Identifier: Apache-2.0
"""Rpc calls a service by name: three workers in threads have the name, and calls go to them in turn."""

import errno
import threading

import utipc

SQUARE, WORKERS, CALLS = 20000, 3, 30


def work(socket):
    """Answer requests until the socket is closed."""
    try:
        while True:
            request, info = socket.recv()
            socket.send(str(int(request) ** 2).encode(), info.source)
    except OSError as e:
        if e.errno != errno.EBADF:
            raise


with utipc.Node("memory:?node=1") as node, utipc.Node("memory:?node=2") as other:
    square = utipc.service(SQUARE, 0)
    sockets = [other.socket(name=square) for _ in range(WORKERS)]
    threads = [threading.Thread(target=work, args=(s,)) for s in sockets]
    for t in threads:
        t.start()
    node.wait_name(square, WORKERS, timeout=5000)
    total = sum(int(node.call(square, str(x).encode(), timeout=5000)[0]) for x in range(1, CALLS + 1))
    print(f"the sum of {CALLS} squares is {total}")
    try:
        node.call(utipc.service(SQUARE, 1), b"1", timeout=5000)
    except OSError as e:
        print("a service that nobody has:", "unreachable" if e.errno == errno.EHOSTUNREACH else e)
    for s in sockets:
        s.close()
    for t in threads:
        t.join()
