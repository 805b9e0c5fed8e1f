// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"errors"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

// A call ends when the program that has the request ends without an answer, whether it has
// read it or the request lies in the program's socket: the caller is another node, the
// daemon's own, or an attached program. A program that takes its name back answers still.
//
// Mutations that it catches: the daemon does not pass OptRequests on; far_call does not ask
// for it; unanswered is reject.
func TestCallEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	b := newBed(t, daemon.Config{})
	attached, err := stack.AttachConfig{}.Attach(within(t), b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer attached.Close(within(t))
	svc := stack.Service{Type: 18888} // another instance each time: a caller may hear late that the last one is gone
	for _, caller := range []struct {
		name string
		n    *stack.Node
	}{{"another node", b.peer}, {"the daemon's node", b.node}, {"an attached program", attached}} {
		for _, does := range []string{"reads", "does not read", "answers after it has unbound"} {
			t.Run(caller.name+", "+does, func(t *testing.T) {
				svc.Instance++
				p := b.program(t)
				p.socket(attach.KindRDM)
				p.bind(svc.Type, svc.Instance)
				if err := caller.n.WaitFor(within(t), svc); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				resp := make([]byte, 100)
				go func() {
					k, _, err := caller.n.Call(within(t), svc, []byte("request"), resp)
					if err == nil && string(resp[:k]) != "answer" {
						err = errors.New("another answer: " + string(resp[:k]))
					}
					ended <- err
				}()
				switch does {
				case "reads":
					p.read()
				case "does not read":
					waitFor(t, p.readable)
				default:
					r := p.read()
					p.must(attach.Header{Op: attach.OpUnbind, Addr: service(svc.Type, svc.Instance)}, nil)
					p.send(attach.Header{Op: attach.OpSend, Addr: r.Addr}, []byte("answer"))
					if err := <-ended; err != nil {
						t.Errorf("got %v", err)
					}
					p.c.Close()
					return
				}
				p.c.Close()
				var call *stack.CallError
				if err := <-ended; !errors.As(err, &call) || !errors.Is(err, stack.ErrUnreachable) || call.Timeout() {
					t.Errorf("got %v, want a CallError with ErrUnreachable", err)
				}
			})
		}
	}
}

// A socket's option "requests" is set with the socket, and can be asked for.
//
// Mutation that it catches: it may be set later.
func TestOptionRequests(t *testing.T) {
	p := newBed(t, daemon.Config{}).program(t)
	on := attach.AppendOption(nil, attach.OptRequests, 1)
	p.must(attach.Header{Op: attach.OpSocket, Arg0: uint32(attach.KindRDM)}, on)
	r := p.must(attach.Header{Op: attach.OpGetOption}, on)
	if o, err := attach.ParseOptions(r.data, nil); err != nil || len(o) != 1 || o[0].Value != 1 {
		t.Errorf("got %v, %v", o, err)
	}
	if r := p.ask(attach.Header{Op: attach.OpSetOption}, attach.AppendOption(nil, attach.OptRequests, 0)); r.Errno == 0 {
		t.Error("it was set later")
	}
}
