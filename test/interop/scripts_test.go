// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"fmt"
	"slices"
	"strings"
)

// listening makes a listener L at $name that c's station knows, and a socket C.
func listening(kind string) string {
	return strings.ReplaceAll(`
		s: L open KIND
		s: L bind $name
		s: L listen
		s: L id => $L
		c: $name knows
		c: C open KIND
	`, "KIND", kind)
}

// connected connects C to it, and S is the accepted end.
func connected(kind string) string {
	return listening(kind) + `
		c& C connect $name
		s: L accept S
		c! C
	`
}

// scriptSizes are lengths of messages: the least, those at which one block of flow control
// becomes two, one and two frames, the most.
var scriptSizes = []int{1, 2, 999, 1000, 1400, 1500, 8000, 65999, 66000}

// connectedSizes sends messages both ways, of all sizes and of one byte too many.
func connectedSizes(kind string) string {
	var b strings.Builder
	b.WriteString(connected(kind))
	for i, n := range scriptSizes {
		fmt.Fprintf(&b, "c: C send %d %d\ns: S recv %[2]d %[1]d => %[1]d bytes\n", n, i)
		fmt.Fprintf(&b, "s: S send %d %d\nc: C recv %[2]d %[1]d => %[1]d bytes\n", n, i+100)
	}
	if kind == "stream" {
		b.WriteString("c: C send 66001 7\ns: S recv 7 66001 => 66001 bytes\n")
	} else {
		b.WriteString("c: C send 66001 7 => too long\nc: C send 9 8\ns: S recv 8 => 9 bytes\n")
	}
	b.WriteString("c: C shutdown\ns: S end => end\n")
	return b.String()
}

// datagramSizes does the same between sockets without connections, by name and address.
func datagramSizes(kind string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "s: S open %s\ns: S bind $name\nc: C open %[1]s\nc: C id => $C\nc: $name knows\ns: S id => $S\n", kind)
	for i, n := range scriptSizes {
		fmt.Fprintf(&b, "c: C send %d %d $name\ns: S recv %[2]d => %[1]d bytes\n", n, i)
		fmt.Fprintf(&b, "c: C send %d %d $S\ns: S recv %[2]d => %[1]d bytes\n", n, i+50)
		fmt.Fprintf(&b, "s: S send %d %d $C\nc: C recv %[2]d => %[1]d bytes\n", n, i+100)
	}
	b.WriteString("c: C send 66001 7 $name => too long\nc: C send 9 8 $name\ns: S read => 9 bytes, name {$type,1,1}, code 0\n")
	return b.String()
}

// Kinds of sockets.
var (
	connectedKinds = []string{"stream", "seqpacket"}
	datagramKinds  = []string{"rdm", "dgram"}
)

// scripts returns all that a stage can play with the line whole. bulk is how many bytes
// go each way through a connection.
func scripts(bulk int) (all []script) {
	add := func(name, text string) { all = append(all, script{name: name, text: text}) }
	for _, kind := range connectedKinds {
		add(kind+", 1 to 66000 bytes, one more", connectedSizes(kind))
	}
	for _, kind := range datagramKinds {
		add(kind+", 1 to 66000 bytes, one more", datagramSizes(kind))
	}
	for _, kind := range connectedKinds {
		for _, s := range connecting {
			add(kind+", "+s.name, strings.ReplaceAll(s.text, "KIND", kind))
			all[len(all)-1].stalls = s.stalls
		}
		for _, s := range ending {
			add(kind+", "+s.name, connected(kind)+s.text)
		}
		add(kind+", much both ways", connected(kind)+strings.ReplaceAll(`
			c& C pour BULK 64000
			s: S drain BULK 64000 => BULK bytes
			c! C => BULK bytes
			s& S pour BULK 1300
			c: C drain BULK 1300 => BULK bytes
			s! S => BULK bytes
			c: C shutdown
			s: S end => end
		`, "BULK", fmt.Sprint(bulk)))
	}
	for _, kind := range datagramKinds {
		for _, s := range datagrams {
			add(kind+", "+s.name, strings.ReplaceAll(s.text, "KIND", kind))
		}
	}
	return slices.Concat(all, manyClients, groups)
}

