// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// What breaks the protocol ends its connection, is counted, and disturbs nobody else.
func TestBrokenRecords(t *testing.T) {
	b := newBed(t, daemon.Config{})
	good := b.program(t)
	own := good.socket(attach.KindRDM)
	hello, name := attach.HelloRequest(1, 0, "bad")
	greeting, _ := hello.Append(nil, name)
	record := func(h attach.Header, data []byte) []byte { r, _ := h.Append(nil, data); return r }
	cut := record(attach.Header{Op: attach.OpPing, ID: 1}, []byte("data"))
	lying := record(attach.Header{Op: attach.OpSend}, make([]byte, 100))
	binary.NativeEndian.PutUint32(lying[12:], 1<<31)
	for what, records := range map[string][][]byte{
		"one byte":              {{1}},
		"no hello":              {record(attach.Header{Op: attach.OpPing, ID: 1}, nil)},
		"hello without magic":   {record(attach.Header{Op: attach.OpHello, ID: 1, Arg1: 1}, nil)},
		"a long name":           {record(hello, make([]byte, 65))},
		"half a hello":          {greeting[:40]},
		"a second hello":        {greeting, greeting},
		"cut":                   {greeting, cut[:66]},
		"longer than it says":   {greeting, append(cut, 0)},
		"a length out of range": {greeting, lying},
		"oversized":             {greeting, make([]byte, 100000)},
		"zeros":                 {greeting, make([]byte, 64)[:63]},
		"ops within a call":     {greeting, record(attach.Header{Op: attach.OpCall, ID: 5, Flags: attach.FlagMore}, nil), record(attach.Header{Op: attach.OpSocket, ID: 6}, nil)},
		"two calls mixed":       {greeting, record(attach.Header{Op: attach.OpCall, ID: 5, Flags: attach.FlagMore}, nil), record(attach.Header{Op: attach.OpCall, ID: 6}, nil)},
	} {
		before := b.srv.Counters().Broken
		c, err := net.Dial("unixpacket", b.path)
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(testTimeout))
		for _, r := range records {
			if _, err := c.Write(r); err != nil {
				t.Fatal(what, err)
			}
		}
		buf := make([]byte, 1000)
		for err == nil {
			_, err = c.Read(buf)
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: ended by %v", what, err)
		}
		c.Close()
		waitFor(t, func() bool { return b.srv.Counters().Broken == before+1 })
	}
	// Another version is told so, and is no break.
	x := b.dial(t)
	hello.Arg1 = 2
	x.fails(syscall.EPROTONOSUPPORT, hello, nil)
	good.send(attach.Header{Op: attach.OpSend, Addr: own}, []byte("x"))
	if m := good.read(); string(m.data) != "x" {
		t.Errorf("got %v", &m.Header)
	}
}

