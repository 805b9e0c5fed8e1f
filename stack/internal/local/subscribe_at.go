// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"os"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A distant source is the topology service of another node. Its events wait in the
// connection, so that a subscriber who does not read holds that node back.
type distant struct {
	s     *Subscription
	line  *topologyLine
	asked naming.Remote
	err   error // why there will be no more
}

// ask subscribes at another node, and waits for its answer.
func (s *Subscription) ask(ctx context.Context, c backend.SubscriptionOptions, f frame.Filter) error {
	x := naming.Subscription{Range: s.r, Filter: f}
	switch {
	case s.r.Lower > s.r.Upper:
		return engine.ErrRange
	case c.Complete:
		return fmt.Errorf("%w: another node does not tell when its bindings are complete", engine.ErrConfig)
	case c.Limit != 0:
		return fmt.Errorf("%w: a limit of events at another node", engine.ErrConfig)
	}
	d := &distant{s: s}
	var record []byte
	var err error
	d.asked, record = naming.AskRemote(&x, c.Timeout, 0)
	if d.line, err = s.n.dialTopology(ctx, c.At, record, 0, &s.wait); err != nil {
		return err
	}
	s.from = d
	return nil
}

func (d *distant) pending() int {
	if d.err != nil {
		return 0
	}
	return d.line.c.Pending()
}

func (d *distant) next() (ev socket.Event, ok bool, err error) {
	if d.err != nil {
		return socket.Event{}, false, d.err
	}
	var b [frame.TopologyEventLen + 1]byte
	size, ok := d.line.read(b[:])
	if !ok {
		if err := d.line.ended(); err != nil {
			d.end(err)
		}
		return socket.Event{}, false, d.err
	}
	told, over, err := d.asked.Event(b[:min(size, len(b))])
	switch {
	case err != nil:
		d.end(&socket.TopologyError{Node: d.line.at, Reason: fmt.Sprintf("an event that makes no sense, of %d bytes", size), Err: socket.ErrTopology})
	case over:
		d.end(os.ErrDeadlineExceeded)
	default:
		return socket.Event{Withdrawn: told.Withdrawn, Binding: told.Binding}, true, nil
	}
	return socket.Event{}, false, d.err
}

// end notes why there will be no more, and gives the connection back.
func (d *distant) end(err error) {
	d.err = err
	d.line.close()
	d.s.n.endSubscription(d.s)
}

func (d *distant) close() { d.line.close() }
