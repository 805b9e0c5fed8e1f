// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"fmt"
	"strings"
)

// inGroup makes a member of c's, C, with the instance 1, and of s's, S, with the instance
// 2, that know each other and have sent nothing.
const inGroup = `
	c: C open group
	c: C set events 1
	s: S open group
	s: S set events 1
	c: C join $type:1
	c: C id => $C
	s: S join $type:2
	s: S id => $S
	c: C take 0 => joined, $S, $type:2
	s: S take 0 => joined, $C, $type:1
`

// groupSizes sends to all and to one, messages of all sizes.
func groupSizes() string {
	var b strings.Builder
	b.WriteString(inGroup)
	for i, n := range scriptSizes {
		for k, to := range []string{"", "$S", "$type:2", "$type:2-2"} {
			fmt.Fprintf(&b, "c: C send %d %d %s\ns: S take %[2]d => %[1]d bytes, $C, $type:1\n", n, 10*i+k, to)
		}
		for k, to := range []string{"", "$C", "$type:1", "$type:1-1"} {
			fmt.Fprintf(&b, "s: S send %d %d %s\nc: C take %[2]d => %[1]d bytes, $S, $type:2\n", n, 10*i+k, to)
		}
	}
	b.WriteString("c: C send 66001 1 => too long\nc: C send 9 1\ns: S recv 1 => 9 bytes\n")
	return b.String()
}

// groupOrder sends to all, to one and to an instance in turn, 63 blocks for S, and reads
// then.
func groupOrder() string {
	var send, read strings.Builder
	for i := range 7 {
		for k, to := range []string{"", "$S", "$type:2-2", ""} {
			n := []int{3000, 10, 1400, 2500}[k]
			fmt.Fprintf(&send, "c: C send %d %d %s\n", n, 10*i+k, to)
			fmt.Fprintf(&read, "s: S recv %d => %d bytes\n", 10*i+k, n)
		}
	}
	return inGroup + `
		s: R open group
		s: R join $type:2
		c: C members 1 => 1 joined, 0 left
		s: S members 1 => 1 joined, 0 left
	` + send.String() + read.String()
}