// Requests that are no break of the protocol but make no sense are answered with an errno.
func TestSenselessRequests(t *testing.T) {
	b := newBed(t, daemon.Config{})
	p := b.program(t)
	op := func(o attach.Op) attach.Header { return attach.Header{Op: o} }
	p.fails(syscall.EOPNOTSUPP, op(4444), nil)
	p.fails(syscall.EOPNOTSUPP, op(attach.OpMessage), nil)
	p.fails(syscall.EINVAL, op(attach.OpCall), []byte("no zero byte"))
	p.fails(syscall.EINVAL, op(attach.OpJoin), nil)
	p.fails(syscall.EACCES, attach.Header{Op: attach.OpJoin, Addr: service(3, 1)}, nil)
	for _, o := range []attach.Op{attach.OpBind, attach.OpUnbind, attach.OpListen, attach.OpAccept, attach.OpConnect, attach.OpShutdown, attach.OpSetOption, attach.OpGetOption, attach.OpLeave} {
		p.fails(syscall.ENOTSOCK, op(o), nil)
	}
	p.fails(syscall.ENOTCONN, attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer}, nil)
	p.fails(syscall.ESOCKTNOSUPPORT, attach.Header{Op: attach.OpSocket, Arg0: 3}, nil)
	p.fails(syscall.EINVAL, attach.Header{Op: attach.OpSocket, Arg0: 4}, []byte("options"))
	p.socket(attach.KindRDM)
	p.fails(syscall.EISCONN, attach.Header{Op: attach.OpSocket, Arg0: 4}, nil)
	p.fails(syscall.EINVAL, op(attach.OpBind), nil)
	p.fails(syscall.EINVAL, attach.Header{Op: attach.OpBind, Addr: attach.Sockaddr{Family: 2, Type: 1}}, nil)
	p.fails(syscall.EINVAL, attach.Header{Op: attach.OpBind, Addr: attach.Sockaddr{Family: attach.AFTIPC, Type: attach.TypeService, Scope: 77, A: 18888}}, nil)
	p.fails(syscall.EACCES, attach.Header{Op: attach.OpBind, Addr: service(1, 1)}, nil)
	p.fails(syscall.EINVAL, attach.Header{Op: attach.OpBind, Addr: attach.RangeSockaddr(stack.Range{Type: 18888, Lower: 9, Upper: 1}, 0)}, nil)
	p.fails(syscall.EOPNOTSUPP, op(attach.OpListen), nil)
	p.fails(syscall.EINVAL, op(attach.OpAccept), nil)
	p.fails(syscall.EOPNOTSUPP, attach.Header{Op: attach.OpConnect, Addr: service(18888, 1)}, nil)
	p.fails(syscall.ENOTCONN, op(attach.OpShutdown), nil)
	p.fails(syscall.EDESTADDRREQ, attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer}, []byte("x"))
	p.fails(syscall.EINVAL, attach.Header{Op: attach.OpSend, Flags: attach.FlagAnswer, Addr: attach.Sockaddr{Family: 1}}, []byte("x"))
	p.send(attach.Header{Op: attach.OpCancel, Arg0: 12345}, nil)
	p.must(op(attach.OpPing), nil)
	l := b.program(t)
	l.socket(attach.KindStream)
	l.fails(syscall.EINVAL, op(attach.OpConnect), nil)
	l.must(op(attach.OpListen), nil)
	l.fails(syscall.EOPNOTSUPP, op(attach.OpRing), nil)
	for id := range uint32(70) {
		l.send(attach.Header{Op: attach.OpAccept, ID: 1000 + id}, nil)
	}
	if r := l.answer(1069); r.Errno != syscall.EAGAIN {
		t.Errorf("accepts: %v", r.Errno)
	}
	l.send(attach.Header{Op: attach.OpCancel, Arg0: 1005}, nil)
	if r := l.answer(1005); r.Errno != syscall.ECANCELED {
		t.Errorf("an accept canceled: %v", r.Errno)
	}
}

// Descriptors that nobody asked for are not taken, whatever they are.
func TestUnwantedDescriptors(t *testing.T) {
	b := newBed(t, daemon.Config{})
	p := b.program(t)
	p.socket(attach.KindRDM)
	before := openDescriptors(t)
	for range 20 {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		h := attach.Header{Op: attach.OpPing, ID: 1}
		if err := p.c.WriteFD(&h, nil, int(w.Fd())); err != nil {
			t.Fatal(err)
		}
		p.answer(1)
		w.Close()
		r.SetReadDeadline(time.Now().Add(testTimeout))
		if _, err := r.Read(make([]byte, 1)); err != io.EOF {
			t.Fatalf("somebody holds the pipe: %v", err)
		}
		r.Close()
	}
	if n := openDescriptors(t); n > before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
	p.c.Close()
	waitFor(t, func() bool { return b.srv.Counters().Descriptors == 20 })
}

// openDescriptors is how many descriptors the process has.
func openDescriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// A program that scribbles over its ring loses its connection, and nobody else does.
func TestCorruptRing(t *testing.T) {
	b := newBed(t, daemon.Config{})
	good := b.program(t)
	own := good.socket(attach.KindRDM)
	for i := range 8 {
		p := b.program(t)
		p.socket(attach.KindRDM)
		p.id++
		p.send(attach.Header{Op: attach.OpRing, ID: p.id}, nil)
		var h attach.Header
		_, fd, err := p.c.ReadFD(&h, nil)
		if err != nil {
			t.Fatal(err)
		}
		mem, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		binary.NativeEndian.PutUint32(mem[1024:], [...]uint32{1, 63, 64, 65, 1 << 20, 1 << 31, ^uint32(0), 128}[i]) // head: bytes that are there
		unix.Munmap(mem)
		unix.Close(fd)
		raw, err := p.c.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Write(func(s uintptr) bool { unix.Write(int(s), []byte{0}); return true }) // a wake-up byte
		if i == 2 || i == 7 {                                                          // zeros: a record, of no operation, which is unanswered
			p.c.Close()
			continue
		}
		p.c.SetReadDeadline(time.Now().Add(testTimeout))
		raw.Read(func(s uintptr) bool {
			n, err := unix.Read(int(s), make([]byte, 100))
			return n == 0 || err != nil && err != unix.EAGAIN
		})
	}
	waitFor(t, func() bool { return b.srv.Counters().RingFaults == 6 && b.srv.Counters().Connections == 1 })
	good.send(attach.Header{Op: attach.OpSend, Addr: own}, []byte("x"))
	if m := good.read(); string(m.data) != "x" {
		t.Errorf("got %v", &m.Header)
	}
}

