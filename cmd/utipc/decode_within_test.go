// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
)

// withinFrames are what tcpdump shows on the loopback device of a kernel node whose sockets
// connect to each other: two requests of different sockets, and the answer to the first, which
// names no node. All stations, sequence numbers and acknowledgements are 0.
// Source: docs/spec/01-wire.md §1.4.
func withinFrames(t *testing.T) (all [][]byte) {
	t.Helper()
	word := func(b []byte, i int, v uint32) { binary.BigEndian.PutUint32(b[4*i:], v) }
	message := func(words int, kind frame.PayloadType, from, to uint32) []byte {
		b := make([]byte, 4*words)
		word(b, 0, 2<<29|uint32(words)<<21|uint32(len(b)))
		word(b, 1, uint32(kind)<<29)
		word(b, 3, 0x01001001)
		word(b, 4, from)
		word(b, 5, to)
		if words > 6 {
			word(b, 6, 0x01001001)
			word(b, 7, 0x01001001)
		}
		return b
	}
	named := func(from uint32) []byte {
		b := message(10, frame.NamedMsg, from, 2001)
		word(b, 0, binary.BigEndian.Uint32(b)|1<<17)
		word(b, 1, uint32(frame.NamedMsg)<<29|uint32(frame.ClusterScope)<<19)
		word(b, 8, 20000)
		word(b, 9, 1)
		return b
	}
	for _, m := range [][]byte{named(1001), named(1002), message(6, frame.ConnMsg, 2001, 1001)} {
		all = append(all, append(append(make([]byte, 12), 0x88, 0xca), m...))
	}
	return all
}

// Messages within a node are of no link: nothing is twice, and nothing breaks a rule of links.
// Mutation: Tracker.message does not ask within, or Lint does not ask unsent.
func TestDecodeMessagesWithinANode(t *testing.T) {
	file := pcap(1, 65535, withinFrames(t)...)
	run := func(option string) string {
		out, errs, status := utipc(bytes.NewReader(file), "decode", option, "-")
		if status != cmdline.Done || errs != "" {
			t.Fatalf("%s: status %d, %q\n%s", option, status, errs, out)
		}
		return out
	}
	if out := run("--ladder"); strings.Contains(out, "twice") || strings.Count(out, "○") != 4 { // one in the legend
		t.Errorf("--ladder:\n%s", out)
	}
	if out := run("--stats"); strings.Contains(out, "Link") || strings.Contains(out, "duplicates") || !strings.Contains(out, "<1001001:1002>") {
		t.Errorf("--stats:\n%s", out)
	}
	if out := run("--lint"); !strings.Contains(out, " 0 findings") {
		t.Errorf("--lint:\n%s", out)
	}
}
