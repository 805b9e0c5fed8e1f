// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/daemon/genetlink"
	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/test/tier"
)

// generic is a generic netlink socket of the kernel's.
func generic(t testing.TB) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_GENERIC)
	if err == nil {
		t.Cleanup(func() { unix.Close(fd) })
		err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// netlink is a plain socket in the place of one.
func (b *bed) netlink(t testing.TB) *plainSocket {
	t.Helper()
	r, _, fd := b.plainAsk(t, attach.Header{Op: attach.OpPlainNetlink}, nil, generic(t))
	if r.Errno != 0 || fd < 0 {
		t.Fatalf("netlink: %v", r.Errno)
	}
	return plainOf(t, b, fd)
}

// request is one of the family TIPCv2, without attributes.
func request(flags uint16, command byte) []byte {
	return netlink.AppendRequest(nil, genetlink.FamilyID, flags, []byte{command, 1, 0, 0})
}

// answer reads a datagram, whose first message is of that type.
func (s *plainSocket) answer(typ uint16) netlink.Message {
	s.t.Helper()
	s.await(unix.POLLIN)
	b := make([]byte, 8192)
	n, _, err := unix.Recvfrom(s.fd, b, 0)
	m, _, ok := netlink.Next(b[:max(n, 0)])
	if err != nil || !ok || m.Type != typ {
		s.t.Fatalf("got type %d, %d bytes, %v, want %d", m.Type, n, err, typ)
	}
	return m
}

const (
	dump        = unix.NLM_F_DUMP
	mediaGet    = 11
	monitorGet  = 18
	monitorSet  = 17
	keyFlush    = 24
	nameTable   = 16
	manyTimes   = 100000
	controlType = unix.GENL_ID_CTRL
)

// Only a generic netlink socket is taken, the plain one answers, and it gives the kernel's back; it
// has nothing that other plain sockets have.
//
// Mutations it catches: netlinkOf looks at the domain or the protocol alone; serveNetlink answers
// whatever it is asked.
//
// Proves: plain.netlink
func TestNetlinkSocket(t *testing.T) {
	b := newBed(t, daemon.Config{})
	route, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(route)
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(null)
	for _, fd := range []int{-1, route, null, b.plain(t, attach.KindStream).fd} {
		if r, _, got := b.plainAsk(t, attach.Header{Op: attach.OpPlainNetlink}, nil, fd); r.Errno != syscall.EPROTOTYPE || got >= 0 {
			t.Errorf("%d: got %v, descriptor %d", fd, r.Errno, got)
		}
	}
	s := b.netlink(t)
	if _, err := unix.Write(s.fd, request(dump, mediaGet)); err != nil {
		t.Fatal(err)
	}
	s.answer(genetlink.FamilyID)
	s.answer(unix.NLMSG_DONE)
	for _, op := range []attach.Op{attach.OpPlainBind, attach.OpPlainListen, attach.OpPlainState, attach.OpPlainSend, attach.OpPlainPair} {
		s.want(syscall.EOPNOTSUPP, attach.Header{Op: op})
	}
	b.plain(t, attach.KindStream).want(syscall.EOPNOTSUPP, attach.Header{Op: attach.OpPlainKernel})
	r, _, fd := b.plainAsk(t, attach.Header{Op: attach.OpPlainKernel}, nil, s.fd)
	if r.Errno != 0 || fd < 0 {
		t.Fatalf("the kernel's: %v", r.Errno)
	}
	defer unix.Close(fd)
	ask := netlink.AppendRequest(nil, controlType, 0, append([]byte{unix.CTRL_CMD_GETFAMILY, 1, 0, 0},
		netlink.AppendAttribute(nil, unix.CTRL_ATTR_FAMILY_NAME, []byte("nlctrl\x00"))...))
	if err := netlink.Send(fd, ask); err != nil {
		t.Fatal(err)
	}
	if m := s.answer(controlType); netlink.Text(m.Body[4:], unix.CTRL_ATTR_FAMILY_NAME) != "nlctrl" {
		t.Errorf("of the kernel: %x", m.Body)
	}
}

// What another process sends to the kernel's socket is not the kernel's word, and is not copied.
//
// Mutation it catches: readKernel without a look at the sender.
//
// Proves: plain.netlink
func TestNetlinkOfOthers(t *testing.T) {
	b := newBed(t, daemon.Config{})
	kernel := generic(t)
	r, _, p := b.plainAsk(t, attach.Header{Op: attach.OpPlainNetlink}, nil, kernel)
	if r.Errno != 0 {
		t.Fatal(r.Errno)
	}
	s := plainOf(t, b, p)
	sa, err := unix.Getsockname(kernel)
	if err != nil {
		t.Fatal(err)
	}
	err = unix.Sendto(generic(t), request(0, 0), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Pid: sa.(*unix.SockaddrNetlink).Pid})
	if err != nil {
		tier.Missing(t, fmt.Sprintf("this user may not send to other processes: %v", err))
	}
	err = netlink.Send(kernel, netlink.AppendRequest(nil, controlType, 0, append([]byte{unix.CTRL_CMD_GETFAMILY, 1, 0, 0},
		netlink.AppendAttribute(nil, unix.CTRL_ATTR_FAMILY_NAME, []byte("nlctrl\x00"))...)))
	if err != nil {
		t.Fatal(err)
	}
	s.answer(controlType)
}

