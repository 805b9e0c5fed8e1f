// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"io"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
)

// What a program wrote before the daemon told it of its end is sent, and then the peer
// reads the end; what it writes after that fails. The mutation: Shutdown ends sessions
// at once.
func TestShutdownSendsWhatWasWritten(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{DrainTimeout: testTimeout, Quotas: daemon.Quotas{Records: 1000}}) // it reads slowly
	p, c := b.connected(t, attach.KindSeqPacket)
	const wrote = 125 // more than the pace lets through at once, less than the first window
	for range wrote {
		p.send(attach.Header{Op: attach.OpSend}, []byte("hello"))
	}
	if err := b.srv.Shutdown(within(t), "the test is over"); err != nil {
		t.Fatal(err)
	}
	for i := range wrote {
		if k, err := c.Read(make([]byte, 100)); k != 5 || err != nil {
			t.Fatalf("message %d of %d: %v", i, wrote, err)
		}
	}
	if _, err := c.Read(make([]byte, 100)); err != io.EOF {
		t.Errorf("then got %v, want the end", err)
	}
	h := attach.Header{Op: attach.OpSend}
	if err := p.c.Write(&h, []byte("late")); err == nil {
		t.Error("the daemon took a message after its end")
	}
}

// Watches, captures and audits have limits of each process; an audit has a deadline. The
// mutation: stream and serveVerb do not charge for them.
func TestStreamsAndAuditsAreLimited(t *testing.T) {
	var timed atomic.Bool
	hang := daemon.Verb{Right: daemon.ShowRight, Serve: func(ctx context.Context, _ attach.Credentials, _ []byte) ([]byte, error) {
		_, ok := ctx.Deadline()
		timed.Store(ok)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	b := newBed(t, daemon.Config{Verbs: map[string]daemon.Verb{"audit": hang}, Quotas: daemon.Quotas{Process: daemon.Limits{Watches: 2, Captures: 1, Audits: 1}}})
	stream := func(verb string) (*program, syscall.Errno) {
		p := b.program(t)
		return p, p.ask(attach.Header{Op: attach.OpStream}, attach.AppendCall(nil, verb, []byte("{}"))).Errno
	}
	for verb, most := range map[string]int{"watch": 2, "capture": 1} {
		var first *program
		for i := range most {
			p, errno := stream(verb)
			if errno != 0 {
				t.Fatalf("%s %d: %v", verb, i, errno)
			}
			first = p
		}
		if _, errno := stream(verb); errno != syscall.ENOBUFS {
			t.Errorf("%s beyond %d: got %v", verb, most, errno)
		}
		held := b.srv.Counters().Subscriptions
		first.c.Close()
		waitFor(t, func() bool { return b.srv.Counters().Subscriptions == held-1 })
		if _, errno := stream(verb); errno != 0 {
			t.Errorf("%s after one has ended: %v", verb, errno)
		}
	}
	p := b.program(t)
	p.send(attach.Header{Op: attach.OpCall, ID: 700}, attach.AppendCall(nil, "audit", []byte("{}")))
	waitFor(t, func() bool { return b.srv.Counters().Calls == 1 })
	waitFor(t, timed.Load)
	q := b.program(t)
	q.fails(syscall.EAGAIN, attach.Header{Op: attach.OpCall}, attach.AppendCall(nil, "audit", []byte("{}")))
	p.send(attach.Header{Op: attach.OpCancel, Arg0: 700}, nil)
	if r := p.answer(700); r.Errno != syscall.ECANCELED {
		t.Errorf("canceled: %v", r.Errno)
	}
}
