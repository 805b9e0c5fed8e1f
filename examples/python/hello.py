# SPDX-License-Identifier: Apache-2.0
"""Hello is the program of the README in Python: two nodes, and a message to a name."""

import utipc

with utipc.Node("memory:?node=1") as here, utipc.Node("memory:?node=2") as there:
    name = utipc.service(18888, 17)
    server = there.socket(name=name)  # has the name 18888:17
    here.wait_name(name, timeout=5000)  # until a socket anywhere has it
    here.socket().send(b"what time is it?", name)
    data, info = server.recv()
    print(f"node {info.source.node:x} asks: {data.decode()}")
