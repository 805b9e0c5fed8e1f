// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The added hop, beside its limit: a byte in shared memory that two cores pass to and
// fro, and a UNIX socket that package net reads and writes.
//
//	go test ./attach -run xxx -bench RoundTrip -cpu 2

// trips calls trip over and over, and reports the time of the best hundred beside the mean:
// what it takes while both cores are ours.
func trips(b *testing.B, trip func()) {
	best := time.Duration(1<<63 - 1)
	const few = 100
	n, start := 0, time.Now()
	b.ReportAllocs()
	for b.Loop() {
		trip()
		if n++; n%few == 0 {
			now := time.Now()
			best, start = min(best, now.Sub(start)), now
		}
	}
	if n >= few {
		b.ReportMetric(float64(best.Nanoseconds())/few, "best-ns/op")
	}
}

// echo answers on b until the connection ends.
func echo(b *testing.B, c *Conn) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var h Header
		room := make([]byte, MaxData)
		for {
			n, err := c.Read(&h, room)
			if err == nil {
				err = c.Write(&h, room[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return func() { <-done }
}

func roundTrips(b *testing.B, a, c *Conn, size int) {
	wait := echo(b, c)
	defer wait()
	defer a.Close()
	var h Header
	data, room := make([]byte, size), make([]byte, MaxData)
	trips(b, func() {
		h.Op = OpSend
		if err := a.Write(&h, data); err != nil {
			b.Fatal(err)
		}
		if _, err := a.Read(&h, room); err != nil {
			b.Fatal(err)
		}
	})
}

// Proves: daemon.cost
func BenchmarkRoundTripRing64Spinning(b *testing.B) {
	a, c := ringPair(b, DefaultRing)
	noDeadlines(a, c)
	a.SetSpin(-1)
	c.SetSpin(-1)
	roundTrips(b, a, c, 64)
}

func BenchmarkRoundTripRing64Asleep(b *testing.B) {
	a, c := ringPair(b, DefaultRing)
	noDeadlines(a, c)
	roundTrips(b, a, c, 64)
}

// Proves: daemon.cost
func BenchmarkRoundTripConn64(b *testing.B) {
	a, c := pair(b)
	noDeadlines(a, c)
	roundTrips(b, a, c, 64)
}

func noDeadlines(ends ...*Conn) {
	for _, c := range ends {
		c.SetDeadline(time.Time{})
	}
}

// BenchmarkRoundTripMemory is the limit of a ring: a word and a line of data each way.
//
// Proves: daemon.cost
func BenchmarkRoundTripMemory(b *testing.B) {
	mem, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Munmap(mem)
	r := Ring{mem: mem}
	there, back := r.word(0), r.word(1024)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var data [64]byte
		for i := uint32(1); ; i++ {
			for k := 1; atomic.LoadUint32(there) != i; k++ {
				if atomic.LoadUint32(there) == 1<<32-1 {
					return
				}
				giveWay(k)
			}
			copy(data[:], mem[256:])
			copy(mem[1280:], data[:])
			atomic.StoreUint32(back, i)
		}
	}()
	var data [64]byte
	i := uint32(0)
	trips(b, func() {
		i++
		copy(mem[256:], data[:])
		atomic.StoreUint32(there, i)
		for k := 1; atomic.LoadUint32(back) != i; k++ {
			giveWay(k)
		}
		copy(data[:], mem[1280:])
	})
	atomic.StoreUint32(there, 1<<32-1)
	<-done
}

// giveWay lets the other end run where it has no core of its own just now.
func giveWay(k int) {
	if k%10000 == 0 {
		runtime.Gosched()
	}
}

// Proves: daemon.cost
func BenchmarkRoundTripUnix64(b *testing.B) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		b.Fatal(err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "")
		if ends[i], err = net.FileConn(f); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		room := make([]byte, MaxData)
		for {
			n, err := ends[1].Read(room)
			if err == nil && n > 0 {
				_, err = ends[1].Write(room[:n])
			}
			if err != nil || n == 0 {
				return
			}
		}
	}()
	data, room := make([]byte, 64), make([]byte, MaxData)
	trips(b, func() {
		if _, err := ends[0].Write(data); err != nil {
			b.Fatal(err)
		}
		if _, err := ends[0].Read(room); err != nil && !errors.Is(err, net.ErrClosed) {
			b.Fatal(err)
		}
	})
	ends[0].Close()
	<-done
	ends[1].Close()
}
