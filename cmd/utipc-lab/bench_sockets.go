// SPDX-License-Identifier: Apache-2.0

package main

const benchSocketsUsage = `utipc-lab bench sockets: what kinds of sockets cost beside each other: connections beside
RDM, dialing beside TCP, requests to an active port and messages that are not copied
beside bare frames.

    utipc-lab bench sockets [--short] [FLAGS]

Needs root and two cores. It measures as 'utipc-lab bench datapath' does, whose -h tells of
the table.

{flags}

How things are measured:

RDM             to a name and back to a socket, as in bench datapath; one way to a socket's
                address
SEQPACKET       over one connection, dialed anew for each round
STREAM          the same; a reply is read until it is whole
Go net TCP      package net on the kernel's TCP, both ends asleep
dials           one goroutine connects and closes, one accepts and closes. TCP closes with a
                reset, so that no port stays in use
Call            Node.Call to an active port, whose handler answers within the poll; beside
                bare frames, and beside RDM with sockets at both ends
WriteBuffer     messages written where they are sent from, and read where they lie. Above
                the MTU they are cut, and joined by one copy
idle            heap in use behind a collection, of 10,000 connections between two nodes in
                this process, each of which has carried a message both ways

    utipc-lab bench sockets --short
    utipc-lab bench sockets --only 'rtt|call' --json results.json --pprof .
`
