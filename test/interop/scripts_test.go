// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"fmt"
	"slices"
	"strings"
)

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
