# SPDX-License-Identifier: Apache-2.0
"""Pubsub publishes readings to all who have asked for a topic; one selector waits for everything."""

import selectors

import utipc

READINGS, PUBLISHER = 19000, 19001  # types of service; the instance is the topic
TOPICS = {0: "cellar", 1: "attic"}

with utipc.Node("memory:?node=1") as node, utipc.Node("memory:?node=2") as other:
    selector = selectors.DefaultSelector()
    for topic, name in TOPICS.items():
        selector.register(node.socket(name=utipc.service(READINGS, topic)), selectors.EVENT_READ, name)
    names = node.subscribe(utipc.service(PUBLISHER, 0))
    selector.register(names, selectors.EVENT_READ)

    source = other.socket(name=utipc.service(PUBLISHER, 0))
    everyone = utipc.range_of(READINGS, 0, 99)
    other.wait_name(everyone, 2, timeout=5000)
    source.send(b"12 degrees", utipc.range_of(READINGS, 0, 0))
    source.send(b"power cut", everyone)

    readings, there = 0, True
    while there:
        for key, _ in selector.select():
            if key.fileobj is names:
                there = names.next(timeout=0).kind == utipc.PUBLISHED
                print("the publisher is", "there" if there else "gone")
                continue
            data, _ = key.fileobj.recv(timeout=0)
            print(f"{key.data}: {data.decode()}")
            readings += 1
            if readings == 3:
                source.close()
