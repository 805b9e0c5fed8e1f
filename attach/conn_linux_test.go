// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// testTimeout is how long a test waits for what must happen.
const testTimeout = 5 * time.Minute

// pair returns two ends of a connection that the test closes.
func pair(tb testing.TB) (a, b *Conn) {
	tb.Helper()
	a, fd, err := Pair()
	if err != nil {
		tb.Fatal(err)
	}
	if b, err = NewConn(fd); err != nil {
		a.Close()
		tb.Fatal(err)
	}
	for _, c := range []*Conn{a, b} {
		c.SetDeadline(time.Now().Add(testTimeout))
		tb.Cleanup(func() { c.Close() })
	}
	return a, b
}

// Proves: daemon.socket
func TestConnCarriesRecords(t *testing.T) {
	a, b := pair(t)
	room := make([]byte, MaxData)
	for _, size := range []int{0, 1, 64, 4096, MaxData} {
		want, data := anyHeader, bytes.Repeat([]byte{byte(size)}, size)
		if err := a.Write(&want, data); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		var got Header
		n, err := b.Read(&got, room)
		if err != nil || got != want || !bytes.Equal(room[:n], data) {
			t.Errorf("%d bytes: got %d, %v, %v", size, n, &got, err)
		}
		if err := a.TryWrite(&want, data); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		buf, err := b.ReadPooled(&got)
		if err != nil || got != want || !bytes.Equal(buf.Data, data) {
			t.Fatalf("%d bytes, pooled: %v, %v", size, &got, err)
		}
		buf.Release()
	}
	// Data that there is no room for is cut, its length told.
	h := anyHeader
	if err := a.Write(&h, []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Read(&h, room[:4]); err != nil || n != 4 || h.Len != 10 || string(room[:4]) != "0123" {
		t.Errorf("cut: %d of %d, %q, %v", n, h.Len, room[:4], err)
	}
	if _, err := b.TryRead(&h, room); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("nothing there: %v, want EAGAIN", err)
	}
	if _, err := b.TryReadPooled(&h); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("nothing there, pooled: %v, want EAGAIN", err)
	}
	if err := a.Write(&h, make([]byte, MaxData+1)); !errors.Is(err, ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
}

// What was written before a close arrives, also when the one that closed had left
// records unread.
//
// Proves: daemon.socket
func TestConnEnds(t *testing.T) {
	a, b := pair(t)
	h := anyHeader
	for range 3 {
		if err := a.Write(&h, []byte("before")); err != nil {
			t.Fatal(err)
		}
		if err := b.Write(&h, []byte("unread")); err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	room := make([]byte, 100)
	for i := range 3 {
		if n, err := b.Read(&h, room); err != nil || string(room[:n]) != "before" {
			t.Errorf("record %d after the close: %q, %v", i, room[:n], err)
		}
	}
	for range 2 {
		if _, err := b.Read(&h, room); err != io.EOF {
			t.Errorf("at the end: %v, want io.EOF", err)
		}
	}
	if err := b.Write(&h, nil); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write to one that has closed: %v, want EPIPE", err)
	}
	if _, err := a.Read(&h, room); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read of a closed one: %v", err)
	}
	if err := a.Write(&h, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write to a closed one: %v", err)
	}
}