// Such a socket counts as two connections of its process, which it gives back, and a request of it
// as a call, and until it is answered what it lists as queued bytes.
//
// Mutations it catches: openNetlink enters once; release leaves once; Control charges no call, or no queued bytes, or
// keeps no pace; Serve does not call Answered.
//
// Proves: plain.netlink
func TestNetlinkIsCounted(t *testing.T) {
	b := newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{Connections: 3}}})
	s := b.netlink(t)
	waitFor(t, func() bool { return b.srv.Counters().Connections == 2 }) // the request's own has ended
	r, _, fd := b.plainAsk(t, attach.Header{Op: attach.OpPlainNetlink}, nil, generic(t))
	if r.Errno != syscall.EMFILE || fd >= 0 {
		t.Errorf("one too many: got %v, descriptor %d", r.Errno, fd)
	}
	s.close()
	waitFor(t, func() bool { return b.srv.Counters().Connections == 0 })
	b.netlink(t)

	b = newBed(t, daemon.Config{
		Quotas: daemon.Quotas{Process: daemon.Limits{Calls: 1}},
		Verbs: map[string]daemon.Verb{"audit": {Right: daemon.ShowRight, Serve: func(ctx context.Context, _ attach.Credentials, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}},
	})
	busy := b.program(t)
	busy.send(attach.Header{Op: attach.OpCall, ID: 900}, attach.AppendCall(nil, "audit", nil))
	waitFor(t, func() bool { return b.srv.Counters().Calls == 1 })
	s = b.netlink(t)
	if _, err := unix.Write(s.fd, request(0, monitorGet)); err != nil {
		t.Fatal(err)
	}
	if errno, _ := s.answer(unix.NLMSG_ERROR).Errno(); errno != syscall.EAGAIN {
		t.Errorf("a call too many: got %v, want %v", errno, syscall.EAGAIN)
	}

	b = newBed(t, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{QueuedBytes: 100}}})
	s = b.netlink(t)
	if _, err := unix.Write(s.fd, request(dump, nameTable)); err != nil {
		t.Fatal(err)
	}
	if errno, _ := s.answer(unix.NLMSG_ERROR).Errno(); errno != syscall.ENOBUFS {
		t.Errorf("a list too long: got %v, want %v", errno, syscall.ENOBUFS)
	}
	for range 100 {
		if _, err := unix.Write(s.fd, request(0, monitorGet)); err != nil {
			t.Fatal(err)
		}
		s.answer(genetlink.FamilyID)
	}

	b = newBed(t, daemon.Config{Quotas: daemon.Quotas{Records: 1}})
	s = b.netlink(t)
	for b.srv.Counters().Slowed == 0 {
		if _, err := unix.Write(s.fd, request(0, monitorGet)); err != nil {
			t.Fatal(err)
		}
		s.answer(genetlink.FamilyID)
	}
}

