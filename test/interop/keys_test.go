// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/test/interop/rig"
)

// Keys of the tests, 16 bytes with 4 of salt, and longer ones.
const (
	key16    = "0x00112233445566778899aabbccddeeffdeadbeef"
	key24    = "0x00112233445566778899aabbccddeeff0123456701234567deadbeef"
	key32    = "0x00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdefdeadbeef"
	otherKey = "this_is_a_key16_salt"
)

// Both kernels and a node of ours in one segment, with each kind of key: they make
// contact, everything is said, keys change under load and loss, nothing goes plain
// and no link is reset. Then what must not work, and who comes back.
//
// Proves: keys.kernels
func TestKeys(t *testing.T) {
	v := newKeyCluster(t, 20*time.Minute, 1)
	var table strings.Builder
	table.WriteString("| keys | what happens | seen |\n|---|---|---|\n")
	rows := []struct {
		name, promise string
		test          func(v *keyCluster, t *testing.T)
	}{
		{"cluster key of 16 bytes", "contact, everything said; then each makes a key of its own, under load, 1 % of all frames lost", func(v *keyCluster, t *testing.T) { v.clusterKey(t, key16, true) }},
		{"cluster key of 24 bytes", "contact, everything said", func(v *keyCluster, t *testing.T) { v.clusterKey(t, key24, false) }},
		{"cluster key of 32 bytes", "contact, everything said", func(v *keyCluster, t *testing.T) { v.clusterKey(t, key32, false) }},
		{"a key for each node", "contact, everything said", (*keyCluster).nodeKeys},
		{"master key", "contact, everything said; session keys, and others after them, each under load, 1 % of all frames lost", (*keyCluster).masterKey},
		{"a kernel without a key", "no contact, nor if a node of ours takes plain frames; contact once it has the key", (*keyCluster).keyless},
		{"a kernel with another key", "no contact", (*keyCluster).wrongKey},
		{"keys given one after the other", "no link is lost, if ours takes plain frames meanwhile", (*keyCluster).keysLate},
		{"a kernel crashes, then we restart", "contact again, under the same address and key", (*keyCluster).restarts},
	}
	ran := 0
	for _, row := range rows {
		v.notes = nil
		if !t.Run(row.name, func(t *testing.T) {
			row.test(v, t)
			ran++
		}) {
			return // what follows would wait for what is not there
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", row.name, row.promise, strings.Join(v.notes, "; "))
	}
	if ran == len(rows) { // -run may have chosen some
		var releases []string
		for _, k := range v.kernels {
			releases = append(releases, k.guest.Release())
		}
		document(t, "keys", strings.Join(releases, " and "), table.String())
	}
}

// key makes a key of ours.
func key(k stack.Key, err error) func(*testing.T) stack.Key {
	return func(t *testing.T) stack.Key {
		t.Helper()
		must(t, err)
		return k
	}
}

func (v *keyCluster) clusterKey(t *testing.T, text string, change bool) {
	for _, k := range v.kernels {
		k.setKey(t, text)
	}
	us := v.begin(t, key(stack.ClusterKey(text))(t))
	v.talk(t, us, v.kernels...)
	if change {
		v.settled(t, us)
		v.change(t, us)
	}
	v.end(t, us)
}

// nodeKeys gives each node a key of its own, which the others know.
func (v *keyCluster) nodeKeys(t *testing.T) {
	text := func(place int) string { return fmt.Sprintf("key_of_node_%d___salt", place) }
	var keys []stack.Key
	for i := range v.links {
		keys = append(keys, key(stack.NodeKey(text(i), frame.AddrIdentity(ourAddr+stack.NodeAddr(i))))(t))
		for _, k := range v.kernels {
			k.setKey(t, text(i), "nodeid", (ourAddr + stack.NodeAddr(i)).String())
		}
	}
	us := v.begin(t, keys...)
	v.talk(t, us, v.kernels...)
	v.end(t, us)
}

// masterKey has all nodes make keys of their own under a master key, twice.
func (v *keyCluster) masterKey(t *testing.T) {
	for _, k := range v.kernels {
		k.setKey(t, key16, "master")
	}
	us := v.begin(t, key(stack.MasterKey(key16))(t))
	v.talk(t, us, v.kernels...)
	for range 2 {
		v.change(t, us)
	}
	v.talk(t, us, v.kernels...)
	v.end(t, us)
}

// keyless has one kernel without a key: it hears nothing it understands. We do not hear
// it; nor does it help that a node of ours that takes plain frames hears it.
func (v *keyCluster) keyless(t *testing.T) {
	with, without := v.kernels[0], v.kernels[1]
	with.setKey(t, key16)
	v.plug(t)
	k := key(stack.ClusterKey(key16))(t)
	us := v.open(t, stack.Encryption{Keys: []stack.Key{k}})
	v.meet(t, us, with)
	v.until(t, func() bool { return musthave.Get(us.node.Admin().Encryption(context.Background())).PlainDropped > 2 }, "plain frames are dropped")
	v.stranger(t, us, without)
	v.note(t, "%d plain frames dropped", musthave.Get(us.node.Admin().Encryption(context.Background())).PlainDropped)
	v.close(t, us)

	us = v.open(t, stack.Encryption{Keys: []stack.Key{k}, Migration: true})
	v.meet(t, us, with)
	v.until(t, func() bool { return len(musthave.Get(us.node.Admin().Links(context.Background()))) == 2 }, "it is heard")
	v.stranger(t, us, without)
	if e := musthave.Get(us.node.Admin().Encryption(context.Background())); e.PlainDropped > 0 {
		t.Errorf("%d plain frames dropped", e.PlainDropped)
	}
	without.setKey(t, key16)
	v.meet(t, us, v.kernels...)
	if s := v.seen.of(keyClusterMAC(ourPlace)); s.plain > 0 {
		t.Errorf("we sent %d frames plain", s.plain)
	}
}

// wrongKey has one kernel with a key that nobody else has.
func (v *keyCluster) wrongKey(t *testing.T) {
	with, wrong := v.kernels[1], v.kernels[0]
	with.setKey(t, key16)
	wrong.setKey(t, otherKey)
	v.plug(t)
	us := v.open(t, stack.Encryption{Keys: []stack.Key{key(stack.ClusterKey(key16))(t)}})
	v.meet(t, us, with)
	v.until(t, func() bool {
		k := musthave.Get(us.node.Admin().Encryption(context.Background())).Keys
		return k.BadTag+k.NoKey > 2
	}, "frames are not opened")
	v.stranger(t, us, wrong)
	c := musthave.Get(us.node.Admin().Encryption(context.Background())).Keys
	v.note(t, "%d frames not opened", c.BadTag+c.NoKey)
}

// keysLate gives keys to nodes one after the other while they are in contact: no link
// is lost if all have them before their the timeout ends.
func (v *keyCluster) keysLate(t *testing.T) {
	v.plug(t)
	us := v.open(t, stack.Encryption{Expected: true, Migration: true})
	v.meet(t, us, v.kernels...)
	for _, k := range v.kernels {
		k.setKey(t, key16)
	}
	must(t, us.node.Admin().SetKey(context.Background(), key(stack.ClusterKey(key16))(t)))
	v.until(t, func() bool { return musthave.Get(us.node.Admin().Encryption(context.Background())).Keys.Opened > 20 }, "frames are opened")
	v.talk(t, us, v.kernels...)
	for _, l := range us.links(t) {
		if !l.up || l.resets > 0 {
			t.Errorf("our link %s: up %t, %d resets", l.name, l.up, l.resets)
		}
	}
}

// restarts has a kernel crash and come back under the same address and key, whose
// counter begins anew; then us, whose counter does not.
func (v *keyCluster) restarts(t *testing.T) {
	for _, k := range v.kernels {
		k.setKey(t, key16)
	}
	us := v.begin(t, key(stack.ClusterKey(key16))(t))
	k := v.kernels[0]
	must(t, k.guest.Kill())
	must(t, k.boot(rig.RequireKernel(t, k.flavour)))
	k.setKey(t, key16)
	k.enable(t)
	v.until(t, func() bool {
		for _, l := range musthave.Get(us.node.Admin().Links(context.Background())) {
			if l.Peer == k.node {
				return l.Up && l.Resets > 0
			}
		}
		return false
	}, "it is back")
	v.meet(t, us, v.kernels...)
	v.talk(t, us, v.kernels...)

	v.close(t, us)
	us = v.open(t, stack.Encryption{Keys: []stack.Key{key(stack.ClusterKey(key16))(t)}})
	v.meet(t, us, v.kernels...)
	v.talk(t, us, v.kernels...)
	v.end(t, us)
}

// stranger checks that neither our node nor the other kernel has a link to one.
func (v *keyCluster) stranger(t *testing.T, us *ours, k *keeper) {
	t.Helper()
	for _, l := range musthave.Get(us.node.Admin().Links(context.Background())) {
		if l.Peer == k.node && l.Up {
			t.Errorf("contact with %s", k.flavour)
		}
	}
	if out := k.do(t, "tipc link list"); strings.Count(out, ": up") > 1 { // that of broadcast is
		t.Errorf("%s has links:\n%s", k.flavour, out)
	}
}

// settled waits until each node has its first key in use for sending.
func (v *keyCluster) settled(t *testing.T, us *ours) {
	t.Helper()
	v.until(t, func() bool { own, _ := inUse(us); return own != 0 }, "our key is in use")
	for _, k := range v.kernels {
		v.until(t, func() bool { return k.switched(t) > k.switches }, "%s uses its key", k.flavour)
	}
}

// inUse tells the slot of the key that our node sends with, 0 while it is not settled,
// and the slots of those it receives with.
func inUse(us *ours) (own int, peers map[stack.NodeAddr]int) {
	e := musthave.Get(us.node.Admin().Encryption(context.Background()))
	for i, s := range e.Slots {
		switch {
		case i > 0 && s.State == seal.Active && s.Users == len(e.Peers):
			own = i
		case i > 0 && s.State == seal.Pending:
			return 0, nil
		}
	}
	peers = map[stack.NodeAddr]int{}
	for _, p := range e.Peers {
		for i, s := range p.Slots {
			if s.State == seal.Active {
				peers[p.Node] = i
			}
		}
	}
	return own, peers
}

// switched counts how often the kernel has gone over to a new key of its own.
func (k *keeper) switched(t *testing.T) int {
	t.Helper()
	return strings.Count(k.do(t, "dmesg | grep -F 'TX(): key' || true"), "is activated")
}

// change has all nodes make new keys at about the same time, with streams both ways
// between us and each kernel and every hundredth frame lost on its way to each station.
// No message may be lost or doubled.
func (v *keyCluster) change(t *testing.T, us *ours) {
	t.Helper()
	own, peers := inUse(us)
	var streams []keyClusterFlow
	for _, k := range v.kernels {
		k.switches = k.switched(t)
		v.flows += 2
		streams = append(streams, v.flow(t, us, k.theirs, v.flows, 10*time.Millisecond), v.flow(t, k.theirs, us, v.flows+1, 10*time.Millisecond))
	}
	before := v.segment.Counts()
	v.segment.Set(fault.Faults{Loss: 0.01}, 7)
	began := time.Now()
	must(t, us.node.Admin().Rekey(context.Background()))
	for _, k := range v.kernels {
		k.do(t, "tipc node set key rekeying now")
	}
	v.until(t, func() bool {
		now, theirs := inUse(us)
		if now == 0 || now == own || len(theirs) != len(v.kernels) {
			return false
		}
		for a, s := range theirs {
			if s == peers[a] {
				return false
			}
		}
		return true
	}, "new keys are in use at our node")
	for _, k := range v.kernels {
		v.until(t, func() bool { return k.switched(t) > k.switches }, "%s uses its new key", k.flavour)
	}
	took := time.Since(began)
	v.segment.Set(fault.Faults{}, 7)
	messages := 0
	for _, s := range streams {
		messages += s.end(t).Messages
	}
	after := v.segment.Counts()
	if after.Lost == before.Lost {
		t.Error("no frame was lost")
	}
	now, _ := inUse(us)
	v.note(t, "changed within %v, ours from slot %d to %d; %d messages arrived once and in order, %d of %d frames lost",
		took.Round(time.Second/10), own, now, messages, after.Lost-before.Lost, after.Seen-before.Seen)
}

// plug puts the kernels on the segment until the test ends.
func (v *keyCluster) plug(t *testing.T) {
	t.Helper()
	must(t, v.segment.settle(v.links)) // what those before have said is no matter
	v.seen.forget()
	for _, k := range v.kernels {
		k.switches = k.switched(t)
		k.enable(t)
		t.Cleanup(func() { k.disable(t) })
	}
}

// begin puts the kernels, which have their keys, and a node of ours with these on the
// segment, and waits until all have met.
func (v *keyCluster) begin(t *testing.T, keys ...stack.Key) *ours {
	t.Helper()
	v.plug(t)
	us := v.open(t, stack.Encryption{Keys: keys, Rekey: -1})
	v.meet(t, us, v.kernels...)
	return us
}

// end checks what the wire and both sides' counters say of a time in which all had
// keys: no frame was plain, no nonce of ours came twice, no link was reset.
func (v *keyCluster) end(t *testing.T, us *ours) {
	t.Helper()
	for i := range v.links {
		if s := v.seen.of(keyClusterMAC(i)); s.plain > 0 || s.frames == [4]int{} {
			t.Errorf("station %d sent %d frames plain, %d sealed", i, s.plain, s.frames)
		}
	}
	if n := v.seen.repeated(); n > 0 {
		t.Errorf("%d nonces of ours came twice", n)
	}
	for _, l := range us.links(t) {
		if !l.up || l.resets > 0 {
			t.Errorf("our link %s: up %t, %d resets", l.name, l.up, l.resets)
		}
	}
	e := musthave.Get(us.node.Admin().Encryption(context.Background()))
	t.Logf("ours: %+v, %+v, plain dropped %d", e.Keys, e.Sealing, e.PlainDropped)
	v.note(t, "no frame plain, no link reset")
}
