// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"cmp"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/netdev"
)

// Timeouts are how long opening and attaching wait for somebody who is in the way: the owner of
// a claim, of a queue, of a hook, and of a program. 0: as long as a test may take.
type Timeouts struct{ Claim, Queue, Hook, Program time.Duration }

// SetTimeouts sets them until the test ends. While no test has set them, all are as long as
// a test may take, so that a pause of an owner that goes, or answers, is no failure.
func SetTimeouts(tb testing.TB, t Timeouts) {
	tb.Cleanup(func() { setTimeouts(Timeouts{}) })
	setTimeouts(t)
}

func setTimeouts(t Timeouts) {
	const long = 2 * time.Minute
	claimTimeout, queueTimeout = cmp.Or(t.Claim, long), cmp.Or(t.Queue, long)
	hookTimeout, programTimeout = cmp.Or(t.Hook, long), cmp.Or(t.Program, long)
}

func init() { setTimeouts(Timeouts{}) }

// TakeClaim is takeClaim.
func TakeClaim(ifname string) (release func(), err error) {
	c, err := takeClaim(ifname)
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
