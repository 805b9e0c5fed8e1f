# SPDX-License-Identifier: Apache-2.0
"""Tests of libutipc by ctypes, through examples/python/utipc.py."""

import ctypes
import errno
import os
import select
import socket
import sys
import threading
import unittest

import utipc

SOON = 60000  # ms; a test that meets it has failed


class Binding(unittest.TestCase):
    def setUp(self):
        self.here, self.there = utipc.Node("memory:"), utipc.Node("memory:")
        self.addCleanup(self.here.close)
        self.addCleanup(self.there.close)

    def fails(self, want, call, *args, **kwargs):
        with self.assertRaises(OSError) as e:
            call(*args, **kwargs)
        self.assertEqual(e.exception.errno, want)
        self.assertNotEqual(e.exception.strerror, "")

    def test_sizes(self):
        sizes = dict(zip(sys.argv[1].split()[::2], map(int, sys.argv[1].split()[1::2])))
        for name, type in {"addr": utipc.Addr, "options": utipc.Options, "info": utipc.Info, "event": utipc.Event}.items():
            self.assertEqual(ctypes.sizeof(type), sizes["utipc_" + name], name)

    def test_addresses(self):
        for text in "18888:17", "18888:0-99", "<1001002:134550589>":
            self.assertEqual(str(utipc.parse(text)), text)
        self.assertEqual(utipc.parse("18888:17"), utipc.service(18888, 17))
        self.fails(errno.EINVAL, utipc.parse, "nonsense")
        self.assertRegex(utipc.version(), r"^\d+\.\d+\.\d+$")

    def test_messages(self):
        name = utipc.service(6000, 7)
        server = self.there.socket(name=name, options=utipc.Options(importance=1))
        client = self.here.socket(socket.SOCK_DGRAM)
        self.here.wait_name(name, timeout=SOON)
        self.assertEqual(client.send(b"hello", name), 5)
        data, info = server.recv(timeout=SOON)
        self.assertEqual((data, info.source, info.to), (b"hello", client.local, utipc.range_of(6000, 7, 7)))
        server.send(b"answer", info.source)
        self.assertEqual(client.recv(3, timeout=SOON)[0], b"ans")
        self.assertRaises(BlockingIOError, client.recv, timeout=0)
        self.assertRaises(TimeoutError, client.recv, timeout=1)
        self.assertEqual(self.here.resolve(name, SOON), [server.local])
        server.bind(utipc.range_of(6001, 0, 9))
        server.unbind(utipc.range_of(6001, 0, 9))
        self.fails(errno.EADDRNOTAVAIL, server.unbind, utipc.range_of(6001, 0, 9))

    def test_connection(self):
        name = utipc.service(6002, 1)
        listener = self.there.listen(name, options=utipc.Options(flags=utipc.ACCEPT_AHEAD))
        self.here.wait_name(name, timeout=SOON)
        a = self.here.connect(name, timeout=SOON)
        b = listener.accept(SOON)
        self.assertEqual(a.remote, b.local)
        a.send(b"abc")
        a.shutdown()
        self.assertEqual(b.recv(timeout=SOON)[0], b"abc")
        self.assertEqual(b.recv(timeout=SOON)[0], b"")
        b.send(b"back")
        self.assertEqual(a.recv(timeout=SOON)[0], b"back")
        self.fails(errno.EHOSTUNREACH, self.here.connect, utipc.service(6002, 9))

    def test_group(self):
        a = self.here.join(utipc.service(6003, 1), utipc.Options(flags=utipc.EVENTS))
        b = self.there.join(utipc.service(6003, 2))
        a.wait_members(1, SOON)
        b.wait_members(1, SOON)
        _, info = a.recv(timeout=SOON)
        self.assertEqual((info.kind, info.source, info.member), (utipc.MEMBER_JOINED, b.local, utipc.service(6003, 2)))
        b.send(b"to all")
        self.assertEqual(a.recv(timeout=SOON)[0], b"to all")

    def test_names(self):
        names = self.here.subscribe(utipc.range_of(6004, 0, 9), utipc.SUB_COMPLETE)
        self.assertEqual(names.next(SOON).kind, utipc.COMPLETE)
        s = self.here.socket(name=utipc.service(6004, 5))
        address = s.local
        self.assertEqual(select.select([names], [], [], 60)[0], [names])
        event = names.next(0)
        self.assertEqual((event.kind, event.range, event.socket), (utipc.PUBLISHED, utipc.range_of(6004, 5, 5), address))
        s.close()
        self.assertEqual(names.next(SOON).kind, utipc.WITHDRAWN)
        self.fails(errno.EBADF, s.recv)

    def test_call(self):
        name = utipc.service(6005, 1)
        server = self.there.socket(name=name)

        def answer():
            data, info = server.recv(timeout=SOON)
            server.send(data.upper(), info.source)

        t = threading.Thread(target=answer)
        t.start()
        self.here.wait_name(name, timeout=SOON)
        self.assertEqual(self.here.call(name, b"hello", timeout=SOON), (b"HELLO", server.local))
        t.join()

    def test_handles(self):
        for handle in 0, -1, 3, 2**31 - 1, -(2**31):
            fake = utipc.Socket(1)
            fake.handle = handle
            self.fails(errno.EBADF, fake.recv, 10, 0)
            self.fails(errno.EBADF, fake.fileno)
        self.fails(errno.EOPNOTSUPP, self.here.fileno)
        self.fails(errno.EINVAL, self.here.socket, options=utipc.Options(flags=1 << 30))
        self.fails(errno.EINVAL, utipc.Node, "nonsense")

    def test_environment(self):
        os.environ["UTIPC_NODE"] = "memory:?node=1.1.77"  # after the library was loaded
        self.addCleanup(os.environ.pop, "UTIPC_NODE")
        with utipc.Node() as node:
            self.assertEqual(node.address, 0x100104D)

    def test_fork(self):
        s = self.here.socket()
        pid = os.fork()
        if pid == 0:
            try:
                s.recv()
            except OSError as e:
                os._exit(0 if e.errno == errno.EOWNERDEAD else 1)
            os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def test_threads(self):
        def ask(i):
            name = utipc.service(6006, i)
            with self.here.socket(name=name) as a, self.there.socket() as b:
                self.there.wait_name(name, timeout=SOON)
                for k in range(100):
                    b.send(b"%d %d" % (i, k), name)
                    self.assertEqual(a.recv(timeout=SOON)[0], b"%d %d" % (i, k))
            done.append(i)

        done = []
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted(done), list(range(8)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