// Whatever a program sends, the daemon neither panics nor hangs nor keeps anything.
func FuzzServer(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{16, 4, 0, 32, 1, 0, 64, 2, 10, 40, 1, 0, 64, 0, 0, 5, 0, 3})
	f.Add([]byte{16, 1, 0, 34, 1, 0, 35, 0, 0, 3, 1, 0, 36, 1, 0, 37, 0, 0})
	f.Add([]byte{16, 5, 0, 36, 1, 0, 64, 0, 9, 42, 0, 0, 42, 0, 0, 64, 0, 200})
	f.Add([]byte{17, 2, 0, 18, 0, 1, 5, 0, 2, 3, 1, 0, 2, 0, 0, 77, 77, 77})
	b := newBed(f, daemon.Config{HelloTimeout: time.Second, Quotas: daemon.Quotas{Process: daemon.Limits{Names: 50}}})
	base := runtime.NumGoroutine()
	verbs := []string{"addr", "socket.wait-members", "socket.stats", "capture", "watch", "clients", "nonsense", "names", "probe"}
	f.Fuzz(func(t *testing.T, in []byte) {
		p := b.dial(t)
		p.c.SetDeadline(time.Now().Add(20 * time.Second))
		h, name := attach.HelloRequest(1, ^uint64(0), "fuzz")
		p.c.Write(&h, name)
		drained := make(chan struct{})
		go func() { // the program reads, as it must
			defer close(drained)
			var h attach.Header
			for {
				_, fd, err := p.c.ReadFD(&h, nil)
				if fd >= 0 {
					unix.Close(fd)
				}
				if err != nil {
					return
				}
			}
		}()
		for len(in) >= 3 {
			h := recordOf(in[0], in[1], in[2])
			data := make([]byte, int(in[2])*int(in[1])%3000)
			copy(data, in)
			if h.Op == attach.OpCall || h.Op == attach.OpStream {
				data = attach.AppendCall(nil, verbs[int(in[1])%len(verbs)], in[3:])
				data = data[:min(len(data), attach.MaxData)]
			}
			if h.Op == attach.OpSetOption || h.Op == attach.OpSocket || h.Op == attach.OpGetOption {
				data = attach.AppendOption(nil, attach.OptionName(127+uint32(in[2])%12), int64(int8(in[1])))[:16*(in[2]%2)]
			}
			if p.c.Write(&h, data) != nil {
				break
			}
			in = in[3:]
		}
		p.c.Write(&attach.Header{Op: attach.OpPing, ID: 1}, nil)
		p.c.Close()
		<-drained
		waitFor(t, func() bool {
			c := b.srv.Counters()
			return c.Connections == 0 && c.Names == 0 && c.Calls == 0 && c.Subscriptions == 0 && c.QueuedBytes == 0 && c.Rings == 0 && len(must.Get(b.node.Admin().Sockets(context.Background()))) <= 2
		})
		waitFor(t, func() bool { return runtime.NumGoroutine() <= base+20 })
	})
}

// recordOf makes a record of three bytes that is likely to mean something.
func recordOf(op, x, y byte) attach.Header {
	h := attach.Header{Op: attach.Op(op), ID: uint32(x), Arg0: uint32(x), Arg1: uint32(y % 2), Flags: attach.Flags(y) &^ attach.FlagReply}
	switch x % 5 {
	case 0:
	case 1:
		h.Addr = service(1000, uint32(y%4))
	case 2:
		h.Addr = attach.RangeSockaddr(stack.Range{Type: 1000, Lower: uint32(y % 4), Upper: 3}, 0)
	case 3:
		h.Addr = attach.SocketSockaddr(stack.SocketAddr{Node: 0x1001001, Port: uint32(y)})
	default:
		h.Addr = attach.Sockaddr{Family: uint16(x), Type: y, Scope: int8(x), A: uint32(y)}
	}
	if op != byte(attach.OpConnect) {
		h.Wide = uint64(x) << (y % 64)
	} else {
		h.Wide = uint64(time.Millisecond)
	}
	return h
}
