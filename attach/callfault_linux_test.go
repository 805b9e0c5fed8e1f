// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/callfault"
)

// injectFaults lets one call in every fail until the test ends.
func injectFaults(t *testing.T, seed uint64, every int) {
	callfault.Use(callfault.Seeded(seed, every))
	t.Cleanup(func() { callfault.Use(nil) })
}

// Records arrive once and in order while the system refuses calls, locks are taken by
// others and looks at the ring find nothing, with waiting calls and with those that try.
//
// It fails if a waiting Write returns the system's want of memory (writeSocket without its
// loop), or if the byte that wakes the peer at a ring is given up for it (toll without its
// loop), whose reader then waits for ever, or if TryWrite returns another error than EAGAIN.
func TestRecordsUnderCallFaults(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (*Conn, *Conn){
		"socket": func(t *testing.T) (*Conn, *Conn) { return pair(t) },
		"ring":   func(t *testing.T) (*Conn, *Conn) { return ringPair(t, MinRing) },
	} {
		for _, wait := range []bool{true, false} {
			for seed := range uint64(3) {
				a, b := open(t)
				injectFaults(t, seed, 3)
				exchange(t, name, a, b, 300, wait)
				callfault.Use(nil)
				a.Close()
				b.Close()
			}
		}
	}
}

// exchange sends records both ways at once and reads them, then closes a.
func exchange(t *testing.T, name string, a, b *Conn, records int, wait bool) {
	t.Helper()
	var all sync.WaitGroup
	for _, c := range [][2]*Conn{{a, b}, {b, a}} {
		all.Go(func() { write(t, name, c[0], records, wait) })
		all.Go(func() { readInOrder(t, name, c[1], records, wait) })
	}
	all.Wait()
}

func write(t *testing.T, name string, c *Conn, records int, wait bool) {
	data := make([]byte, 3000)
	for i := range records {
		binary.NativeEndian.PutUint32(data, uint32(i))
		h := Header{Op: OpSend}
		for {
			var err error
			if wait {
				err = c.Write(&h, data)
			} else {
				err = c.TryWrite(&h, data)
			}
			if err == nil {
				break
			}
			if wait || err != syscall.EAGAIN {
				t.Errorf("%s, wait %v: record %d: %v", name, wait, i, err)
				c.Close() // for who reads
				return
			}
			runtime.Gosched()
		}
	}
}

func readInOrder(t *testing.T, name string, c *Conn, records int, wait bool) {
	data := make([]byte, MaxData)
	for i := range records {
		var h Header
		for {
			var err error
			if wait {
				_, err = c.Read(&h, data)
			} else {
				_, err = c.TryRead(&h, data)
			}
			if err == nil {
				break
			}
			if wait || err != syscall.EAGAIN {
				t.Errorf("%s, wait %v: record %d: %v", name, wait, i, err)
				return
			}
			runtime.Gosched()
		}
		if got := binary.NativeEndian.Uint32(data); got != uint32(i) || h.Len != 3000 {
			t.Errorf("%s, wait %v: record %d is %d, of %d bytes", name, wait, i, got, h.Len)
			return
		}
	}
}

// A Write that waits for the system's memory ends with its deadline, and with Close.
//
// It fails if writeSocket does not look at the deadline again.
func TestWriteEndsWithoutMemory(t *testing.T) {
	callfault.Use(func(c callfault.Call) syscall.Errno {
		if c == callfault.SendWait {
			return syscall.ENOBUFS
		}
		return 0
	})
	t.Cleanup(func() { callfault.Use(nil) })
	a, _ := pair(t)
	a.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	if err := a.Write(&Header{Op: OpSend}, nil); !isTimeout(err) {
		t.Errorf("with a deadline: %v", err)
	}
	a.SetWriteDeadline(time.Time{})
	ended := make(chan error)
	go func() { ended <- a.Write(&Header{Op: OpSend}, nil) }()
	a.Close()
	if err := <-ended; err == nil {
		t.Error("written after Close")
	}
}

func isTimeout(err error) bool {
	var x interface{ Timeout() bool }
	return errors.As(err, &x) && x.Timeout()
}
