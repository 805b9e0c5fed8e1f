// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// A frame that no chunk has room for once it is sealed is dropped, and those behind it
// go out: it was made before there was a key.
//
// Proves: seal.secrets
func TestSealedFrameTooLong(t *testing.T) {
	for _, shared := range []bool{false, true} {
		p := newScriptedPeer(t, func(c *Config) { c.Sealed = true })
		if err := p.SetKey(0, Key{Key: testKey(t, frame.ClusterKey, 3)}); err != nil {
			t.Fatal(err)
		}
		for p.NextFrame(0) != nil { // discovery
		}
		b := p.bearers[0]
		long := p.arena.Get(p.arena.Largest(), netdev.Control)
		long.Extend(p.arena.Largest())
		if shared {
			long.Hold()
		}
		p.push(b, long, nil)
		p.discover(b, frame.BroadcastMAC, frame.Request, 0, 0)
		f := p.NextFrame(0)
		if f == nil || f.Len() > 200 || p.WantsMemory() || p.Encryption().Sealing.Unsealed != 1 {
			t.Errorf("shared %v: got %v, %+v", shared, f, p.Encryption().Sealing)
		}
	}
}

// What SetKey refuses changes nothing: the links stay as they are.
//
// Proves: seal.secrets
func TestSetKeyRefuses(t *testing.T) {
	p := newScriptedPeer(t).up()
	for name, k := range map[string]Key{
		"none":                       {},
		"zero":                       {Key: new(seal.Key)},
		"the cluster's, of one node": {Key: testKey(t, frame.ClusterKey, 3), Node: frame.AddrIdentity(popAddr)},
	} {
		if err := p.SetKey(p.now, k); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: got %v", name, err)
		}
		if p.crypt != nil || p.nodes[0].contact != UpUp {
			t.Errorf("%s: encryption began, contact %v", name, p.nodes[0].contact)
		}
	}
}

// A key message that waited for its turn in memory of its own leaves no key there.
//
// Proves: seal.secrets
func TestDeferredKeyIsWiped(t *testing.T) {
	p := newScriptedPeer(t, func(c *Config) { c.Sealed = true })
	if err := p.SetKey(0, Key{Key: testKey(t, frame.ClusterKey, 3), Master: true}); err != nil {
		t.Fatal(err)
	}
	f := frame.KeyFields{Common: frame.Common{Prev: popAddr}, Generation: 5, Mode: frame.NodeKey, Orig: popAddr, Dest: ownAddr}
	b := f.Append(nil, testKey(t, frame.NodeKey, 5).Append(nil))
	m, err := frame.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	p.takeKey(0, &node{addr: popAddr}, m, nil)
	if got := p.Encryption().Sealing.KeysTaken; got != 1 {
		t.Fatalf("%d keys taken", got)
	}
	if !bytes.Equal(b[frame.KeyMessageLen:], make([]byte, 20)) {
		t.Errorf("left %x", b[frame.KeyMessageLen:])
	}
}
