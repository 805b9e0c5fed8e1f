// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
)

// hexWords returns a message in words of 4 bytes.
func hexWords(b []byte) string {
	var w []string
	for part := range slices.Chunk(b, 4) {
		w = append(w, fmt.Sprintf("%x", part))
	}
	return strings.Join(w, " ")
}

// The example of spec 04 §6.1, recorded from 6.1: the first multicast of a socket goes by a
// copy, as there is one node to reach, which is a change of method. The twin goes ahead by
// broadcast. Addresses and the port are those of this test.
func TestMethodChangeAsRecorded(t *testing.T) {
	p := newPuppet(t, func(c *Config) { c.AsKernel = true })
	p.up()
	defer p.done()
	p.packet(p.names(func(f *frame.NamesFields) { f.UpdateSeq = 1 }, nameItem(7777, 17, 17, 5)))
	port := p.OpenPort(PortConfig{})
	at := fmt.Sprintf("%08x", port.Addr().Port)
	r := frame.Range{Type: 7777, Lower: 0, Upper: 100}
	data := bytes.Repeat([]byte("ab"), 15)
	for i, want := range [][]string{
		{
			"417a002c 24100000 00000001 01001001 " + at + " 00001267 01001001 00000000 00001e61 00000000 00000064",
			"416e004a 20100000 00000000 01001001 " + at + " 00000000 01001001 01001002 00001e61 00000000 00000064",
		},
		{"416c004a 20100000 00000000 01001001 " + at + " 00000000 01001001 01001002 00001e61 00000000 00000064"},
	} {
		p.collect()
		p.sent = nil
		if err := port.SendRange(p.now, r, data); err != nil {
			t.Fatal(err)
		}
		p.collect()
		var got []string
		for _, f := range p.sent {
			msg := bytes.Clone(f[frame.EthernetLen:])
			if len(msg) > 44 {
				frame.StampSeq(msg, 0)
				frame.StampAcks(msg, 0, 0)
				if !bytes.Equal(msg[44:], data) {
					t.Errorf("message %d: got data %q", i, msg[44:])
				}
				msg = msg[:44]
			}
			got = append(got, hexWords(msg))
		}
		if !slices.Equal(got, want) {
			t.Errorf("message %d:\n got %s\nwant %s", i, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
}
