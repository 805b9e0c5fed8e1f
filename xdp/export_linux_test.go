// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"cmp"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
)

// Timeouts are how long opening and attaching wait for somebody who is in the way: the owner of
// a claim, of a queue, of a hook, and of a program. 0: as long as a test may take, so that a
// pause of an owner that goes, or answers, is no failure.
type Timeouts struct{ Claim, Queue, Hook, Program time.Duration }

// timeouts are t, without zeros.
func (t Timeouts) timeouts() timeouts {
	const long = 2 * time.Minute
	return timeouts{
		claim: cmp.Or(t.Claim, long), queue: cmp.Or(t.Queue, long),
		hook: cmp.Or(t.Hook, long), program: cmp.Or(t.Program, long),
	}
}

// clone returns a copy of what cfg points to, or a zero one.
func clone[T any](cfg *T) *T {
	var c T
	if cfg != nil {
		c = *cfg
	}
	return &c
}

// Open is Open with these timeouts.
func (t Timeouts) Open(ifname string, cfg *Config) (Bearer, error) {
	c := clone(cfg)
	c.timeouts = t.timeouts()
	return Open(ifname, c)
}

// OpenPacket is OpenPacket with these timeouts.
func (t Timeouts) OpenPacket(ifname string, cfg *PacketConfig) (*Packet, error) {
	c := clone(cfg)
	c.timeouts = t.timeouts()
	return OpenPacket(ifname, c)
}

// OpenXSK is OpenXSK with these timeouts.
func (t Timeouts) OpenXSK(ifname string, cfg *XSKConfig) (*XSK, error) {
	c := clone(cfg)
	c.timeouts = t.timeouts()
	return OpenXSK(ifname, c)
}

// Install is Install with these timeouts.
func (t Timeouts) Install(ifname, path string, mode Mode) (io.Closer, error) {
	return install(ifname, path, mode, t.timeouts().hook)
}

// Probe is Probe with these timeouts.
func (t Timeouts) Probe(ifname string) (Facts, error) {
	return probe(ifname, t.timeouts().claim)
}

// TakeClaim is takeClaim with these timeouts.
func (t Timeouts) TakeClaim(ifname string) (release func(), err error) {
	c, err := takeClaim(ifname, t.timeouts().claim)
	if err != nil {
		return nil, err
	}
	return c.release, nil
}

// ClaimSilently claims an interface of the calling thread's network namespace without a word.
// It returns where newcomers ask for one.
func ClaimSilently(ifname string) (ask *net.UnixAddr, release func(), err error) {
	ifi, err := net.InterfaceByName(ifname)
	if err != nil {
		return nil, nil, err
	}
	fd, inode, err := bindClaim(ifi.Index)
	if err != nil {
		return nil, nil, err
	}
	return introductionName(ifname, inode), func() { unix.Close(fd) }, nil
}

// Registrations counts how often an arena's memory is registered with the kernel.
func Registrations(arena *netdev.Arena) (n int) {
	umems.Lock()
	defer umems.Unlock()
	for _, u := range umems.all {
		if u.arena == arena {
			n++
		}
	}
	return n
}