// Proves: daemon.socket
func TestConnDeadlinesAndClosing(t *testing.T) {
	a, _ := pair(t)
	var h Header
	a.SetDeadline(time.Now().Add(-time.Second))
	if _, err := a.Read(&h, nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v", err)
	}
	if _, err := a.ReadPooled(&h); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("pooled read: %v", err)
	}
	a.SetDeadline(time.Time{})
	full := 0
	for ; ; full++ { // the other end does not read
		if err := a.TryWrite(&h, make([]byte, MaxData)); errors.Is(err, syscall.EAGAIN) {
			break
		} else if err != nil || full > 1000 {
			t.Fatalf("record %d: %v", full, err)
		}
	}
	a.SetWriteDeadline(time.Now().Add(time.Millisecond))
	if err := a.Write(&h, make([]byte, MaxData)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write with no room: %v", err)
	}
	a.SetDeadline(time.Time{})
	var wait sync.WaitGroup
	for _, call := range []func() error{
		func() error { _, err := a.Read(new(Header), nil); return err },
		func() error { return a.Write(new(Header), make([]byte, MaxData)) },
	} {
		wait.Go(func() {
			if err := call(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a call that waits: %v, want net.ErrClosed", err)
			}
		})
	}
	a.Close()
	wait.Wait()
}

// send puts raw bytes, and descriptors, on the socket of a Conn.
func send(t *testing.T, c *Conn, b []byte, fds ...int) {
	t.Helper()
	var sent error
	if err := c.s.Write(func(fd uintptr) bool {
		var oob []byte
		if len(fds) > 0 {
			oob = unix.UnixRights(fds...)
		}
		sent = unix.Sendmsg(int(fd), b, oob, nil, unix.MSG_DONTWAIT)
		return sent != unix.EAGAIN
	}); err != nil || sent != nil {
		t.Fatal(err, sent)
	}
}

func TestConnRefusesWhatIsNoRecord(t *testing.T) {
	h := anyHeader
	record, _ := h.Append(nil, []byte("data"))
	lies := bytes.Clone(record)
	lies[12]++
	long := bytes.Clone(record)
	for i := range 4 {
		long[12+i] = 0xff
	}
	for name, b := range map[string][]byte{
		"a byte": record[:1], "a header less one": record[:HeaderLen-1], "a cut record": record[:HeaderLen+3],
		"a padded record": append(bytes.Clone(record), 0), "a length that lies": lies, "a length beyond all": long,
		"oversized": make([]byte, MaxRecord+1), "garbage": bytes.Repeat([]byte{0xff}, 500),
	} {
		a, b2 := pair(t)
		send(t, a, b)
		send(t, a, b)
		if _, err := b2.Read(&h, make([]byte, MaxData)); !errors.Is(err, ErrRecord) {
			t.Errorf("%s: %v, want ErrRecord", name, err)
		}
		if _, err := b2.ReadPooled(&h); !errors.Is(err, ErrRecord) {
			t.Errorf("%s, pooled: %v, want ErrRecord", name, err)
		}
	}
}

