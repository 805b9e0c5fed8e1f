// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack"
)

// A mapView is the cluster at a moment, as a node knows it.
type mapView struct {
	Time  time.Time `json:"time"`
	Self  string    `json:"self"`
	Nodes []mapNode `json:"nodes"` // this one first, the others by address
	Links []mapLink `json:"links"` // of this node
	Pairs []mapPair `json:"pairs"` // links between others
}

// A mapNode is a node.
type mapNode struct {
	Node     string `json:"node"`
	Identity string `json:"identity"`
	Up       bool   `json:"up"`
	Names    int    `json:"names"`              // bindings of its sockets, of cluster scope
	Told     bool   `json:"told"`               // its links are known
	Untold   string `json:"not_told,omitempty"` // why they are not

	addr stack.NodeAddr
}

// A mapLink is a link of the node that looks.
type mapLink struct {
	To        string  `json:"to"`
	Bearer    string  `json:"bearer"`
	State     string  `json:"state"` // ACTIVE, STANDBY or DEFUNCT
	Priority  int     `json:"priority"`
	Tolerance int64   `json:"tolerance_ms"`
	Loss      float64 `json:"retransmitted_percent"`
	RTT       float64 `json:"rtt_us"`
	Resets    uint64  `json:"resets"`

	to stack.NodeAddr
}

// A mapPair is the links between two other nodes.
type mapPair struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Links int    `json:"links"`
	Both  bool   `json:"both"` // both ends have them; else one does, or only one was asked

	a, b stack.NodeAddr
}

// view is what is known now. Errors: those of the calls of the node.
func (a *asker) view() (*mapView, error) {
	n := a.n
	bindings, err1 := n.Admin().Names(a.ctx)
	links, err2 := n.Admin().Links(a.ctx)
	peers, err3 := n.Admin().Peers(a.ctx)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	v := &mapView{Time: time.Now(), Self: n.Addr().String(), Links: []mapLink{}, Pairs: []mapPair{}}
	names := map[stack.NodeAddr]int{}
	for _, b := range bindings {
		if b.Scope == stack.ClusterScope && b.Range.Type > stack.LinkState { // not those of the topology service and of nodes
			names[b.Socket.Node]++
		}
	}
	v.Nodes = append(v.Nodes, mapNode{v.Self, printable.Prefix(n.Identity().String(), longestText), true, names[n.Addr()], true, "", n.Addr()})
	for _, l := range links {
		v.Links = append(v.Links, mapLink{
			l.Peer.String(), printable.Prefix(l.Bearer, longestText), l.State(), int(l.Priority), l.Tolerance.Milliseconds(),
			100 * l.RetransmitRatio(), float64(l.RTT) / float64(time.Microsecond), l.Resets, l.Peer,
		})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	type pair struct{ a, b stack.NodeAddr }
	ends := map[pair][2]int{} // how many links each end tells of, the smaller address first
	for _, p := range peers {
		node := mapNode{p.Node.String(), printable.Prefix(p.Identity.String(), longestText), p.Up, names[p.Node], false, "", p.Node}
		switch x := a.asked[p.Node]; {
		case !p.Up:
			node.Untold = "no contact"
		case x == nil:
			node.Untold = "not asked"
		case x.err != nil:
			node.Untold = printable.Prefix(x.err.Error(), longestText)
		default:
			node.Told = true
			for _, to := range x.told {
				if to == n.Addr() {
					continue
				}
				k, end := pair{p.Node, to}, 0
				if to < p.Node {
					k, end = pair{to, p.Node}, 1
				}
				e := ends[k]
				e[end]++
				ends[k] = e
			}
		}
		v.Nodes = append(v.Nodes, node)
	}
	for k, e := range ends {
		v.Pairs = append(v.Pairs, mapPair{k.a.String(), k.b.String(), max(e[0], e[1]), e[0] > 0 && e[1] > 0, k.a, k.b})
	}
	slices.SortFunc(v.Pairs, func(x, y mapPair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return v, nil
}

// index is a node's place in Nodes; -1 of one that only others know.
func (v *mapView) index(node stack.NodeAddr) int {
	return slices.IndexFunc(v.Nodes, func(n mapNode) bool { return n.addr == node })
}

// places puts the nodes on an ellipse, from the top on clockwise; the middle is 0, 0.
func (v *mapView) places(rx, ry float64) (at [][2]float64) {
	for i := range v.Nodes {
		w := 2 * math.Pi * float64(i) / float64(len(v.Nodes))
		at = append(at, [2]float64{rx * math.Sin(w), -ry * math.Cos(w)})
	}
	return at
}
