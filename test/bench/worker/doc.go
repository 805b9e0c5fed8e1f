// SPDX-License-Identifier: Apache-2.0

// Package worker runs loads in processes of their own and is told what to do in lines
// of JSON: a Request on the standard input, a Response for each on the standard output.
//
//	parent                               worker, in a namespace, on one core
//	Start ─────────────────────────────► Serve
//	Open  ── {"id":1,"open":{…}} ──────► opens the load
//	Run   ── {"id":2,"run":{…}} ───────► runs a job ...
//	Stop  ── {"stop":2} ───────────────► ... which ends soon
//	Close ── end of input ─────────────► closes the load and exits
//
// A worker keeps its load open from round to round, so that links stay up and memory
// stays warm. It ends when its input ends, hence with its parent.
package worker

import (
	"time"

	"github.com/utipc/utipc/test/bench/load"
)

// A Request asks for one thing: Open, Run or Stop.
type Request struct {
	ID   int       `json:"id,omitempty"`
	Open *Open     `json:"open,omitempty"`
	Run  *load.Job `json:"run,omitempty"`
	Stop int       `json:"stop,omitempty"` // the ID of a job; it has no Response of its own
}

// A Response answers the Request with the same ID.
type Response struct {
	ID     int          `json:"id"`
	Info   *load.Info   `json:"info,omitempty"`
	Result *load.Result `json:"result,omitempty"`
	Error  string       `json:"error,omitempty"`
}

// Which load to open.
const (
	Bare  = "bare"  // frames on a device; Iface, Driver, Peer
	TIPC  = "tipc"  // a node on a device; besides: End, Wait, Datagram, Single, Socket
	Conns = "conns" // connections of a node on a device, or of Go's net; besides: End, Wait, Socket, Dials, Addrs
	TCP   = "tcp"   // the kernel's TCP; Addrs, End, Wait, Nagle
	UDP   = "udp"   // the kernel's UDP; Addrs, End, Wait. As a driver: the UDP carrier, between Addrs; never chosen
	Holds = "holds" // a device that is open, and no more; Iface, Driver
	Flood = "flood" // frames of another EtherType or malformed ones; Iface, Wait, Peer
	Burn  = "burn"  // a loop that burns its core

	Shared   = "shared"   // shared memory, a file; Path, End
	Unix     = "unix"     // a UNIX socket; Path, End; Socket "stream" or "datagram" with Wait, else packets with package net
	Daemon   = "daemon"   // a node that programs attach to; Path, Wait, End; Iface, Driver, unless it is alone; TCP
	Attached = "attached" // such a program; Path, Wait; Socket "ring": through the ring. Of two, Peer is whom end 0 talks to

	Pipe = "pipe" // two pipes with names; Path, End, Wait

	Iperf3   = "iperf3"   // what iperf3 finds one way, of TCP; Addrs, End
	Sockperf = "sockperf" // what sockperf finds of round trips; Addrs, End; Socket "tcp" or "udp"
	Pingpong = "pingpong" // what fi_pingpong finds of round trips of libfabric; Addrs, End; Socket "tcp" or "udp"
	Perftest = "perftest" // what ucx_perftest finds of round trips of UCX over TCP; Addrs, End
	Testpmd  = "testpmd"  // what DPDK's testpmd finds one way, of frames; Iface, End; Socket "af_packet" or "af_xdp"

	Memory = "memory" // two nodes in this process; Socket, MTU, Single, Key
	Local  = "local"  // two sockets of one node in this process; Wait; Socket: rdm, call, tipcpacket, tipc; or two of Go's channels: channel
)

// An Open says which load a worker opens. The fields a load does not name are unused.
type Open struct {
	Load     string    `json:"load"`
	End      int       `json:"end"`
	Iface    string    `json:"iface,omitempty"`
	Driver   string    `json:"driver,omitempty"`
	Addrs    [2]string `json:"addrs"` // IPv4, of both ends
	Wait     string    `json:"wait,omitempty"`
	Datagram bool      `json:"datagram,omitempty"`
	Single   bool      `json:"single,omitempty"`
	Buffers  bool      `json:"buffers,omitempty"` // of Conns: what goes one way does so without a copy
	Nagle    bool      `json:"nagle,omitempty"`   // TCP without NODELAY
	Socket   string    `json:"socket,omitempty"`  // the network of a connection: tipc, tipcpacket, tcp; of TIPC besides: call, buffers; of Unix: stream, datagram
	Dials    bool      `json:"dials,omitempty"`   // a round trip is to connect and to close
	Counted  bool      `json:"counted,omitempty"` // results of TIPC and Conns say what AES alone takes
	Key      int       `json:"key,omitempty"`     // bytes of the AES key that nodes have; 0: plain
	MTU      int       `json:"mtu,omitempty"`
	Path     string    `json:"path,omitempty"`
	TCP      string    `json:"tcp,omitempty"` // of a Daemon: its address of TCP, with the prefix, as 10.99.0.1/16
	Peer     load.Info `json:"peer"`          // of the other end, when that was opened before
}

// opening is how long a load may take to open.
const opening = 40 * time.Second