// groups are scripts about groups with members on both sides.
var groups = []script{
	{name: "group, 1 to 66000 bytes to all, one, an instance", text: groupSizes()},
	{name: "group, members come and go, and come again", text: inGroup + `
		c: C leave
		s: S take 0 => left, $C, $type:1
		s: S send 10 1 => unreachable
		c: C join $type:5
		c: C id => $D
		s: S take 0 => joined, $D, $type:5
		c: C take 0 => joined, $S, $type:2
		c: C send 100 1
		s: S take 1 => 100 bytes, $D, $type:5
		s: S send 100 2
		c: C take 2 => 100 bytes, $S, $type:2
		s: S close
		c: C take 0 => left, $S, $type:2
		c: C send 10 1 => unreachable
	`},
	{name: "group, what was sent before leaving arrives", text: inGroup + `
		c: C send 1000 1
		c: C send 1000 2 $S
		c: C send 1000 3
		c: C leave
		s: S recv 1 => 1000 bytes
		s: S recv 2 => 1000 bytes
		s: S recv 3 => 1000 bytes
		s: S take 0 => left, $C, $type:1
	`},
	{name: "group, c's process is killed", text: inGroup + `
		c: C send 100 1
		kill c
		s: S recv 1 => 100 bytes
		s: S take 0 => left, $C, $type:1
		s: S send 10 1 => unreachable
	`},
	// The first message waits for the window that the other grants, the others do not.
	{name: "group, s's process is killed while c waits for it", text: inGroup + `
		c: C send 1 0
		c: C fill 1 => 64 sent
		c& C send 10 1
		pass 100ms
		c? C
		kill s
		c! C => unreachable || ...
		c: C take 0 => left, $S, $type:2
	`},
	// A member that has joined has no window yet, and is passed over until it grants one. A
	// message to all waits for every window, so that they take turns after it.
	{name: "group, one of an instance in turn", text: inGroup + `
		s: R open group
		s: R join $type:2
		c: C members 1 => 1 joined, 0 left
		s: S members 1 => 1 joined, 0 left
		c: C send 10 9
		s: S recv 9 => 10 bytes
		s: R recv 9 => 10 bytes
		c: C send 10 1 $type:2
		c: C send 10 1 $type:2
		s: S recv 1 => 10 bytes
		s: R recv 1 => 10 bytes
		c: C send 10 2 $type:2
		c: C send 10 2 $type:2
		s: S recv 2 => 10 bytes
		s: R recv 2 => 10 bytes
		c: C send 10 3 $type:3 => unreachable
	`},
	{name: "group, to all of an instance", text: inGroup + `
		s: R open group
		s: R join $type:2
		s: T open group
		s: T join $type:3
		c: C members 2 => 2 joined, 0 left
		s: S members 2 => 2 joined, 0 left
		c: C send 2000 1 $type:2-2
		c: C send 2000 2 $type:2-99
		c: C send 10 3 $type:3-3
		s: S recv 1 => 2000 bytes
		s: S recv 2 => 2000 bytes
		s: R recv 1 => 2000 bytes
		s: R recv 2 => 2000 bytes
		s: T recv 3 => 10 bytes
		c: C send 10 4
		s: T recv 4 => 10 bytes
		s: S recv 4 => 10 bytes
		s: R recv 4 => 10 bytes
		c: C send 10 5 $type:4-4 => unreachable
		c: C send 10 5 <$s:3333> => unreachable
	`},
	{name: "group, messages to all and to one keep their order", text: groupOrder()},
	{name: "group, loopback", text: `
		c: C open group
		c: C set events 1
		c: C set loopback 1
		c: C join $type:1
		c: C id => $C
		c: C take 0 => joined, $C, $type:1
		c: C send 100 1
		c: C take 1 => 100 bytes, $C, $type:1
		s: S open group
		s: S set events 1
		s: S join $type:2
		s: S id => $S
		s: S take 0 => joined, $C, $type:1
		c: C take 0 => joined, $S, $type:2
		c: C send 100 2
		c: C take 2 => 100 bytes, $C, $type:1
		s: S take 2 => 100 bytes, $C, $type:1
		s: S send 100 3
		c: C take 3 => 100 bytes, $S, $type:2
		s: S none 100
	`},
	{name: "group, a reader that stops, 65 and then 780 blocks", text: inGroup + `
		c: C send 1 0
		c: C fill 1 => 64 sent
		c& C send 10 65
		pass 100ms
		c? C
		s: S recv 0 => 1 bytes
		c! C
		c: C fill 1 => 715 sent
		c: C fill 1 $S => 0 sent
		s: S send 10 5
		c: C recv 5 => 10 bytes
	`},
	{name: "group, much to all, both ways at once", text: inGroup + `
		c& C pour 1000000 1000
		s& S pour 1000000 7000
		pass 200ms
		c? C
		s? S
		s: S drain 1000000 1000 => 1000000 bytes
		c: C drain 1000000 7000 => 1000000 bytes
		c! C => 1000000 bytes
		s! S => 1000000 bytes
	`},
	{name: "group, much to one", text: inGroup + `
		c& C pour 1000000 1400 $S
		s: S drain 1000000 1400 => 1000000 bytes
		c! C => 1000000 bytes
	`},
	{name: "group, of one node", text: `
		c: C open group
		c: C set events 1
		c: D open group
		c: D set events 1
		s: S open group
		s: S set events 1
		c: C join $type:1 node
		s: S join $type:2 node
		c: C none 300
		s: S none 1
		s: S send 10 1 => unreachable
		c: D join $type:3 node
		c: C members 1 => 1 joined, 0 left
		c: D members 1 => 1 joined, 0 left
		c: C send 100 1
		c: D recv 1 => 100 bytes
		s: S none 50
	`},
	{name: "group, 20 members that send to one", text: `
		c: C open group
		c: C set events 1
		c: C join $type:1
		c: C id => $C
		s: $type:1 knows
		s: S#20 open group => ok, 20 times
		s: S#20 join $type:2 => ok, 20 times
		c: C members 20 => 20 joined, 0 left
		s: S#20 send 100 1 $C => ok, 20 times
	` + strings.Repeat("c: C recv 1 => 100 bytes\n", 20) + `
		s: S#20 send 100 2 $C => ok, 20 times
	` + strings.Repeat("c: C recv 2 => 100 bytes\n", 20) + `
		s& S.0 pour 90000 100 $C
		c: C drain 90000 100 => 90000 bytes
		s! S.0 => 90000 bytes
		s& S.19 pour 90000 100 $C
		c: C drain 90000 100 => 90000 bytes
		s! S.19 => 90000 bytes
		c: C send 100 3
		s: S#20 recv 3 => 100 bytes, 20 times
	`},
}
