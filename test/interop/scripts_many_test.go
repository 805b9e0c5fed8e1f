// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

// manyClients are scripts about one kind of sockets, and about many connections.
var manyClients = []script{
	{name: "stream, a message read in part, then close", text: connected("stream") + `
		s: S send 60000 1
		c: C piece 1 100 => 100 bytes
		c: C close
		s: S end => reset
	`},
	{name: "seqpacket, a message longer than the room for it", text: connected("seqpacket") + `
		s: S send 66000 1
		s: S send 200 2
		c: C piece 1 100 => 100 bytes, cut
		c: C piece 2 200 => 200 bytes
	`},
	{name: "rdm, a message longer than the room for it", text: `
		s: S open rdm
		s: S bind $name
		c: $name knows
		c: C open rdm
		c: C send 66000 1 $name
		c: C send 200 2 $name
		s: S piece 1 100 => 100 bytes, cut
		s: S piece 2 200 => 200 bytes
	`},
	{name: "seqpacket, 50 connections that are busy at once", text: listening("seqpacket") + `
		s& L accept S#50
		c: C#50 open seqpacket => ok, 50 times
		c: C#50+ connect $name => ok, 50 times
		s! L => 50 accepted
		c& C#50+ pour 100000 1000
		s: S#50+ drain 100000 1000 => 100000 bytes, 50 times
		c! C#50+ => 100000 bytes, 50 times
	`},
	{name: "stream, 200 requests at once", text: listening("stream") + `
		s& L accept S#200
		c: C#200 open stream => ok, 200 times
		c: C#200+ connect $name => ok, 200 times
		s! L => 200 accepted
		c: C#200+ send 100 1 => ok, 200 times
		s: S#200 recv 1 100 => 100 bytes, 200 times
	`},
	{name: "stream, 1000 connections at once", text: listening("stream") + `
		s& L accept S#1000
		c: C#1000 open stream => ok, 1000 times
		c: C#1000 connect $name => ok, 1000 times
		s! L => 1000 accepted
		c: C#1000 send 100 1 => ok, 1000 times
		s: S#1000 recv 1 100 => 100 bytes, 1000 times
		s: S#1000 send 1400 2 => ok, 1000 times
		c: C#1000 recv 2 1400 => 1400 bytes, 1000 times
		c: C#1000 shutdown => ok, 1000 times
		s: S#1000 end => end, 1000 times
	`},
	{name: "seqpacket, more requests at once than may wait", text: `
		s: L open seqpacket
		s: L set limit 4608
		s: L bind $name
		s: L listen
		c: $name knows
		c: C#40 open seqpacket => ok, 40 times
		c& C#40+ connect $name
		pass 300ms
		s: L accept S#40 => 40 accepted
		c! C#40+ => ok, 40 times
		c: C#40 send 100 1 => ok, 40 times
		s: S#40 recv 1 => 100 bytes, 40 times
	`},
}