// descriptors is how many this process has.
func descriptors(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestConnPassesDescriptors(t *testing.T) {
	a, b := pair(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	h := Header{Op: OpAccept, ID: 4}
	if err := a.WriteFD(&h, []byte("with"), int(w.Fd())); err != nil {
		t.Fatal(err)
	}
	room := make([]byte, 10)
	n, fd, err := b.ReadFD(&h, room)
	if err != nil || fd < 0 || string(room[:n]) != "with" || h.Op != OpAccept {
		t.Fatalf("got %q, descriptor %d, %v", room[:n], fd, err)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("the descriptor's flags are %#x, %v: a child would inherit it", flags, err)
	}
	f := os.NewFile(uintptr(fd), "")
	f.Write([]byte("x"))
	f.Close()
	if _, err := io.ReadFull(r, room[:1]); err != nil || room[0] != 'x' {
		t.Errorf("through the pipe: %q, %v", room[:1], err)
	}
	if err := a.Write(&h, nil); err != nil {
		t.Fatal(err)
	}
	if _, fd, err := b.ReadFD(&h, room); err != nil || fd != -1 {
		t.Errorf("without: descriptor %d, %v", fd, err)
	}
}

// Descriptors that nobody asked for, or more of them, do not stay in the process, nor do
// those of what is no record.
func TestConnRefusesDescriptors(t *testing.T) {
	a, b := pair(t)
	h := Header{Op: OpSend}
	record, _ := h.Append(nil, nil)
	before := descriptors(t)
	many := make([]int, 253) // the most that one message may have
	send(t, a, record, 0, 0, 0)
	send(t, a, record, many...)
	send(t, a, record[:5], 0)
	send(t, a, record, many...)
	for range 2 {
		if _, err := b.Read(&h, nil); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := b.ReadFD(&h, nil); !errors.Is(err, ErrRecord) {
		t.Errorf("no record: %v", err)
	}
	if now := descriptors(t); now > before {
		t.Errorf("%d descriptors, %d before", now, before)
	}
	_, fd, err := b.ReadFD(&h, nil)
	if err != nil {
		t.Error(err)
	}
	if now := descriptors(t); fd < 0 || now > before+1 {
		t.Errorf("one of many asked for: %d descriptors, %d before", now, before)
	}
	unix.Close(fd)
	if b.Refused() != 3 {
		t.Errorf("counted %d, want 3", b.Refused())
	}
}

func TestNewConnRefuses(t *testing.T) {
	before := descriptors(t)
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	stream, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range []int{-1, pipe[0], pipe[1], stream[0], stream[1]} {
		if c, err := NewConn(fd); err == nil {
			c.Close()
			t.Errorf("descriptor %d is taken for a connection", fd)
		}
	}
	if now := descriptors(t); now > before {
		t.Errorf("%d descriptors, %d before", now, before)
	}
}

func TestListener(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	path := filepath.Join(t.TempDir(), "s")
	if Alive(ctx, path) {
		t.Error("somebody listens where there is nothing")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := Listen(path, 0o600, -1); err == nil {
		l.Close()
		t.Error("a file was taken for an old socket")
	}
	os.Remove(path)
	old, err := Listen(path, 0o600, -1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(path, 0o640, os.Getgid()) // takes the place of one that was killed
	if err != nil {
		t.Fatal(err)
	}
	old.Close() // and does not lose its file to that
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("the socket's file: %v, %v", fi, err)
	}
	if !Alive(ctx, path) {
		t.Error("nobody seems to listen")
	}
	c, err := Dial(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l.SetDeadline(time.Now().Add(testTimeout))
	var s *Conn
	for range 2 { // the first was Alive
		if s, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	cred, err := s.Credentials()
	if err != nil || cred.PID != os.Getpid() || cred.UID != uint32(os.Getuid()) || !cred.InGroup(uint32(os.Getgid())) {
		t.Errorf("credentials: %v %v, %v", cred, cred.Groups, err)
	}
	groups, err := os.Getgroups()
	if err != nil || len(groups) != len(cred.Groups) {
		t.Errorf("groups: %v, want %v, %v", cred.Groups, groups, err)
	}
	want := anyHeader
	if err := c.Write(&want, nil); err != nil {
		t.Fatal(err)
	}
	var got Header
	if _, err := s.Read(&got, nil); err != nil || got != want {
		t.Errorf("got %v, %v", &got, err)
	}
	l.Close()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket's file is left behind: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept of a closed one: %v", err)
	}
	if _, err := Dial(ctx, path); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("Dial of nothing: %v", err)
	}
}

// Proves: daemon.cost
func TestConnAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	a, b := pair(t)
	h, g := anyHeader, Header{}
	data, room := make([]byte, 64), make([]byte, MaxData)
	if got := testing.AllocsPerRun(200, func() {
		if a.Write(&h, data) != nil || a.TryWrite(&h, data) != nil {
			t.Error("not written")
		}
		if _, err := b.Read(&g, room); err != nil {
			t.Error(err)
		}
		buf, err := b.ReadPooled(&g)
		if err != nil {
			t.Error(err)
		}
		buf.Release()
		if _, err := b.TryRead(&g, room); err != syscall.EAGAIN {
			t.Error(err)
		}
	}); got != 0 {
		t.Errorf("%v allocations for two records, want 0", got)
	}
}
