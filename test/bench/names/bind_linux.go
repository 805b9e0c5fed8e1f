// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/internal/quantile"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/xdp"
)

// spread is two rows of times, in us: what half of them stay below, and 99 of 100.
func spread(id, what string, took []time.Duration, err error) []Row {
	rows := []Row{
		{ID: id, What: what + ", median", Unit: "us"},
		{ID: id + "-p99", What: "the same, 99 of 100", Unit: "us"},
	}
	if err != nil {
		return sheet.Rows(rows).Break(err)
	}
	slices.Sort(took)
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	rows[0].Value, rows[1].Value = us(quantile.Of(took, 0.5)), us(quantile.Of(took, 0.99))
	rows[1].Notes = fmt.Sprintf("%d times, the longest %.1f us", len(took), us(took[len(took)-1]))
	return rows
}

// usableRows measure how long after Bind on one node another can send to the name.
func usableRows(ctx context.Context, p Plan, driver xdp.Config) []Row {
	took, err := usable(ctx, p.Names, driver)
	return spread("bind-usable", "from Bind until another node has sent there", took, err)
}

func usable(ctx context.Context, names int, driver xdp.Config) (took []time.Duration, err error) {
	s, err := openSegment(ctx, driver)
	if err != nil {
		return nil, err
	}
	defer s.close()
	from, err := stack.SocketConfig{NameWait: meeting}.ListenPacket(ctx, s.nodes[0], "tipcrdm", nil)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := s.nodes[1].ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	for i := range names {
		d, err := bindWhileSent(ctx, s.nodes[0], from, to, stack.Service{Type: typ, Instance: uint32(i)})
		if err != nil {
			return nil, fmt.Errorf("name %d: %w", i, err)
		}
		took = append(took, d)
	}
	return took, nil
}

// bindWhileSent binds a socket to a name that somebody on another node waits to send to,
// and returns how long after that the message was taken. It arrives.
func bindWhileSent(ctx context.Context, n *stack.Node, from, to *stack.PacketConn, name stack.Service) (time.Duration, error) {
	type end struct {
		at  time.Time
		err error
	}
	sent := make(chan end, 1)
	go func() {
		_, err := from.WriteTo([]byte(name.String()), name)
		sent <- end{time.Now(), err}
	}()
	look := time.NewTicker(100 * time.Microsecond)
	defer look.Stop()
	for len(must.Get(n.Waits(context.Background()))) == 0 {
		select {
		case x := <-sent:
			return 0, fmt.Errorf("the send did not wait: %w", x.err)
		case <-look.C:
		}
	}
	begin := time.Now()
	err := to.Bind(name)
	if err != nil {
		from.SetWriteDeadline(time.Now())
		return 0, errors.Join(err, (<-sent).err)
	}
	x := <-sent
	if x.err != nil {
		return 0, x.err
	}
	b := make([]byte, 100)
	to.SetReadDeadline(time.Now().Add(meeting))
	k, _, err := to.ReadFrom(b)
	if err == nil && string(b[:k]) != name.String() {
		err = fmt.Errorf("%q arrived", b[:k])
	}
	return x.at.Sub(begin), errors.Join(err, to.Unbind(name), ctx.Err())
}
