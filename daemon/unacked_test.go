// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

var jobService = stack.Service{Type: 18888, Instance: 5}

func init() {
	// A worker at the daemon of $SOCKET, that reads $READ jobs, acknowledges those with an even
	// number, prints "done" and hangs; 0: it does all there is.
	children["worker"] = func() int {
		cfg := stack.AttachConfig{}
		if os.Getenv("RING") != "" {
			cfg.Ring = stack.RingAlways
		}
		n, err := cfg.Attach(context.Background(), os.Getenv("SOCKET"))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		c, err := stack.SocketConfig{ManualAck: true}.ListenPacket(context.Background(), n, "tipcrdm", jobService)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("ready")
		most, _ := strconv.Atoi(os.Getenv("READ"))
		buf := make([]byte, 100)
		for i := 0; most == 0 || i < most; i++ {
			k, m, err := c.ReadMsg(buf)
			if err != nil {
				fmt.Println(err)
				return 1
			}
			job, _ := strconv.Atoi(string(buf[:k]))
			if most == 0 || job%2 == 0 {
				c.Ack(m.Receipt)
				c.WriteTo(buf[:k], m.From)
			}
		}
		fmt.Println("done")
		untilClosed()
		return 0
	}
}

// A worker is killed while it has jobs read and done, read and not acknowledged, and not read,
// which lie in its socket, or its ring, and in the node. All but those that are done come back, and
// another worker does them: each job is done, none twice.
//
// Mutations it catches: the daemon does not set the option; it does not tell the receipt; OpAck
// does nothing; the engine returns nothing that was read.
//
// Proves: daemon.dies
func TestKilledWorkerLosesNoJob(t *testing.T) {
	t.Parallel()
	for _, ring := range []string{"", "yes"} {
		b := newBed(t, daemon.Config{})
		first := startChild(t, "worker", "SOCKET="+b.path, "READ=11", "RING="+ring)
		if err := b.peer.WaitFor(within(t), jobService); err != nil {
			t.Fatal(err)
		}
		s, err := stack.SocketConfig{Returnable: true}.ListenPacket(within(t), b.peer, "tipcrdm", nil)
		if err != nil {
			t.Fatal(err)
		}
		s.SetReadDeadline(time.Now().Add(testTimeout))
		const jobs = 200
		for i := range jobs {
			if _, err := s.WriteTo([]byte(fmt.Sprint(i)), jobService); err != nil {
				t.Fatal(err)
			}
		}
		if got := first.line(); got != "done" {
			t.Fatalf("the worker says %q", got)
		}
		waitFor(t, func() bool { return b.srv.Counters().Messages == jobs }) // all lie before the worker
		if err := first.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		done, back, buf := map[string]int{}, []string(nil), make([]byte, 100)
		next := func() {
			k, _, err := s.ReadFrom(buf)
			var reject *stack.RejectError
			switch job := string(buf[:k]); {
			case err == nil:
				done[job]++
			case errors.As(err, &reject):
				back = append(back, job)
			default:
				t.Fatal(err)
			}
		}
		for len(done)+len(back) < jobs {
			next()
		}
		if len(done) != 6 || !strings.HasPrefix(strings.Join(back, " "), "1 3 5 7 9 11 12 13") {
			t.Errorf("ring %q: done %v, came back %v", ring, done, back)
		}
		startChild(t, "worker", "SOCKET="+b.path, "RING="+ring)
		if err := b.peer.WaitFor(within(t), jobService); err != nil {
			t.Fatal(err)
		}
		for _, job := range back {
			if _, err := s.WriteTo([]byte(job), jobService); err != nil {
				t.Fatal(err)
			}
		}
		for back = nil; len(done) < jobs; {
			next()
		}
		for job, k := range done {
			if k != 1 {
				t.Errorf("job %s was done %d times", job, k)
			}
		}
		if len(back) != 0 {
			t.Errorf("came back from the second: %v", back)
		}
	}
}

// A receipt of a daemon that has ended acknowledges nothing at the next one, also of a message that
// the program had from the first and reads only now.
//
// Mutation it catches: what was not read is taken over with its receipts.
func TestReceiptOfAnEarlierDaemon(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	a, err := stack.AttachConfig{Ring: stack.RingNever}.Attach(within(t), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(within(t))
	worker, err := stack.SocketConfig{ManualAck: true}.ListenPacket(within(t), a, "tipcrdm", jobService)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stack.SocketConfig{Returnable: true}.ListenPacket(within(t), b.node, "tipcrdm", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.SetReadDeadline(time.Now().Add(testTimeout))
	worker.SetReadDeadline(time.Now().Add(testTimeout))
	send := func(text string) {
		t.Helper()
		if _, err := s.WriteTo([]byte(text), jobService); err != nil {
			t.Fatal(err)
		}
	}
	read := func(c *stack.PacketConn, want string) stack.Message {
		t.Helper()
		buf := make([]byte, 100)
		k, m, err := c.ReadMsg(buf)
		if err != nil || string(buf[:k]) != want {
			t.Fatalf("got %q, %v, want %q", buf[:k], err, want)
		}
		return m
	}
	handedOver := func() {
		for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
			for _, c := range b.srv.Clients() {
				if c.Messages > 0 {
					return
				}
			}
		}
	}
	send("first")
	handedOver()
	if err := b.srv.Shutdown(within(t), "another one comes"); err != nil {
		t.Fatal(err)
	}
	b.serve(t)
	read(s, "first") // it came back with the first daemon's socket
	if err := b.node.WaitFor(within(t), jobService); err != nil {
		t.Fatal(err)
	}
	send("second")
	handedOver()
	if err := worker.Ack(read(worker, "first").Receipt); err != nil {
		t.Error(err)
	}
	read(worker, "second")
	worker.Close()
	read(s, "second")
}
