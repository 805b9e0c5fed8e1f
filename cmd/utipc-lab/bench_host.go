// SPDX-License-Identifier: Apache-2.0

package main

const benchHostUsage = `utipc-lab bench host: be the other end of a measurement between two hosts.

    utipc-lab bench host --if IFACE [--listen ADDR] [--secret WORD]

Prints what to say on the host that measures, and runs the processes that it asks for
until it is interrupted. Needs root, and an IPv4 address on the interface; both interfaces
need the same MTU.

{flags}

Whoever knows the secret can load this host's processors and send what it likes by that
interface. What goes over the connection is not encrypted: use it where you trust the
network.

    utipc-lab bench host --if eth1                                              # there
    utipc-lab bench latency --host 10.0.0.2:6119 --secret WORD --if eth1        # here
`
