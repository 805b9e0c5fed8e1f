// SPDX-License-Identifier: Apache-2.0

package tipcmemberlist_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"

	tipcmemberlist "github.com/utipc/utipc/adapters/memberlist"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

const (
	members = 3
	limit   = time.Minute // for anything to happen
)

// An inbox is a delegate that keeps the messages of the program.
type inbox chan string

func (inbox) NodeMeta(int) []byte             { return nil }
func (i inbox) NotifyMsg(b []byte)            { i <- string(b) }
func (inbox) GetBroadcasts(int, int) [][]byte { return nil }
func (inbox) LocalState(bool) []byte          { return nil }
func (inbox) MergeRemoteState([]byte, bool)   {}

// name is that of member i.
func name(i int) stack.Service { return stack.Service{Type: 18888, Instance: uint32(i)} }

// create makes member i on a node.
func create(t *testing.T, n *stack.Node, i int) (*memberlist.Memberlist, inbox, chan memberlist.NodeEvent) {
	t.Helper()
	transport, err := tipcmemberlist.New(t.Context(), n, name(i))
	if err != nil {
		t.Fatal(err)
	}
	in, events := make(inbox, 10), make(chan memberlist.NodeEvent, 100)
	config := memberlist.DefaultLocalConfig()
	config.Name, config.Transport, config.LogOutput = fmt.Sprint("member", i), transport, io.Discard
	config.Delegate, config.Events = in, &memberlist.ChannelEventDelegate{Ch: events}
	list, err := memberlist.Create(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := list.Shutdown(); err != nil {
			t.Errorf("shutdown of member %d: %v", i, err)
		}
	})
	return list, in, events
}

// expect takes what comes until it is what is wanted.
func expect[T any](t *testing.T, ch <-chan T, what string, wanted func(T) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		select {
		case v := <-ch:
			if wanted(v) {
				return
			}
		case <-ctx.Done():
			t.Fatal(what, "did not come")
		}
	}
}

// Members join by one of them, all learn of all, messages of both kinds arrive, and one whose
// node ends is noticed.
//
// Mutation it catches: no packets, or no streams; an address of another member; a stream to the
// socket of packets; an error of a packet to a name that is gone.
func TestMembers(t *testing.T) {
	nodes.Each(t, members, func(t *testing.T, all []*stack.Node) {
		var lists [members]*memberlist.Memberlist
		var in [members]inbox
		var events [members]chan memberlist.NodeEvent
		for i := range members {
			lists[i], in[i], events[i] = create(t, all[i], i)
			if i == 0 {
				continue
			}
			if err := all[i].WaitFor(t.Context(), name(0)); err != nil {
				t.Fatal(err)
			}
			first := name(0)
			first.Type++
			if err := all[i].WaitFor(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			if k, err := lists[i].Join([]string{tipcmemberlist.Address(name(0))}); k != 1 || err != nil {
				t.Fatalf("member %d joined %d members, %v", i, k, err)
			}
		}
		last := fmt.Sprint("member", members-1)
		for i := range members - 1 {
			expect(t, events[i], "the last member", func(ev memberlist.NodeEvent) bool {
				return ev.Event == memberlist.NodeJoin && ev.Node.Name == last
			})
		}
		var target *memberlist.Node
		for _, m := range lists[0].Members() {
			if m.Name == "member1" {
				target = m
			}
		}
		if target == nil || target.Address() != tipcmemberlist.Address(name(1)) {
			t.Fatalf("member 1 is known as %v", target)
		}
		if err := lists[0].SendBestEffort(target, []byte("packet")); err != nil {
			t.Fatal(err)
		}
		expect(t, in[1], "the packet", func(s string) bool { return s == "packet" })
		if err := lists[0].SendReliable(target, []byte("stream")); err != nil {
			t.Fatal(err)
		}
		expect(t, in[1], "the stream", func(s string) bool { return s == "stream" })

		all[members-1].Close(t.Context())
		for i := range members - 1 {
			expect(t, events[i], "the last member's end", func(ev memberlist.NodeEvent) bool {
				return ev.Event == memberlist.NodeLeave && ev.Node.Name == last
			})
		}
	})
}

// An address of the IP network is refused with what to use.
//
// Mutation it catches: a prefix that is not looked at.
func TestForeignAddress(t *testing.T) {
	all := nodes.Open(t, nodes.Memory, 1)
	transport, err := tipcmemberlist.New(t.Context(), all[0], name(0))
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Shutdown()
	for _, address := range []string{"127.0.0.1:7946", "[fd00::1]:7946", "host:7946"} {
		if _, err := transport.WriteTo([]byte("x"), address); err == nil {
			t.Errorf("a packet to %s is sent", address)
		}
		if _, err := transport.DialTimeout(address, time.Second); err == nil {
			t.Errorf("a stream to %s is opened", address)
		}
	}
}