// connecting are scripts about how connections come about; KIND is one that connects.
var connecting = []script{
	{name: "connect to a socket address", text: listening("KIND") + `
		c& C connect $L
		s: L accept S
		c! C
		c: C send 100 1
		s: S recv 1 100 => 100 bytes
		s: S id => $S
		c: C peer => $S
	`},
	{name: "connect to a name at a node", text: listening("KIND") + `
		c& C connect $name@$s
		s: L accept S
		c! C
		c: C send 100 1
		s: S recv 1 100 => 100 bytes
	`},
	{name: "data with the request, of a length that is counted apart", stalls: true, text: listening("KIND") + `
		c& C send 984 3 $name
		s: L accept S
		c! C
		s: S recv 3 984 => 984 bytes
		c& C pour 300000 100
		s: S drain 300000 100 => 300000 bytes
		c! C => 300000 bytes
	`},
	{name: "data with the request", text: listening("KIND") + `
		c& C send 800 3 $name
		s: L accept S
		c! C
		s: S recv 3 800 => 800 bytes
		s: S send 66000 4
		c: C recv 4 66000 => 66000 bytes
		c& C pour 300000 100
		s: S drain 300000 100 => 300000 bytes
		c! C => 300000 bytes
	`},
	{name: "66000 bytes with the request", text: listening("KIND") + `
		c& C send 66000 3 $L
		s: L accept S
		c! C
		s: S recv 3 66000 => 66000 bytes
		s: S send 10 4
		c: C recv 4 10 => 10 bytes
	`},
	{name: "nobody has the name, the port, the name at the node", text: `
		c: C open KIND
		c: C connect $name => unreachable
		c: D open KIND
		c: D connect <$s:3333> => refused
		c: E open KIND
		c: E connect $name@$s => refused
	`},
	{name: "the listener closes before it accepts", text: listening("KIND") + `
		c& C connect $L
		pass 200ms
		c? C
		s: L close
		c! C => refused
	`},
	{name: "nobody accepts in time; accepted too late", text: listening("KIND") + `
		c: C set timeout 2000
		c: C connect $name => timeout
		c: C close
		s: L accept S
		s: S end => reset
	`},
	{name: "a name bound for its own node", text: `
		s: L open KIND
		s: L bind $name node
		s: L listen
		c: C open KIND
		c: C connect $name => unreachable
		c: D open KIND
		c& D connect $name@$s
		s: L accept S
		c! D
		c: D send 100 1
		s: S recv 1 100 => 100 bytes
	`},
	{name: "strangers to a connection", text: connected("KIND") + `
		s: S id => $S
		c: D open rdm
		c: D set droppable 0
		c: D send 40 1 $S
		c: D recv 1 => returned 2, 40 bytes
		c: E open KIND
		c: E connect $S => refused
		c: C send 100 2
		s: S recv 2 100 => 100 bytes
	`},
	{name: "importance of the request is both ends'", text: listening("KIND") + `
		c: C set importance 2
		c& C connect $name
		s: L accept S
		c! C
		s: S get importance => 2
		c: C get importance => 2
	`},
	{name: "a request to a datagram socket", text: `
		s: S open rdm
		s: S bind $name
		c: $name knows
		c: C open KIND
		c: C set timeout 300
		c: C connect $name => timeout
		c: D open rdm
		c: D send 9 1 $name
		s: S recv 1 => 9 bytes
	`},
	{name: "a datagram to a listener comes back", text: listening("KIND") + `
		c: D open rdm
		c: D set droppable 0
		c: D send 40 1 $L
		c: D recv 1 => returned 2, 40 bytes
		c: D send 40 2 $name
		c: D recv 2 => returned 2, 40 bytes
	`},
}

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

// datagrams are scripts about sockets without connections; KIND is one.
var datagrams = []script{
	{name: "messages come back with data and reason", text: `
		c: C open KIND
		c: C set droppable 0
		c: C send 100 1 <$s:3333>
		c: C recv 1 => returned 2, 100 bytes
		c: C send 3000 2 <$s:3333>
		c: C recv 2 => returned 2, 1024 bytes
		c: C send 100 3 $name@$s
		c: C recv 3 => returned 1, 100 bytes
		c: C send 100 4 $name => unreachable
	`},
	{name: "droppable messages do not", text: `
		c: C open KIND
		c: C send 100 1 <$s:3333>
		c: C none 100
	`},
	{name: "unread messages come back at close", text: `
		s: S open KIND
		s: S bind $name
		c: $name knows
		c: C open KIND
		c: C set droppable 0
		s: R open KIND
		s: R id => $R
		c: C send 100 1 $name
		c: C send 2000 2 $name
		c: C send 5 3 $R
		s: R recv 3 => 5 bytes
		s: S close
		c: C recv 1 => returned 2, 100 bytes
		c: C recv 2 => returned 2, 1024 bytes
	`},
	{name: "too much unread comes back", text: `
		s: S open KIND
		s: S set limit 4608
		s: S bind $name
		c: $name knows
		c: C open KIND
		c: C set droppable 0
		c: C overrun 1000 $name => returned 4
		s: S recv 0 => 1000 bytes
		s: S recv 1 => 1000 bytes
	`},
	{name: "to a range, by broadcast and as copies", text: `
		s: S open KIND
		s: S bind $type:0-9
		s: R open KIND
		s: R bind $type:5-6
		c: $type:3 knows
		c: $type:6 knows
		c: C open KIND
		c: C send 500 1 $type:0-9
		s: S recv 1 => 500 bytes
		s: R recv 1 => 500 bytes
		c: B open KIND
		c: B set broadcast 1
		c: B send 3000 2 $type:4-5
		s: S recv 2 => 3000 bytes
		s: R recv 2 => 3000 bytes
		c: D open KIND
		c: D set replicast 1
		c: D send 66000 3 $type:6-20
		s: S recv 3 => 66000 bytes
		s: R recv 3 => 66000 bytes
		c: D send 10 4 $type:8-8
		s: S recv 4 => 10 bytes
		s: R none 50
	`},
	{name: "empty messages are not seen", text: `
		s: S open KIND
		s: S bind $name
		c: $name knows
		c: C open KIND
		c: C send 0 1 $name
		c: C send 7 2 $name
		s: S recv 2 => 7 bytes
	`},
}

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
