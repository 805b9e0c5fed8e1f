// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// inFlight is how many types a node is asked about at a time: few beside the 1024
// subscriptions and 4096 records that a topology service takes of a connection.
const inFlight = 64

// An inquiry asks one node's topology service about types, each by a subscription that
// ends at once.
type inquiry struct {
	*audit
	at    frame.NodeAddr
	wait  poll.List
	line  *topologyLine
	asked map[uint64]naming.Remote // not answered yet, by handle
	next  uint64                   // handle
	told  census
	left  int // events it may tell still
}

// ask returns what a node has bound to types, if that is at most limit events. Errors:
// ErrUnreachable, *TopologyError, net.ErrClosed, the context's.
func (a *audit) ask(ctx context.Context, at frame.NodeAddr, types []uint32, limit int) (census, error) {
	q := &inquiry{audit: a, at: at, asked: map[uint64]naming.Remote{}, told: census{count: map[naming.Binding]int{}}, left: limit + len(types)}
	a.n.loop.Lock()
	defer a.n.loop.Unlock()
	err := q.converse(ctx, types)
	if q.line != nil {
		q.line.close()
	}
	return q.told, err
}

// converse asks, and listens until all is answered. The node has the Timeout for each
// message, be it one that it sends or one that it takes.
func (q *inquiry) converse(ctx context.Context, types []uint32) error {
	by := time.Now().Add(q.Timeout)
	for len(types) > 0 || len(q.asked) > 0 {
		if len(types) > 0 && len(q.asked) < inFlight {
			if err := q.post(ctx, time.Now().Add(q.Timeout), types[0]); err != nil {
				return err
			}
			types = types[1:]
			continue
		}
		heard, err := q.listen()
		if err != nil {
			return err
		}
		if heard {
			by = time.Now().Add(q.Timeout)
			continue
		}
		if err = q.line.await(ctx, by, func(*poll.Wait) bool { return q.line.c.Pending() > 0 || q.line.ended() != nil }); err != nil {
			return q.late(err)
		}
	}
	return nil
}

// post asks about one type; the first time it connects.
func (q *inquiry) post(ctx context.Context, by time.Time, typ uint32) (err error) {
	x := naming.Subscription{Range: frame.Range{Type: typ, Upper: 1<<32 - 1}, Filter: frame.FilterPorts | frame.FilterClusterScope}
	remote, record := naming.AskOnce(&x, q.next)
	q.asked[q.next] = remote
	q.next++
	if q.line == nil {
		q.line, err = q.n.dialTopology(ctx, q.at, record, q.Timeout, &q.wait)
		return err
	}
	return q.late(q.line.write(ctx, by, record))
}

// late is the error of a word for which the node had its time.
func (q *inquiry) late(err error) error {
	if err == os.ErrDeadlineExceeded {
		return q.line.silent(q.Timeout)
	}
	return err
}

// listen takes one event, if there is one.
func (q *inquiry) listen() (heard bool, err error) {
	var b [frame.TopologyEventLen + 1]byte
	size, ok := q.line.read(b[:])
	if !ok {
		return false, q.line.ended()
	}
	msg := b[:min(size, len(b))]
	handle, _ := naming.HandleOf(msg)
	ev, over, err := q.asked[handle].Event(msg) // that nobody asked has no events
	q.left--
	switch {
	case err != nil:
		return false, q.senseless()
	case q.left < 0:
		return false, &socket.TopologyError{Node: q.at, Reason: fmt.Sprintf("it tells of more than %d bindings beside those known here", strangers), Err: socket.ErrTopology}
	case over:
		delete(q.asked, handle)
	case !ev.Withdrawn:
		q.told.add(ev.Binding.Range, ev.Binding.Socket)
	case !q.told.take(ev.Binding.Range, ev.Binding.Socket):
		return false, q.senseless()
	}
	return true, nil
}

func (q *inquiry) senseless() error {
	return &socket.TopologyError{Node: q.at, Reason: "an event that makes no sense", Err: socket.ErrTopology}
}
