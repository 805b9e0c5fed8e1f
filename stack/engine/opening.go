// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// errNoChunk means that there is no chunk for a frame now.
var errNoChunk = errors.New("engine: no chunk")

// A node that says it has no key of ours is sent it after keyDelay to keyDelay and
// keySpread, at random. Source: docs/spec/09-security.md §4.4.
const (
	keyDelay  = 500 * time.Millisecond
	keySpread = 2 * time.Second
)

// takesPlain reports whether plain frames are taken though there are keys.
func (e *Engine) takesPlain() bool { return e.cfg.Migration || e.cfg.AsKernel }

// plainFrame reports whether a frame that came plain goes on. Keys never do.
func (e *Engine) plainFrame(now time.Duration, m frame.Message) bool {
	c := e.crypt
	switch {
	case c.keyed() && !e.takesPlain():
		e.drop(DropPlain)
		e.logLimited(now, &c.plain, PlainDropped, m.Prev())
		return false
	case carriesKey(m.Bytes()):
		e.drop(DropPlainKey)
		return false
	}
	return true
}

// carriesKey reports whether a message is a key message, or has one inside.
func carriesKey(msg []byte) bool {
	switch frame.UserOf(msg) {
	case frame.UserCrypto:
		return true
	case frame.UserBundler, frame.UserTunnel:
	default:
		return false
	}
	m, err := frame.Parse(msg)
	if err != nil {
		return false
	}
	if t, err := frame.ParseTunnel(m); err == nil {
		return len(t.Data()) >= frame.ShortLen && carriesKey(t.Data())
	}
	u, err := frame.ParseBundle(m)
	if err != nil {
		return false
	}
	for inner, err := range u.Messages() {
		if err != nil {
			return false
		}
		if frame.UserOf(inner.Bytes()) == frame.UserCrypto {
			return true
		}
	}
	return false
}

// handleSealed takes a sealed frame: it is opened where it lies, its Ethernet header
// moved in front of what was inside, and goes on as if it had come so. One that somebody
// else holds as well is copied first. Source: docs/spec/09-security.md §2.
func (e *Engine) handleSealed(now time.Duration, b *bearer, f *netdev.Buffer) {
	if !f.Shared() {
		e.openFrame(now, b, f)
		return
	}
	c := e.cfg.Arena.Get(f.Len(), netdev.Control)
	if c == nil {
		e.drop(DropLimit)
		return
	}
	copy(c.Extend(f.Len()), f.Bytes())
	e.openFrame(now, b, c)
	c.Recycle()
}

// openFrame opens a frame in place, for handleSealed.
func (e *Engine) openFrame(now time.Duration, b *bearer, f *netdev.Buffer) {
	whole := f.Bytes()
	sealed := whole[frame.EthernetLen:]
	a, id, disc, err := seal.Source(sealed)
	if err != nil {
		e.drop(DropMalformed)
		return
	}
	n, p := e.sealer(a, id, disc)
	plain, opened, err := e.crypt.ring.Open(now, sealed, p)
	if err != nil {
		e.unopened(now, n, err)
		if err == seal.ErrReplay {
			e.unproven(now, b, frame.MAC(whole[6:12]), n, p, opened.Strange)
		}
		return
	}
	if opened.Activated && n != nil {
		e.keyInUse(n, opened.Slot)
	}
	if opened.Needs && n != nil {
		p.NoKeyFor(now, keyDelay+e.cfg.Chance.Retry(keySpread))
		e.crypt.next = min(e.crypt.next, p.KeyDeadline())
	}
	m, err := frame.Parse(plain)
	if err != nil {
		e.drop(dropOf(err))
		return
	}
	at := len(sealed) - frame.TagLen - len(plain) // the header's length
	copy(whole[at:], whole[:frame.EthernetLen])
	f.Place(f.Offset()-f.Chunk()+at, frame.EthernetLen+len(m.Bytes()))
	from := frame.MAC(whole[at+6 : at+12])
	if !disc {
		e.unproven(now, b, from, n, p, false)
	}
	c := e.crypt
	c.opened, c.open, c.openedBy = true, opened, p
	e.dispatch(now, b, from, m, f)
	c.opened = false
}

// sealer is the node that a sealed frame claims to be from, nil for one not known, and
// what there is to open it with, nil for the node's own keys alone.
func (e *Engine) sealer(a frame.NodeAddr, id frame.Identity, disc bool) (*node, *seal.Peer) {
	var n *node
	if !disc {
		n = e.peer(a)
	} else if n = e.identities[id]; n == nil {
		if g := e.crypt.given[id]; g != nil {
			return nil, g.as
		}
	}
	if n == nil {
		return nil, nil
	}
	return n, e.cipherPeer(n)
}

// unopened counts a sealed frame that goes no further.
func (e *Engine) unopened(now time.Duration, n *node, err error) {
	d := DropMalformed
	switch err {
	case seal.ErrNoKey:
		d = DropNoKey
	case seal.ErrTag:
		d = DropTag
	case seal.ErrReplay:
		d = DropReplay
	}
	e.drop(d)
	if d == DropNoKey || d == DropTag {
		var from frame.NodeAddr
		if n != nil {
			from = n.addr
		}
		e.logLimited(now, &e.crypt.stranger, NotOpened, from)
	}
}
