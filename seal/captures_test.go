// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/seal"
)

// captureKey is the key both nodes of the captures have.
const captureKey = "0x00112233445566778899aabbccddeeffdeadbeef"

// A captureNode is our ring in the place of one of a capture's nodes, at its
// side of what was sent.
type captureNode struct {
	addr frame.NodeAddr
	ring *seal.Ring
	peer *seal.Peer // the other
	due  []uint8    // slots of the packets still to come of the last choice
	last []byte     // the packet they are of
}

// replay runs a capture of two nodes: what one sent is opened by our ring in the
// other's place, and sealed again by our ring in the sender's. Both must say what the
// kernel said, byte for byte. It returns the kinds of the packets.
func replay(t *testing.T, name string, master bool) (kinds map[seal.Kind]int, nodes map[frame.MAC]*captureNode) {
	t.Helper()
	frames, err := layers.ReadFile("../test/testdata/captures/" + name + ".pcap")
	if err != nil {
		t.Fatal(err)
	}
	key := parseKey(t, frame.ClusterKey, captureKey)
	a, b := frame.NodeAddr(0x01001001), frame.NodeAddr(0x01001002)
	node := func(own, other frame.NodeAddr) *captureNode {
		n := &captureNode{addr: own, ring: seal.NewRing(0, true), peer: seal.NewPeer(other)}
		n.ring.AcceptReplays(true)
		n.ring.SetSelf(own, frame.AddrIdentity(own))
		if master {
			err = n.ring.SetMaster(0, key, 0)
		} else {
			_, err = n.ring.SetKey(0, key, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	nodes = map[frame.MAC]*captureNode{
		{0x52, 0x54, 0x61, 0x4f, 0xd8, 0}: node(a, b),
		{0x52, 0x54, 0x8a, 0x10, 0x0b, 0}: node(b, a),
	}
	kinds = map[seal.Kind]int{}
	for i, f := range frames {
		w, sealed, err := layers.Unwrap(f.Data)
		if err != nil {
			t.Fatal(err)
		}
		now := f.Time.Sub(frames[0].Time)
		src := nodes[w.Src]
		var dst *captureNode
		for mac, n := range nodes {
			if mac != w.Src {
				dst = n
			}
		}
		at := fmt.Sprintf("%s frame %d, %v", name, i+1, now.Round(time.Millisecond))
		plain, _, err := dst.ring.Open(now, bytes.Clone(sealed), dst.peer)
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		m, err := frame.Parse(plain)
		if err != nil {
			t.Fatalf("%s: inside: %v", at, err)
		}
		kind := seal.KindOf(plain)
		kinds[kind]++
		if kind == seal.KeyDistr {
			k, err := frame.ParseKey(m)
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			// The sender made it just now.
			own, err := seal.NewKey(k.Mode(), k.Key())
			if err == nil {
				_, err = src.ring.SetKey(now, own, 0)
			}
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			if err := dst.ring.HandleKey(now, dst.peer, k); err != nil {
				t.Fatalf("%s: %v", at, err)
			}
		}
		if kind == seal.LinkState && plain[23]&1 != 0 { // a probe: what the kernel sends at its timer
			src.peer.HandleTimeout(now)
		}
		var to *seal.Peer
		if sealed[0]&1 != 0 {
			to = src.peer
		}
		if len(src.due) == 0 {
			c := src.ring.Choose(now, to, kind)
			src.due, src.last = append(src.due, c.Slots()...), bytes.Clone(plain)
		} else if !bytes.Equal(src.last, plain) {
			t.Fatalf("%s: another packet, where slots %v were due of the one before", at, src.due)
		}
		if len(src.due) == 0 || src.due[0] != sealed[1]>>6 {
			t.Fatalf("%s: %v under slot %d, want %v", at, kind, sealed[1]>>6, src.due)
		}
		got := make([]byte, seal.SealedSize(plain))
		if _, err := src.ring.Seal(got, plain, to, src.due[0]); err != nil || !bytes.Equal(got, sealed) {
			t.Fatalf("%s: %v sealed to\n%x, %v, want\n%x", at, kind, got, err, sealed)
		}
		src.due = src.due[1:]
		src.ring.HandleTimeout(now)
	}
	for _, n := range nodes {
		if len(n.due) != 0 {
			t.Errorf("%s: slots %v due at the end", name, n.due)
		}
	}
	return kinds, nodes
}

// Proves: seal.vectors
func TestCaptureClusterKey(t *testing.T) {
	kinds, nodes := replay(t, "24-crypto-cluster-key", false)
	want := map[seal.Kind]int{seal.Discovery: 15, seal.LinkReset: 1, seal.LinkActivate: 1, seal.LinkState: 13, seal.Other: 17}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
	for _, n := range nodes {
		if c := n.ring.Counters(); c.NoKey+c.BadTag+c.Malformed+c.Replayed+c.Spent+c.NoTX != 0 {
			t.Errorf("%v: got %+v, want no errors", n.addr, c)
		}
	}
}

// Proves: seal.vectors
func TestCaptureMasterKey(t *testing.T) {
	kinds, _ := replay(t, "25-crypto-master-key", true)
	want := map[seal.Kind]int{seal.Discovery: 22, seal.LinkReset: 1, seal.LinkActivate: 1, seal.LinkState: 95, seal.Other: 15, seal.KeyDistr: 2}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
}
