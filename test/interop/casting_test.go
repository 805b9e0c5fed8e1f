// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/cast"
	"github.com/utipc/utipc/test/interop/rig"
)

// A method is how a sender's multicast goes to other nodes.
type method int

const (
	automatic method = iota
	broadcast
	replicast
)

func (m method) String() string { return [...]string{"automatic", "broadcast", "replicast"}[m] }

// A caster is a member that takes part in a round of multicast.
type caster interface {
	member
	// hear opens the sockets of some receivers of a plan and tells their addresses.
	hear(t *testing.T, p cast.Plan, receivers ...int) (castEars, []stack.SocketAddr)
	// speak makes one of the plan's senders; it starts when it is told to.
	speak(t *testing.T, p cast.Plan, sender int, m method) castMouth
}

// castEars are the receivers of a round at one member.
type castEars interface {
	report() ([]cast.Report, error)
	close() error
}

// A castMouth is a sender.
type castMouth interface {
	start() error
	wait(ctx context.Context) error // until it has sent everything and that is confirmed
	status() (cast.Status, error)
	close() error
}

// receiveRoom is how much may wait at a receiver, in bytes of the kernel's accounting.
const receiveRoom = 8 << 20

// ourEars are sockets of ours.
type ourEars struct {
	receivers []*cast.Receiver
	conns     []*stack.PacketConn
	ended     chan error
}

func (m *ourMember) hear(t *testing.T, p cast.Plan, which ...int) (castEars, []stack.SocketAddr) {
	t.Helper()
	e := &ourEars{ended: make(chan error, len(which))}
	var all []stack.SocketAddr
	for _, n := range which {
		c, err := stack.SocketConfig{ReceiveLimit: receiveRoom}.ListenPacket(m.ctx, m.node, "tipcrdm", nil)
		must(t, err)
		for _, r := range p.Receivers[n] {
			must(t, c.Bind(stack.Range{Type: p.Type, Lower: r.Lower, Upper: r.Upper}))
		}
		r := cast.NewReceiver(p, n)
		go func() { e.ended <- r.Serve(c) }()
		e.receivers, e.conns = append(e.receivers, r), append(e.conns, c)
		all = append(all, c.LocalAddr().(stack.SocketAddr))
	}
	return e, all
}

func (e *ourEars) report() (all []cast.Report, _ error) {
	for _, r := range e.receivers {
		all = append(all, r.Report())
	}
	return all, nil
}

func (e *ourEars) close() (err error) {
	for _, c := range e.conns {
		err = errors.Join(err, c.Close())
	}
	for range e.conns {
		if why := <-e.ended; !errors.Is(why, net.ErrClosed) {
			err = errors.Join(err, why)
		}
	}
	return err
}

// ourMouth is a socket of ours.
type ourMouth struct {
	conn   *stack.PacketConn
	sender *cast.Sender
	ended  chan error
}

var ourMethods = map[method]stack.Method{automatic: stack.Auto, broadcast: stack.Broadcast, replicast: stack.Replicast}

func (m *ourMember) speak(t *testing.T, p cast.Plan, sender int, how method) castMouth {
	t.Helper()
	c, err := stack.SocketConfig{Multicast: ourMethods[how]}.ListenPacket(m.ctx, m.node, "tipcrdm", nil)
	must(t, err)
	return &ourMouth{c, cast.NewSender(p, sender), make(chan error, 1)}
}

func (s *ourMouth) start() error {
	go func() {
		s.ended <- s.sender.Run(s.conn, func(typ uint32, r cast.Range) net.Addr {
			return stack.Range{Type: typ, Lower: r.Lower, Upper: r.Upper}
		})
	}()
	return nil
}

func (s *ourMouth) wait(ctx context.Context) error {
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *ourMouth) status() (cast.Status, error) { return s.sender.Status(), nil }

func (s *ourMouth) close() error { return s.conn.Close() }

// theirEars are sockets of a kernel.
type theirEars struct {
	ctx   context.Context
	job   *rig.Job
	count int
}

func (m *kernelMember) hear(t *testing.T, p cast.Plan, which ...int) (castEars, []stack.SocketAddr) {
	t.Helper()
	args := []string{"peer", "cast-receive", planWord(t, p), "-R", fmt.Sprint(receiveRoom / 2)} // the kernel doubles it
	for _, n := range which {
		args = append(args, fmt.Sprint(n))
	}
	j, err := m.guest.Job(m.ctx, args...)
	must(t, err)
	var all []stack.SocketAddr
	for range which {
		line, err := j.Expect(m.ctx, "id=")
		must(t, err)
		at := stack.SocketAddr{Node: m.node}
		var n, node uint32
		if _, err := fmt.Sscanf(line, "receiver %d id=%x:%d", &n, &node, &at.Port); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, at)
	}
	_, err = j.Expect(m.ctx, "ready")
	must(t, err)
	return &theirEars{m.ctx, j, len(which)}, all
}

func planWord(t *testing.T, p cast.Plan) string {
	t.Helper()
	b, err := json.Marshal(p)
	must(t, err)
	return string(b)
}

func (e *theirEars) report() (all []cast.Report, err error) {
	if err := e.job.Send("report"); err != nil {
		return nil, err
	}
	for _, line := range e.job.Lines() {
		if strings.HasPrefix(line, "fail") {
			return nil, errors.New(line)
		}
	}
	for range e.count {
		var r cast.Report
		if err := expectJSON(e.ctx, e.job, "report", &r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// expectJSON waits for a line of a word and a value.
func expectJSON(ctx context.Context, j *rig.Job, word string, into any) error {
	line, err := j.Expect(ctx, word+" {")
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(strings.TrimPrefix(line, word)), into)
}

// close is for a member that lives.
func (e *theirEars) close() error { return endJob(e.ctx, e.job) }

// endJob ends a job's input and waits for its end.
func endJob(ctx context.Context, j *rig.Job) error {
	if err := j.CloseInput(); err != nil {
		return err
	}
	lines, code, err := j.Wait(ctx)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit status %d: %s", code, lines[len(lines)-1])
	}
	return err
}

// theirMouth is a socket of a kernel.
type theirMouth struct {
	ctx context.Context
	job *rig.Job
}

func (m *kernelMember) speak(t *testing.T, p cast.Plan, sender int, how method) castMouth {
	t.Helper()
	args := []string{"cast-send", planWord(t, p), fmt.Sprint(sender)}
	switch how {
	case broadcast:
		args = append(args, "-b")
	case replicast:
		args = append(args, "-r")
	}
	j, err := m.job(args...)
	must(t, err)
	return &theirMouth{m.ctx, j}
}

func (s *theirMouth) start() error { return s.job.Send("start") }

func (s *theirMouth) wait(ctx context.Context) error {
	var st cast.Status
	return expectJSON(ctx, s.job, "done", &st)
}

func (s *theirMouth) status() (st cast.Status, err error) {
	if err := s.job.Send("status"); err != nil {
		return st, err
	}
	return st, expectJSON(s.ctx, s.job, "status", &st)
}

func (s *theirMouth) close() error { return endJob(s.ctx, s.job) }
