// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/flow"
	"github.com/utipc/utipc/test/interop/rig"
)

// theirs is a kernel as a station.
type theirs struct {
	ctx   context.Context
	guest *rig.Guest
	node  stack.NodeAddr
	watch *rig.Job // tells of links coming and going
}

// newTheirs starts a kernel that can be unplugged, with a bearer on each link.
func newTheirs(ctx context.Context, im *rig.Image, node stack.NodeAddr, links []rig.Link) (*theirs, error) {
	g, err := rig.Start(ctx, im, rig.Options{
		Name: fmt.Sprintf("kernel-%x", uint32(node)), Address: fmt.Sprintf("%x", uint32(node)),
		Links: links, Enable: true, Pluggable: true, Tolerance: patient,
	})
	if err != nil {
		return nil, err
	}
	s := &theirs{ctx: ctx, guest: g, node: node}
	s.watch, err = g.Job(ctx, "peer", "subscribe", fmt.Sprint(linkStateType), "0", "0xffffffff")
	if err == nil {
		_, err = s.watch.Expect(ctx, "ready")
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return s, nil
}

const linkStateType = 2 // the service type that tells of links

func (s *theirs) addr() stack.NodeAddr { return s.node }

func (s *theirs) knows(t *testing.T, svc stack.Service) {
	t.Helper()
	if err := s.guest.WaitName(s.ctx, svc.Type, svc.Instance, svc.Instance); err != nil {
		t.Fatalf("waiting for the kernel to know %v: %v", svc, err)
	}
}

// job starts the test peer and waits until it is ready.
func (s *theirs) job(t *testing.T, format string, args ...any) *rig.Job {
	t.Helper()
	j, err := s.guest.Job(s.ctx, strings.Fields(fmt.Sprintf("peer "+format, args...))...)
	if err == nil {
		_, err = j.Expect(s.ctx, "ready")
	}
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A flowJob is an end of a stream in a guest.
type flowJob struct {
	*rig.Job
	ctx context.Context
}

// expect waits for a line that begins with the word, and parses its rest.
func (j flowJob) expect(t *testing.T, word string, into any) {
	t.Helper()
	line, err := j.Expect(j.ctx, word+" {")
	if err == nil {
		err = json.Unmarshal([]byte(strings.TrimPrefix(line, word)), into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// words are the options that say a plan.
func words(p flow.Plan) string {
	return fmt.Sprintf("-seed %d -longest %d -pace %v -timeout %v", p.Seed, p.Longest, p.Pace, p.Timeout)
}

// Of what a kernel sends, each of two streams and what is said about streams have an importance
// of their own: after a failover it merges a message with what waits ahead of the tunnel, if
// both are of one importance, and the message overtakes (docs/spec/02-link.md §10.2).
const importanceOfNotes = 2

func (s *theirs) hear(t *testing.T, at stack.Service, p flow.Plan) hearer {
	t.Helper()
	return flowJob{s.job(t, "flow-sink %d %d -i %d %s", at.Type, at.Instance, importanceOfNotes, words(p)), s.ctx}
}

func (j flowJob) mark(t *testing.T) (m flow.Mark) {
	t.Helper()
	if err := j.Send("mark"); err != nil {
		t.Fatal(err)
	}
	j.expect(t, "mark", &m)
	return m
}

func (j flowJob) report(t *testing.T) (r flow.Report) {
	t.Helper()
	j.expect(t, "done", &r)
	return r
}

func (s *theirs) speak(t *testing.T, to stack.Service, p flow.Plan, parity int) speaker {
	t.Helper()
	return flowJob{s.job(t, "flow-send %d %d %s -parity %d -i %d", to.Type, to.Instance, words(p), parity, parity), s.ctx}
}

func (j flowJob) stop(t *testing.T) (sent flow.Sent) {
	t.Helper()
	if err := j.CloseInput(); err != nil {
		t.Fatal(err)
	}
	j.expect(t, "done", &sent)
	return sent
}

func (s *theirs) links(t *testing.T) (all []linkState) {
	t.Helper()
	found, err := s.guest.Links(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, resets := s.events()
	for i, l := range found {
		st := linkState{name: l.Name, up: l.Up, active: l.State == "ACTIVE", tolerance: l.Tolerance, sent: l.SentPackets, retransmitted: l.Retransmitted}
		if i == 0 {
			st.resets = resets // of all links: the kernel does not count them apart
		}
		all = append(all, st)
	}
	return all
}

// events counts how often links came and went.
func (s *theirs) events() (came, went int) {
	for _, l := range s.watch.Lines() {
		switch {
		case strings.Contains(l, "event published"):
			came++
		case strings.Contains(l, "event withdrawn"):
			went++
		}
	}
	return came, went
}

func (s *theirs) linksUp() int {
	came, went := s.events()
	return came - went
}

// must ends the test over an error of the rig.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *theirs) unplug(i int) error { return s.guest.Unplug(s.ctx, ifaces[i]) }
func (s *theirs) plug(i int) error   { return s.guest.Plug(s.ctx, ifaces[i]) }

func (s *theirs) setTolerance(i int, d time.Duration) error {
	all, err := s.guest.Links(s.ctx)
	if err != nil {
		return err
	}
	return s.guest.SetLink(s.ctx, all[i].Name, "tolerance", int(d.Milliseconds()))
}
