// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ringPair returns the two ends of a connection with a ring, the program's first.
func ringPair(tb testing.TB, size int) (program, daemon *Conn) {
	tb.Helper()
	program, daemon = pair(tb)
	if err := program.Write(&Header{Op: OpRing, ID: 1, Arg0: uint32(size)}, nil); err != nil {
		tb.Fatal(err)
	}
	var h Header
	if _, err := daemon.Read(&h, nil); err != nil || h.Op != OpRing {
		tb.Fatal(&h, err)
	}
	if refused, err := daemon.ServeRing(&h); err != nil || refused != nil {
		tb.Fatal(refused, err)
	}
	_, fd, err := program.ReadFD(&h, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if err := program.TakeRing(&h, fd); err != nil {
		tb.Fatal(err)
	}
	if !program.HasRing() || !daemon.HasRing() {
		tb.Fatal("no ring")
	}
	return program, daemon
}

// Both ends write records of all lengths at once, and read what the other writes.
//
// Proves: daemon.socket
func TestRingCarriesRecords(t *testing.T) {
	for name, spin := range map[string]time.Duration{"asleep": 0, "spinning": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			a, b := ringPair(t, MinRing)
			a.SetSpin(spin)
			b.SetSpin(spin)
			records := 1500
			if raceEnabled || testing.Short() {
				records = 500
			}
			lengths := func(seed uint64) func() int {
				r := rand.New(rand.NewPCG(seed, 1))
				return func() int {
					switch r.IntN(4) {
					case 0:
						return r.IntN(MaxData + 1)
					case 1:
						return r.IntN(4096)
					}
					return r.IntN(130)
				}
			}
			fill := func(data []byte, i int) {
				for k := range data {
					data[k] = byte(i + k)
				}
			}
			var wait sync.WaitGroup
			for seed, ends := range [][2]*Conn{{a, b}, {b, a}} {
				wait.Go(func() {
					next, data := lengths(uint64(seed)), make([]byte, MaxData)
					for i := range records {
						p := data[:next()]
						fill(p, i)
						if err := ends[0].Write(&Header{Op: OpSend, ID: uint32(i)}, p); err != nil {
							t.Errorf("record %d: %v", i, err)
							return
						}
					}
				})
				wait.Go(func() {
					next, want, room := lengths(uint64(seed)), make([]byte, MaxData), make([]byte, MaxData)
					for i := range records {
						p := want[:next()]
						fill(p, i)
						var h Header
						n, err := ends[1].Read(&h, room)
						if err != nil || h.ID != uint32(i) || !bytes.Equal(room[:n], p) {
							t.Errorf("record %d: %v, %d of %d bytes, %v", i, &h, n, len(p), err)
							ends[1].Close()
							return
						}
					}
				})
			}
			wait.Wait()
		})
	}
}

// Proves: daemon.socket
func TestRingEnds(t *testing.T) {
	a, b := ringPair(t, MinRing)
	for range 3 {
		if err := a.Write(&Header{Op: OpSend}, []byte("before")); err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	room := make([]byte, 100)
	var h Header
	for i := range 3 {
		if n, err := b.Read(&h, room); err != nil || string(room[:n]) != "before" {
			t.Errorf("record %d after the close: %q, %v", i, room[:n], err)
		}
	}
	for range 2 {
		if _, err := b.Read(&h, room); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	}
	if err := b.Write(&h, nil); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write to one that has closed: %v", err)
	}
	for range 2 {
		if _, err := a.Read(&h, room); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read of a closed one: %v", err)
		}
		if err := a.Write(&h, nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write to a closed one: %v", err)
		}
		a.Close()
	}
}

