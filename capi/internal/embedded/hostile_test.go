// SPDX-License-Identifier: Apache-2.0

//go:build linux

package embedded

import (
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/tcpwire"
)

// What has come is read, though the peer has closed and a write has failed since.
//
// Mutation it catches: a write that fails resets the connection.
func TestReadsAfterFailedWrite(t *testing.T) {
	n, s, c := connected(t)
	n[0].write(t, s, []byte("answer"))
	if _, err := n[0].CloseSocket(s, false); err != nil {
		t.Fatal(err)
	}
	var err error
	for err == nil {
		_, err = n[1].Send(c, [][]byte{[]byte("x")})
		n[1].Poll(nil, nil, true)
	}
	if err != syscall.ECONNRESET {
		t.Error(err)
	}
	await(t, n[1], c, unix.POLLIN)
	b := make([]byte, 10)
	if k, err := n[1].Receive(c, [][]byte{b}, false); string(b[:k]) != "answer" || err != nil {
		t.Errorf("%q, %v", b[:k], err)
	}
	if _, err := n[1].Send(c, [][]byte{[]byte("x")}); err != syscall.EPIPE {
		t.Error(err)
	}
}

// A program that looks at its listener and accepts nothing has no more connections than its backlog allows, and one at hand. A
// backlog below 0 is as large as one may be, and none is larger.
//
// Mutations it catches: takeRequests takes all that wait; room gives the backlog on as it is; it has a negative one as none.
func TestBacklog(t *testing.T) {
	n, l, at := pair(t)
	const backlog, more = 4, 20
	var h [more]int32
	for i := range h {
		h[i] = n[1].Connect(at, client, server)
	}
	var ready [1]uint16
	for taken := 0; taken < backlog; taken = int(n[1].connections.Load()) {
		await(t, n[0], l, unix.POLLIN)
		n[1].Poll(nil, nil, true)
	}
	for range 100 {
		n[0].Poll([]int32{l}, ready[:], true)
		n[1].Poll(nil, nil, true)
	}
	n[0].mu.Lock()
	if k := len(n[0].of[l].accepted); k != 1 {
		t.Errorf("%d connections were taken", k)
	}
	n[0].mu.Unlock()
	for _, h := range h {
		if _, err := n[1].CloseSocket(h, true); err != nil {
			t.Error(err)
		}
	}
	for backlog, want := range map[int]int{-1: tcpwire.MostBacklog, 0: 1, 5: 5, 1<<31 - 1: tcpwire.MostBacklog} {
		if got := room(backlog); got != want {
			t.Errorf("room for %d of a backlog of %d, want %d", got, backlog, want)
		}
	}
}

// What was sent before a close does not wait for ever for a peer that reads nothing.
//
// Mutations it catches: finish sets no limit; a write that fails of a connection that was closed does not abort it.
func TestLingers(t *testing.T) {
	n, s, c := connected(t)
	b := make([]byte, 1<<20)
	for k := 1; k > 0; {
		k = n[1].write(t, c, b)
	}
	n[1].linger = time.Nanosecond
	if _, err := n[1].CloseSocket(c, false); err != nil {
		t.Fatal(err)
	}
	n[1].wg.Wait()
	var err error
	for err == nil {
		await(t, n[0], s, unix.POLLIN)
		_, err = n[0].Receive(s, [][]byte{b}, false)
	}
	if err != syscall.ECONNRESET {
		t.Error(err)
	}
}
