// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"math/rand/v2"
	"testing"

	"github.com/utipc/utipc/frame"
)

// A mark names its version, to whoever knows the identity and the signature, and is none for
// any other; random hashes, and those of recorded kernels, are none. Caught by this: Mark that
// leaves the identity out.
func TestMark(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	version := func(f frame.DiscoveryFields) uint8 {
		f.Type, f.Prev, f.NetID, f.MAC = frame.Response, 0x1001001, frame.DefaultNetID, frame.MAC{2, 0, 0, 0, 0, 1}
		m, err := frame.Parse(f.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		d, err := frame.ParseDiscovery(m)
		if err != nil {
			t.Fatal(err)
		}
		if c, e := d.Proof(); c != f.Challenge || e != f.Echo {
			t.Errorf("challenge and echo: got %x %x, want %x %x", c, e, f.Challenge, f.Echo)
		}
		return d.Version()
	}
	caps := frame.CapNodeID128 | frame.CapSynBit
	seen := map[uint32]bool{}
	for i := range 2000 {
		id := frame.AddrIdentity(frame.NodeAddr(0x1001001 + i%50))
		sig, v := uint16(r.Uint32()), uint8(1+r.IntN(255))
		h := frame.Mark(id, sig, v)
		if got := version(frame.DiscoveryFields{Capabilities: caps, Signature: sig, NetHash: h, Identity: id, Challenge: r.Uint64(), Echo: uint64(i % 2)}); got != v {
			t.Fatalf("got version %d, want %d", got, v)
		}
		for _, f := range []frame.DiscoveryFields{
			{Capabilities: caps, Signature: sig, NetHash: h, Identity: frame.AddrIdentity(0x2002002)},
			{Capabilities: caps, Signature: sig + 1, NetHash: h, Identity: id},
			{Capabilities: caps, Signature: sig, NetHash: r.Uint32(), Identity: id},
		} {
			if got := version(f); got != 0 {
				t.Errorf("%+v is taken for version %d", f, got)
			}
		}
		seen[h>>8] = true
	}
	if len(seen) < 1900 {
		t.Errorf("%d marks for 2000 nodes", len(seen))
	}
}
