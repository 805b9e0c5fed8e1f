// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
)

// A name is taken back by the newest binding of its beginning and scope: with another end it is refused.
// What is taken back is not counted. Mutations: takeBack begins with the oldest; it goes on past one
// of the same beginning; it does not compare the scope.
//
// Proves: plain.errors
func TestPlainUnbind(t *testing.T) {
	b := newBed(t, daemon.Config{})
	s := b.plain(t, attach.KindRDM)
	name := func(lower, upper uint32, scope int8) attach.Header {
		a := rangeSockaddr(lower, upper)
		a.Scope = scope
		return attach.Header{Op: attach.OpPlainBind, Addr: a}
	}
	const cluster, node = 2, 3
	s.want(0, name(1, 5, -cluster)) // without names none is refused
	s.want(0, name(1, 5, cluster))
	s.want(0, name(1, 9, cluster))
	s.want(0, name(1, 7, node))
	s.want(syscall.EINVAL, name(1, 5, -cluster)) // 1 to 9 is newer
	s.want(syscall.EINVAL, name(1, 6, -cluster))
	s.want(syscall.EINVAL, name(2, 5, -cluster))
	s.want(syscall.EINVAL, name(1, 9, -node))
	s.want(0, name(1, 9, -cluster)) // 1 to 7 is newer, of another scope
	if c := b.srv.Counters(); c.Names != 2 {
		t.Errorf("%d names are counted, want two", c.Names)
	}
	s.want(0, name(1, 5, -cluster))
	s.want(0, name(1, 7, -node))
	if c := b.srv.Counters(); c.Names != 0 {
		t.Errorf("%d names are counted, want none", c.Names)
	}
}
