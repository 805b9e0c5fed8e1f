// SPDX-License-Identifier: Apache-2.0

package tipcraft_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	tipcraft "github.com/utipc/utipc/adapters/raft"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/nodes"
)

const (
	servers = 3
	entries = 10000
	limit   = time.Minute // for an election, and for an entry to be applied
)

// A numbers is a state machine: the set of the numbers that its entries have.
type numbers struct {
	mu  sync.Mutex
	has map[uint64]bool
}

func (n *numbers) Apply(l *raft.Log) any {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.has[binary.BigEndian.Uint64(l.Data)] = true
	return nil
}

func (n *numbers) len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.has)
}

func (*numbers) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.New("no snapshot here") }

func (*numbers) Restore(io.ReadCloser) error { return errors.New("no snapshot here") }

// A server is one server of a cluster.
type server struct {
	raft      *raft.Raft
	transport *raft.NetworkTransport
	state     *numbers
}

// A network is what the servers of a cluster reach each other by.
type network struct {
	listen func(i int) (raft.StreamLayer, error)
	fail   func(i int) // takes it from a server
}

// start starts a cluster; from changes something comes whenever a server becomes leader, or is
// leader no longer.
func start(t *testing.T, n network) (all []*server, changes <-chan bool) {
	t.Helper()
	notify := make(chan bool, 100) // as many as the tests ever make
	var cluster raft.Configuration
	for i := range servers {
		l, err := n.listen(i)
		if err != nil {
			t.Fatal(err)
		}
		s := &server{transport: raft.NewNetworkTransport(l, 3, 10*time.Second, io.Discard), state: &numbers{has: map[uint64]bool{}}}
		t.Cleanup(func() { s.transport.Close() })
		all = append(all, s)
		cluster.Servers = append(cluster.Servers, raft.Server{ID: id(i), Address: s.transport.LocalAddr()})
	}
	for i, s := range all {
		config := raft.DefaultConfig()
		config.LocalID, config.LogOutput, config.NotifyCh = id(i), io.Discard, notify
		config.SnapshotThreshold = 2 * entries
		store := raft.NewInmemStore()
		snapshots := raft.NewInmemSnapshotStore()
		err := raft.BootstrapCluster(config, store, store, snapshots, s.transport, cluster)
		if err != nil {
			t.Fatal(err)
		}
		if s.raft, err = raft.NewRaft(config, s.state, store, store, snapshots, s.transport); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.raft.Shutdown().Error(); err != nil {
				t.Errorf("shutdown: %v", err)
			}
		})
	}
	return all, notify
}

func id(i int) raft.ServerID { return raft.ServerID(fmt.Sprint("server", i)) }

// elected waits until one of some servers is leader, and can apply.
func elected(t *testing.T, changes <-chan bool, all []*server) *server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		for _, s := range all {
			if s.raft.State() == raft.Leader && s.raft.Barrier(limit).Error() == nil {
				return s
			}
		}
		select {
		case <-changes:
		case <-ctx.Done():
			t.Fatal("no leader is elected")
		}
	}
}

// apply has the leader apply entries of the numbers from first to last, up to 64 of them at
// once, and those that a leader has lost again by the next. It returns the last leader.
func apply(t *testing.T, changes <-chan bool, all []*server, first, last uint64) (leader *server) {
	t.Helper()
	var left []uint64
	for i := first; i <= last; i++ {
		left = append(left, i)
	}
	for len(left) > 0 {
		leader = elected(t, changes, all)
		under, done := make(chan raft.ApplyFuture, 64), make(chan []uint64)
		go func() {
			var failed []uint64
			for i := 0; ; i++ {
				f, more := <-under
				if !more {
					break
				}
				if f.Error() != nil {
					failed = append(failed, left[i])
				}
			}
			done <- failed
		}()
		for _, i := range left {
			entry := make([]byte, 64)
			binary.BigEndian.PutUint64(entry, i)
			under <- leader.raft.Apply(entry, limit)
		}
		close(under)
		left = <-done
	}
	return leader
}

// life has a cluster elect, apply, lose its leader, elect again and apply again. It returns
// the time that the first entries took.
func life(t *testing.T, n network) time.Duration {
	all, changes := start(t, n)
	elected(t, changes, all)
	begin := time.Now()
	leader := apply(t, changes, all, 1, entries)
	took := time.Since(begin)
	lost := slices.Index(all, leader)
	n.fail(lost)
	next := apply(t, changes, slices.Delete(all, lost, lost+1), entries+1, entries+100)
	if got := next.state.len(); got != entries+100 {
		t.Errorf("the second leader has applied %d entries, want %d", got, entries+100)
	}
	return took
}

// Three servers elect a leader and apply 10,000 entries; the leader's node ends; the others elect
// and go on. Printed is how long the entries took, compared with raft's own transport over TCP.
//
// Mutation it catches: a Dial that ignores the address.
func TestCluster(t *testing.T) {
	tcp := life(t, overTCP())
	t.Logf("%d entries over TCP: %v", entries, tcp.Round(time.Millisecond))
	nodes.Each(t, servers, func(t *testing.T, all []*stack.Node) {
		took := life(t, network{
			listen: func(i int) (raft.StreamLayer, error) {
				return tipcraft.Listen(t.Context(), all[i], stack.Service{Type: 18888, Instance: uint32(i)})
			},
			fail: func(i int) { all[i].Close(t.Context()) },
		})
		t.Logf("%d entries: %v, ratio to TCP %.2f", entries, took.Round(time.Millisecond), float64(took)/float64(tcp))
	})
}

// A server's address is its name, which outlives its socket.
//
// Mutation it catches: an Addr that is the socket's.
func TestAddress(t *testing.T) {
	all := nodes.Open(t, nodes.Memory, 1)
	l, err := tipcraft.Listen(t.Context(), all[0], stack.Service{Type: 18888, Instance: 7})
	if err != nil {
		t.Fatal(err)
	}
	transport := raft.NewNetworkTransport(l, 1, time.Second, io.Discard)
	defer transport.Close()
	if got := transport.LocalAddr(); got != "18888:7" || l.Address() != got {
		t.Errorf("the transport's address is %q, the layer's %q; want 18888:7", got, l.Address())
	}
}