// Whoever waits on a ring, for data or for room, or spins, hears of the end of the other,
// of its own close, and of deadlines that are set meanwhile.
//
// Proves: daemon.socket
func TestRingWaitingEnds(t *testing.T) {
	fill := func(c *Conn) {
		for {
			if err := c.TryWrite(&Header{Op: OpSend}, make([]byte, 4096)); errors.Is(err, syscall.EAGAIN) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		end         func(a, b *Conn)
		read, write error
	}{
		"own close":           {func(a, b *Conn) { a.Close() }, net.ErrClosed, net.ErrClosed},
		"the other's":         {func(a, b *Conn) { b.Close() }, io.EOF, syscall.EPIPE},
		"deadline":            {func(a, b *Conn) { a.SetDeadline(time.Now()) }, os.ErrDeadlineExceeded, os.ErrDeadlineExceeded},
		"later deadline":      {func(a, b *Conn) { a.SetDeadline(time.Now().Add(5 * time.Millisecond)) }, os.ErrDeadlineExceeded, os.ErrDeadlineExceeded},
		"no wake-up but junk": {func(a, b *Conn) { send(t, b, []byte("junk")); send(t, b, []byte("junk")) }, ErrRecord, ErrRecord},
	} {
		for _, spin := range []time.Duration{0, -1} {
			t.Run(fmt.Sprint(name, " spin ", spin), func(t *testing.T) {
				a, b := ringPair(t, MinRing)
				a.SetSpin(spin)
				fill(a)
				if a.SetDeadline(time.Time{}) != nil || b.SetDeadline(time.Time{}) != nil {
					t.Fatal("deadlines")
				}
				var wait sync.WaitGroup
				begun := make(chan struct{}, 2)
				wait.Go(func() {
					begun <- struct{}{}
					if _, err := a.Read(new(Header), nil); !errors.Is(err, c.read) {
						t.Errorf("read: %v, want %v", err, c.read)
					}
				})
				wait.Go(func() {
					begun <- struct{}{}
					if err := a.Write(new(Header), make([]byte, MaxData)); !errors.Is(err, c.write) {
						t.Errorf("write: %v, want %v", err, c.write)
					}
				})
				<-begun
				<-begun
				c.end(a, b)
				wait.Wait()
			})
		}
	}
}

// Who rings and rings, and says nothing, keeps nobody busy for long.
func TestRingWakesWithoutEnd(t *testing.T) {
	for _, spin := range []time.Duration{0, -1} {
		a, b := ringPair(t, MinRing)
		b.SetSpin(spin)
		done := make(chan error, 1)
		go func() {
			_, err := b.Read(new(Header), nil)
			b.Close()
			done <- err
		}()
		for {
			var failed error
			if err := a.s.Write(func(fd uintptr) bool { _, failed = unix.Write(int(fd), []byte{0}); return failed != unix.EAGAIN }); err != nil || failed != nil {
				break
			}
		}
		if err := <-done; !errors.Is(err, ErrRing) {
			t.Errorf("spin %v: %v, want %v", spin, err, ErrRing)
		}
	}
}

// Deadlines of one side do not touch the other, whoever waits on the socket.
//
// Proves: daemon.socket
func TestRingDeadlinesApart(t *testing.T) {
	a, b := ringPair(t, MinRing)
	a.SetDeadline(time.Time{})
	var wait sync.WaitGroup
	wait.Go(func() {
		var h Header
		if _, err := a.Read(&h, nil); err != nil || h.ID != 9 {
			t.Errorf("read: %v, %v", &h, err)
		}
	})
	for i := range 20 {
		if err := a.SetWriteDeadline(time.Now().Add(time.Duration(i) * 100 * time.Microsecond)); err != nil {
			t.Fatal(err)
		}
		for {
			if err := a.Write(&Header{Op: OpSend}, make([]byte, MaxData)); errors.Is(err, os.ErrDeadlineExceeded) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Write(&Header{Op: OpMessage, ID: 9}, nil); err != nil {
		t.Error(err)
	}
	wait.Wait()
}

// FuzzRing is a peer that scribbles: between our calls it sets any word of the first
// page, and any bytes of the rest. Whatever it writes, nothing is read or written
// elsewhere, nothing panics, and every call comes back.
//
// Proves: daemon.harmless
func FuzzRing(f *testing.F) {
	le := binary.NativeEndian
	step := func(kind byte, at, value uint32) []byte {
		return le.AppendUint32(le.AppendUint32([]byte{kind}, at), value)
	}
	h := anyHeader
	record, _ := h.Append(nil, bytes.Repeat([]byte{7}, 100))
	f.Add([]byte{})
	f.Add(append(step(0, ringOut+ringHead, 192), record...))
	f.Add(append(step(0, ringOut+ringHead, 0xffffffc0), step(1, 0, 0)...))
	f.Add(append(step(0, ringIn+ringTail, 64), step(2, 60000, 0)...))
	f.Add(append(step(0, ringOut+ringHead, MinRing+64), step(1, 66000, 0)...))
	f.Add(append(step(0, ringIn+ringTail, 1<<31), bytes.Repeat(step(2, 66000, 0), 4)...))
	f.Add(append(step(3, ringPage+12, 66001), step(0, ringOut+ringHead, MinRing)...))
	mem := make([]byte, ringPage+2*MinRing+64)
	f.Fuzz(func(t *testing.T, script []byte) {
		clear(mem)
		guard := mem[ringPage+2*MinRing:]
		d := ringOver(mem[:ringPage+2*MinRing:ringPage+2*MinRing], MinRing, ringIn, ringOut)
		copy(d.in.mem, script)
		room := make([]byte, MaxData+8)
		data := bytes.Repeat([]byte{0xee}, MaxData)
		var g Header
		gets, puts := 0, 0
		for len(script) >= 9 && gets+puts < 2000 {
			kind, at, value := script[0], le.Uint32(script[1:]), le.Uint32(script[5:])
			script = script[9:]
			switch kind % 4 {
			case 0: // an index, or a flag
				le.PutUint32(mem[at%ringPage&^3:], value)
			case 1: // take what seems to be there, no more than some
				for range 8 {
					gets++
					b := room[: at%(MaxData+1) : at%(MaxData+1)]
					n, ok, _, err := d.in.get(&g, b, nil)
					if n > len(b) || n > int(g.Len) && ok || ok && err != nil || g.Len > MaxData {
						t.Fatalf("%d bytes of %d into %d, %v, %v", n, g.Len, len(b), ok, err)
					}
					if !ok {
						break
					}
				}
			case 2:
				puts++
				g := anyHeader
				ok, _, err := d.out.put(&g, data[:at%(MaxData+1)])
				if ok && err != nil || d.out.next-d.out.seen > MinRing {
					t.Fatalf("put: %v, %v, %d in the ring", ok, err, d.out.next-d.out.seen)
				}
				d.out.room(int(at % (MaxData + 1)))
			case 3: // bytes of a record
				le.PutUint32(mem[min(at%uint32(len(mem)-64), uint32(len(mem)-68)):], value)
			}
		}
		for _, c := range guard {
			if c != 0 {
				t.Fatal("written behind the end")
			}
		}
	})
}

// Proves: daemon.cost
func TestRingAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	a, b := ringPair(t, MinRing)
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

// Watch hears of a record of the operation that it waits for, and of the end, whatever
// waits to be read, on the socket and on a ring.
//
// Proves: daemon.socket
func TestWatch(t *testing.T) {
	for name, ends := range map[string]func() (a, b *Conn){
		"socket": func() (a, b *Conn) { return pair(t) },
		"ring":   func() (a, b *Conn) { return ringPair(t, MinRing) },
	} {
		watch := func(c *Conn) chan error {
			done := make(chan error, 1)
			go func() { done <- c.Watch(OpCancel) }()
			return done
		}
		a, b := ends()
		done := watch(b)
		if err := a.Write(&Header{Op: OpCancel}, nil); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("%s: the record: %v", name, err)
		}
		var h Header
		if _, err := b.TryRead(&h, nil); err != nil || h.Op != OpCancel {
			t.Errorf("%s: after it %v, %v", name, &h, err)
		}
		for range 5 {
			if err := a.Write(&Header{Op: OpSend}, nil); err != nil {
				t.Fatal(err)
			}
		}
		done = watch(b)
		a.Close()
		if err := <-done; err != io.EOF {
			t.Errorf("%s: the end: %v", name, err)
		}
		a, b = ends()
		done = watch(b)
		b.SetReadDeadline(time.Now())
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: a deadline: %v", name, err)
		}
		b.SetReadDeadline(time.Time{})
		done = watch(b)
		b.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: closed: %v", name, err)
		}
		a.Close()
	}
}
