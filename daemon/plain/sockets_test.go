// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// unlimited is an Owner without limits.
type unlimited struct{}

func (unlimited) Queued() *hosting.Account { return nil }
func (unlimited) Name(int) error           { return nil }
func (unlimited) Unname(int)               {}
func (unlimited) Another() (Owner, error)  { return unlimited{}, nil }
func (unlimited) Leave()                   {}

// lonely makes Sockets of a node that hears no other. Only calls deliver.
func lonely(t *testing.T) *Sockets {
	t.Helper()
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(t.Context(), stack.Config{Address: 0x1001001, Bearers: []stack.Bearer{port}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close(t.Context()) })
	s, err := newSockets(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// member makes a socket that joins a group.
func (s *Sockets) member(t *testing.T) (fd int) {
	t.Helper()
	by := Caller{Context: t.Context(), Enter: unlimited{}.Another}
	a := s.Serve(by, &attach.Header{Op: attach.OpPlainSocket, Arg0: uint32(attach.KindRDM)}, nil, -1)
	if a.Err != nil {
		t.Fatal(a.Err)
	}
	svc := attach.ServiceSockaddr(stack.Service{Type: 20000}, 0)
	if a := s.Serve(by, &attach.Header{Op: attach.OpPlainJoin, Addr: svc, Arg0: groupEvents}, nil, a.FD); a.Err != nil {
		t.Fatal(a.Err)
	}
	return a.FD
}

// When a program's close returns, the other members have read that the member left, also where
// the daemon noticed the close before the program said so. Mutation: closedByProgram delivers
// nothing of a socket that it does not find.
func TestClosedDelivers(t *testing.T) {
	s := lonely(t)
	a, b := s.member(t), s.member(t)
	defer unix.Close(a)
	cookie, err := cookieOf(b)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, attach.HeaderLen)
	if _, _, err := unix.Recvfrom(a, buf, unix.MSG_DONTWAIT); err != nil {
		t.Fatalf("that it joined: %v", err)
	}
	unix.Close(b)
	for known := true; known; runtime.Gosched() {
		s.mu.Lock()
		_, known = s.of[cookie]
		s.mu.Unlock()
	}
	s.closedByProgram(cookie)
	if _, _, err := unix.Recvfrom(a, buf, unix.MSG_DONTWAIT); err != nil {
		t.Errorf("that it left: %v", err)
	}
}
