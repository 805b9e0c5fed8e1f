// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// A gated device hears stations of its own side only, until the switch joins the sides. The
// side is the last byte but one of a station's address.
type gated struct {
	netdev.Device
	joined *atomic.Bool
	heard  atomic.Int64 // frames
}

func (g *gated) Receive(bufs []*netdev.Buffer) (kept int, err error) {
	for kept == 0 {
		n, err := g.Device.Receive(bufs)
		if n == 0 || err != nil {
			return 0, err
		}
		for _, b := range bufs[:n] {
			if b.Bytes()[10] != g.Addr()[4] && !g.joined.Load() {
				b.Release()
				continue
			}
			bufs[kept] = b
			kept++
		}
	}
	g.heard.Add(int64(kept))
	return kept, nil
}

// A joinedNode is one of two clusters that get connected.
type joinedNode struct {
	*stack.Node
	dev    *gated
	events admin.Watch
}

// peers are the last digits of the addresses that a node has working links to.
func (n *joinedNode) peers() string {
	var all []string
	for _, l := range must.Get(n.Admin().Links(context.Background())) {
		if l.Up {
			all = append(all, fmt.Sprint(uint32(l.Peer&0xff)))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// since returns what has happened of two kinds: links that ended, and duplicates that were named.
func (n *joinedNode) since(t *testing.T) (down, duplicates []string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for {
		ev, err := n.events.Next(ctx)
		switch {
		case err != nil:
			return down, duplicates
		case ev.Kind == admin.LinkDown:
			down = append(down, fmt.Sprint(ev.Node))
		case ev.Kind == admin.DuplicateAddress:
			if what := ev.Bearer + ": " + ev.Reason; !slices.Contains(duplicates, what) {
				duplicates = append(duplicates, what)
			}
		}
	}
}

// Two clusters of one network number that a switch connects. Nodes whose addresses differ become
// one cluster. One whose address is taken on the other side stays with its own, every node names
// the station and bearer of what it has heard twice, and the links that there were stay, without
// a storm of frames.
//
// Mutations: conflictsSaid.due says one a second; neighbour does not say that another station has the address of a peer.
func TestTwoClustersAreJoined(t *testing.T) {
	first := []string{"eth0: station 02:00:00:00:01:01", "eth0: station 02:00:00:00:01:02"}
	second := []string{"eth0: station 02:00:00:00:02:01", "eth0: station 02:00:00:00:02:02"}
	for name, c := range map[string]struct {
		nodes [6]byte // three on each side
		peers [6]string
		named [6][]string
	}{
		"addresses differ": {
			[6]byte{1, 2, 3, 4, 5, 6},
			[6]string{"2 3 4 5 6", "1 3 4 5 6", "1 2 4 5 6", "1 2 3 5 6", "1 2 3 4 6", "1 2 3 4 5"},
			[6][]string{},
		},
		"two are on both sides": {
			[6]byte{1, 2, 3, 1, 2, 6},
			[6]string{"2 3", "1 3", "1 2 6", "2 6", "1 6", "1 2 3"},
			[6][]string{second, second, second, first, first, first},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { joinClusters(t, c.nodes, c.peers, c.named) })
		})
	}
}

func joinClusters(t *testing.T, nodes [6]byte, peers [6]string, named [6][]string) {
	h := hub.New(hub.Config{})
	var joined atomic.Bool
	var all [6]*joinedNode
	for i, node := range nodes {
		p := must.Get(h.Port("eth0", frame.MAC{2, 0, 0, 0, byte(1 + i/3), node}))
		n := &joinedNode{dev: &gated{Device: p, joined: &joined}}
		n.Node = must.Get(stack.Open(t.Context(), stack.Config{Address: 0x1001000 + stack.NodeAddr(node), Bearers: []stack.Bearer{n.dev}, Wait: stack.Sleep, Chunks: 512}))
		n.events = must.Get(n.Admin().Watch(context.Background()))
		defer n.Close(t.Context())
		defer n.events.Close()
		all[i] = n
	}
	minute := func() (frames int64) {
		for _, n := range all {
			frames -= n.dev.heard.Load()
		}
		<-time.After(time.Minute)
		for _, n := range all {
			frames += n.dev.heard.Load()
		}
		return frames
	}
	<-time.After(10 * time.Second)
	apart := minute()
	for _, n := range all {
		n.since(t)
	}
	joined.Store(true)
	<-time.After(2 * time.Minute)
	together := minute()
	if together > 3*apart { // of links there are 15 instead of 6, at most
		t.Errorf("%d frames a minute, %d before", together, apart)
	}
	for i, n := range all {
		down, duplicates := n.since(t)
		slices.Sort(duplicates)
		if got := n.peers(); got != peers[i] || len(down) > 0 || !slices.Equal(duplicates, named[i]) {
			t.Errorf("node %d of side %d: links to %q, want %q; down %q; named %q, want %q", nodes[i], 1+i/3, got, peers[i], down, duplicates, named[i])
		}
	}
}
