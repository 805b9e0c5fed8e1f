# SPDX-License-Identifier: Apache-2.0
#
#   zeromq.py one | serve | use
#
# ZeroMQ's patterns over tipc:// by python3-zmq: both parts in one process, or each on a node
# of its own. It prints a line for each pattern.
import sys
import threading

import zmq

ECHOES, MESSAGES, TOPICS = 200, 10000, 500
SIZES = (0, 1, 63, 64, 1000, 65999, 66001, 300000)
context = zmq.Context()


def opened(kind, address, bind=False):
    s = context.socket(kind)
    s.setsockopt(zmq.LINGER, 60000)
    s.setsockopt(zmq.SNDTIMEO, 60000)
    s.setsockopt(zmq.RCVTIMEO, 60000)
    for limit in (zmq.SNDHWM, zmq.RCVHWM):
        s.setsockopt(limit, 0)
    (s.bind if bind else s.connect)(address)
    return s


def routed(router):
    for _ in range(MESSAGES):
        router.send_multipart(router.recv_multipart())


def published(xpub):
    assert xpub.recv() == b"\x01a"
    for i in range(TOPICS):
        xpub.send(b"b%d" % i)
        xpub.send(b"a%d" % i)


def serve(ready):
    rep = opened(zmq.REP, "tipc://{18888,0,9}", True)
    router = opened(zmq.ROUTER, "tipc://{18889,1,1}", True)
    xpub = opened(zmq.XPUB, "tipc://{18890,1,1}", True)
    pull = opened(zmq.PULL, "tipc://<*>", True)
    parts = [threading.Thread(target=routed, args=(router,)), threading.Thread(target=published, args=(xpub,))]
    for p in parts:
        p.start()
    ready.set()
    while True:
        m = rep.recv()
        if m == b"where":
            rep.send_string(pull.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0"))
        elif m == b"sum":
            rep.send_string(str(sum(int(pull.recv()) for _ in range(MESSAGES))))
        elif m == b"bye":
            rep.send(b"bye")
            break
        else:
            rep.send(m)
    for p in parts:
        p.join()
    for s in (rep, router, xpub, pull):
        s.close()


def use():
    req = opened(zmq.REQ, "tipc://{18888,5}@0.0.0")

    def ask(m):
        req.send(m)
        return req.recv()

    right = sum(ask(b"%d" % i) == b"%d" % i for i in range(ECHOES))
    print("REQ/REP:", right, "of", ECHOES, flush=True)
    print("sizes:", [len(ask(b"x" * n)) for n in SIZES], flush=True)

    dealer = opened(zmq.DEALER, "tipc://{18889,1}@0.0.0")
    for i in range(MESSAGES):
        dealer.send(b"%d" % i)
    right = sum(dealer.recv() == b"%d" % i for i in range(MESSAGES))
    print("ROUTER/DEALER:", right, "of", MESSAGES, flush=True)
    dealer.close()

    sub = opened(zmq.SUB, "tipc://{18890,1}@0.0.0")
    sub.setsockopt(zmq.SUBSCRIBE, b"a")
    right = sum(sub.recv() == b"a%d" % i for i in range(TOPICS))
    print("PUB/SUB:", right, "of", TOPICS, flush=True)
    sub.close()

    where = ask(b"where").decode()
    push = opened(zmq.PUSH, where)
    for i in range(MESSAGES):
        push.send(b"%d" % i)
    right = ask(b"sum") == b"%d" % sum(range(MESSAGES))
    print("wildcard:", where.startswith("tipc://<1.1.") and right, flush=True)
    push.close()
    print(ask(b"bye").decode(), flush=True)
    req.close()


ready = threading.Event()
if sys.argv[1] == "one":
    server = threading.Thread(target=serve, args=(ready,))
    server.start()
    ready.wait()
    use()
    server.join()
else:
    serve(ready) if sys.argv[1] == "serve" else use()
context.term()
