// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import "strings"

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
