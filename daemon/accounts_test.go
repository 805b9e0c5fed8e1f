// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"path/filepath"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// A process that has the number of one that has ended shares nothing with it.
// Mutation: enter does not ask whether the process has ended.
func TestNumberOfAnEndedProcess(t *testing.T) {
	n, err := stack.Open(t.Context(), stack.Config{NoBearers: true, GoPoller: true, Address: 0x1001001})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(t.Context())
	path := filepath.Join(t.TempDir(), "s")
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a := newAccounts(n, Quotas{})
	enter := func() (*session, *client) {
		c, err := attach.Dial(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s := &session{}
		if s.c, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.c.Close() })
		who, err := s.c.Credentials()
		if err != nil {
			t.Fatal(err)
		}
		cl, err := a.enter(s, who, &Quotas{})
		if err != nil {
			t.Fatal(err)
		}
		return s, cl
	}
	s1, first := enter()
	if s2, same := enter(); same != first {
		t.Error("two connections of a process are of two clients")
	} else {
		same.leave(s2)
	}
	first.gone = true
	s3, other := enter()
	if other == first || len(a.procs) != 2 {
		t.Errorf("got %d clients, want 2", len(a.procs))
	}
	first.leave(s1)
	other.leave(s3)
	if len(a.procs) != 0 || len(a.users) != 0 || a.server.held[connections] != 0 {
		t.Errorf("left: %d clients, %d users, %d connections", len(a.procs), len(a.users), a.server.held[connections])
	}
}
