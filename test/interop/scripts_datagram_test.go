// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

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
