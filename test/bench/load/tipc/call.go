// SPDX-License-Identifier: Apache-2.0

package tipc

import (
	"context"
	"net"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
)

// answering is the type of the service whose active port answers calls.
const answering = serviceType + 1

// call asks by name; the other end's active port answers.
func (e *End) call(ctx context.Context, stop *load.Stop, j load.Job) (load.Result, error) {
	svc := stack.Service{Type: answering}
	var to net.Addr = svc
	if err := e.node.WaitFor(ctx, svc); err != nil {
		return load.Result{}, err
	}
	t := load.NewTrips(j.For)
	b, answer := make([]byte, j.Size), make([]byte, j.Size)
	mark(b, j.Round)
	for more := true; more && !stop.Load(); more = t.Next() {
		if _, _, err := e.node.Call(ctx, to, b, answer); err != nil {
			return t.Result(j.Size), err
		}
	}
	return t.Result(j.Size), nil
}

// answer has an active port until the job is over; a node that spins does so while there
// is one.
func (e *End) answer(ctx context.Context) (r load.Result, err error) {
	p, err := e.node.Handle(ctx, stack.Service{Type: answering}, stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) { w.Send(m.Data) }))
	if err != nil {
		return r, err
	}
	<-ctx.Done()
	err = p.Close()
	s := p.Stats()
	r.Count = s.Handled + s.Replies
	return r, err
}
