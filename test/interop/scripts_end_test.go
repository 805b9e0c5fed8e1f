// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

// ending are scripts about how connections end, C and S being connected.
var ending = []script{
	{name: "shutdown", text: `
		c: C shutdown
		s: S end => end
		s: S send 10 1 => pipe
		c: C end => closed
		c: C send 10 1 => closed || pipe
	`},
	{name: "shutdown by the accepted end", text: `
		s: S shutdown
		c: C end => end
		c: C send 10 1 => pipe
	`},
	{name: "close", text: `
		c: C close
		s: S end => reset
		s: S send 10 1 => reset || pipe
	`},
	{name: "close by the accepted end", text: `
		s: S close
		c: C end => reset
		c: C send 10 1 => reset || pipe
	`},
	{name: "shutdown, then the other closes", text: `
		c: C shutdown
		s: S end => end
		s: S close
		c: C close
	`},
	{name: "close, then the other shuts down", text: `
		c: C close
		s: S end => reset
		s: S shutdown => ok
		s: S close
	`},
	{name: "both shut down at once", text: `
		c& C shutdown
		s& S shutdown
		c! C
		s! S
		c: C end => closed
		s: S end => closed
	`},
	{name: "both close at once", text: `
		c& C close
		s& S close
		c! C
		s! S
	`},
	{name: "much, then shutdown: all of it arrives", text: `
		c: C pour 50000 1000 => 50000 bytes
		c: C shutdown
		s: S drain all 1000 => 50000 bytes, then end
	`},
	{name: "much, then close: all of it arrives", text: `
		c: C pour 50000 1000 => 50000 bytes
		c: C close
		s: S drain all 1000 => 50000 bytes, then reset
	`},
	{name: "shutdown with data unread", text: `
		s: S send 2000 1
		s: S send 30 2
		pass 50ms
		c: C shutdown
		s: S end => end
	`},
	{name: "close with data unread", text: `
		s: S send 2000 1
		s: S send 30 2
		pass 50ms
		c: C close
		s: S end => reset
	`},
	{name: "shutdown while the other waits to write", text: `
		s& S pour 8000000 5000
		pass 300ms
		s? S
		c: C shutdown
		s! S => ..., then pipe
	`},
	{name: "close while the other waits to read", text: `
		s& S end
		pass 50ms
		s? S
		c: C close
		s! S => reset
	`},
	{name: "the dialing process is killed", text: `
		c: C send 100 1
		kill c
		s: S recv 1 100 => 100 bytes
		s: S end => reset
		s: S send 10 1 => reset || pipe
	`},
	{name: "the accepting process is killed", text: `
		kill s
		c: C end => reset
		c: C send 10 1 => reset || pipe
	`},
	{name: "nobody reads for 10 s", text: `
		c& C pour 4000000 10000
		s& S pour 4000000 1000
		pass 10s
		c? C
		s? S
		s: S drain 4000000 10000 => 4000000 bytes
		c! C => 4000000 bytes
		c: C drain 4000000 1000 => 4000000 bytes
		s! S => 4000000 bytes
	`},
	{name: "both write before either reads", text: `
		c& C pour 2000000 9000
		s& S pour 2000000 1400
		pass 20ms
		s: S drain 2000000 9000 => 2000000 bytes
		c: C drain 2000000 1400 => 2000000 bytes
		c! C => 2000000 bytes
		s! S => 2000000 bytes
	`},
	{name: "small writes", text: `
		c& C pour 60000 10
		s: S drain 60000 10 => 60000 bytes
		c! C => 60000 bytes
		c: C set nodelay 1
		c& C pour 20000 10
		s: S drain 20000 10 => 20000 bytes
		c! C => 20000 bytes
	`},
}

// lastScripts are played one after the other when all others are done: they take the line.
var lastScripts = []script{
	{name: "contact is lost: connected, half connected, blocked, in a group", text: `
		s: L open seqpacket
		s: L bind $name
		s: L listen
		c: $name knows
		c: C open seqpacket
		c& C connect $name
		s: L accept S
		c! C
		c: B open stream
		s: M open stream
		s: M listen
		s: M id => $M
		c& B connect $M
		s: M accept T
		c! B
		c& B pour 8000000 5000
		c: H open seqpacket
		c: H set timeout 4000
		c& H connect $name
		c: G open group
		c: G set events 1
		s: G open group
		s: G set events 1
		c: G join 29999:1
		s: G join 29999:2
		c: G members 1 => 1 joined, 0 left
		s: G members 1 => 1 joined, 0 left
		c: G send 100 1
		c: G fill 1 => 64 sent
		c& G send 100 2
		pass 300ms
		c? G
		cut
		c! G => unreachable || ...
		c: G members 1 => 0 joined, 1 left
		s: G recv 1 => 100 bytes
		s: G taken 64 => 64 taken
		s: G members 1 => 0 joined, 1 left
		s: G send 10 3 => unreachable
		c: C end => reset
		s: S end => reset
		c: C send 10 1 => reset || pipe
		c! B => ..., then reset || ..., then pipe
		s: T send 10 1 => reset || pipe
		c! H => timeout
	`},
}