// A program that asks without end and reads nothing has as many answers waiting as its socket has
// room for, disturbs nobody, and leaves nothing when it is gone.
//
// Mutation it catches: tryWrite in place of write, or a goroutine for each request.
//
// Proves: plain.netlink
func TestNetlinkFlood(t *testing.T) {
	b := newBed(t, daemon.Config{})
	s, other := b.netlink(t), b.netlink(t)
	if err := unix.SetNonblock(s.fd, true); err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; n < manyTimes; n++ {
		if _, err := unix.Write(s.fd, request(dump, nameTable)); err == unix.EAGAIN {
			s.until(unix.POLLOUT, time.Second)
			if _, err = unix.Write(s.fd, request(dump, nameTable)); err == unix.EAGAIN {
				break
			}
		}
	}
	if n == manyTimes {
		t.Errorf("%d requests were taken", n)
	}
	if _, err := unix.Write(other.fd, request(0, monitorGet)); err != nil {
		t.Fatal(err)
	}
	other.answer(genetlink.FamilyID)
}

// until waits for an event, for as long at most.
func (s *plainSocket) until(event int16, most time.Duration) {
	p := []unix.PollFd{{Fd: int32(s.fd), Events: event}}
	unix.Poll(p, int(most.Milliseconds()))
}

// When the daemon ends, the program reads the end.
//
// Mutation it catches: Close without the sockets of netlink.
//
// Proves: plain.netlink
func TestNetlinkEnds(t *testing.T) {
	b := newBed(t, daemon.Config{})
	s := b.netlink(t)
	if err := b.srv.Shutdown(within(t), "a test"); err != nil {
		t.Fatal(err)
	}
	s.await(unix.POLLHUP)
	if n, _, err := unix.Recvfrom(s.fd, make([]byte, 10), 0); n != 0 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

// Another user may ask what his rights are for, and nothing else.
//
// Mutation it catches: Control without a look at the policy.
//
// Proves: plain.netlink
func TestNetlinkRights(t *testing.T) {
	if os.Geteuid() != 0 {
		tier.Missing(t, "it takes root to be somebody else")
	}
	everyone := daemon.Rule{Everyone: true}
	for name, c := range map[string]struct {
		policy daemon.Policy
		want   []string
	}{
		"default":  {daemon.DefaultPolicy(), []string{"show 0", "manage 1", "keys 1"}},
		"sockets":  {daemon.Policy{Use: everyone}, []string{"show 1", "manage 1", "keys 1"}},
		"his keys": {daemon.Policy{Use: everyone, Show: everyone, Keys: daemon.Rule{Users: []uint32{nobody}}}, []string{"show 0", "manage 1", "keys 0"}},
		"nothing":  {daemon.Policy{}, []string{"socket 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, daemon.Config{Policy: &c.policy})
			l, err := abstract(b)
			if err != nil {
				t.Fatal(err)
			}
			x := startChildAs(t, "netlink stranger", nobody, "SOCKET="+l)
			for _, want := range c.want {
				if got := x.line(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func init() {
	// A program of another user, which asks for a list, a change and a change of keys.
	children["netlink stranger"] = func() int {
		c, err := attach.Dial(context.Background(), os.Getenv("SOCKET"))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("ready")
		h := attach.Header{Op: attach.OpPlainNetlink, ID: 1}
		if err := c.WriteFD(&h, nil, fd); err != nil {
			fmt.Println(err)
			return 1
		}
		_, p, err := c.ReadFD(&h, make([]byte, 100))
		if err != nil || h.Errno != 0 {
			fmt.Println("socket", int(h.Errno))
			return 0
		}
		for _, x := range []struct {
			right   string
			command byte
		}{{"show", monitorGet}, {"manage", monitorSet}, {"keys", keyFlush}} {
			b := netlink.AppendRequest(nil, genetlink.FamilyID, 0, append([]byte{x.command, 1, 0, 0},
				netlink.AppendAttribute(nil, 9, netlink.AppendAttribute(nil, 1, []byte{20, 0, 0, 0}))...))
			binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK)
			unix.Write(p, b)
			for {
				b := make([]byte, 8192)
				n, err := unix.Read(p, b)
				m, _, ok := netlink.Next(b[:max(n, 0)])
				if err != nil || !ok {
					fmt.Println(err)
					return 1
				}
				if errno, ok := m.Errno(); ok {
					fmt.Println(x.right, int(errno))
					break
				}
			}
		}
		return 0
	}
}
