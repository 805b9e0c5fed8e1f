// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// A modelNode is a node of the model: its ring, what it keeps of the others, and the messages
// it sends again until they arrive, as links do.
type modelNode struct {
	addr   frame.NodeAddr
	ring   *seal.Ring
	peers  []*seal.Peer // by the other's index
	unsent []*modelMessage
}

// A modelMessage goes to one node, or to all.
type modelMessage struct {
	id    int
	to    int // -1 for all
	plain []byte
	need  map[int]bool // nodes it has not arrived at
}

// A modelPacket is under way.
type modelPacket struct {
	from, to int
	at       time.Duration
	id       int // of the sending, which has up to three packets
	b        []byte
}

// A model is nodes with keys on a network that loses, repeats and disorders packets.
type model struct {
	t        *testing.T
	r        *rand.Rand
	now      time.Duration
	nodes    []*modelNode
	wire     []modelPacket
	old      []modelPacket // some that were sent before, for an attacker
	loss     float64
	attack   bool
	keys     modelKeys
	nonces   map[string]bool // key and nonce of all packets ever sealed
	ids      int
	sendings map[[2]int]bool // sending and receiver: whether it was opened
	switched int
}

// modelKeys is which keys the nodes are given.
type modelKeys struct {
	cluster, master, node bool
}

func (m *model) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.r.Uint32())
	}
	return b
}

func (m *model) key(mode frame.KeyMode, c byte) *seal.Key {
	return parseKey(m.t, mode, fmt.Sprintf("0x%040x", 0x0100+int(c)))
}

// start makes node i as it is after a start.
func (m *model) start(i int) *modelNode {
	a := frame.NodeAddr(0x01001001 + i)
	n := &modelNode{addr: a, ring: seal.NewRing(frame.Seq(m.r.Uint32()), true)}
	n.ring.SetSelf(a, frame.AddrIdentity(a))
	must := func(err error) {
		if err != nil {
			m.t.Fatal(err)
		}
	}
	if m.keys.master {
		must(n.ring.SetMaster(m.now, m.key(frame.ClusterKey, 0xaa), m.r.Uint64()))
	}
	if m.keys.cluster {
		_, err := n.ring.SetKey(m.now, m.key(frame.ClusterKey, 0xbb), m.r.Uint64())
		must(err)
	}
	if m.keys.node {
		_, err := n.ring.SetKey(m.now, m.key(frame.NodeKey, byte(i)), m.r.Uint64())
		must(err)
	}
	for j := range m.nodes {
		p := seal.NewPeer(frame.NodeAddr(0x01001001 + j))
		if m.keys.node {
			must(p.Configure(m.key(frame.NodeKey, byte(j))))
		}
		n.peers = append(n.peers, p)
	}
	return n
}

// restart is node i starting again, which ends contact with the others.
func (m *model) restart(i int) {
	m.nodes[i] = m.start(i)
	for j, n := range m.nodes {
		if j != i {
			n.ring.Lost(m.now, n.peers[i])
		}
		for _, u := range n.unsent {
			delete(u.need, i)
		}
	}
}

// send seals a packet from node i to j, -1 for all, and puts it on the wire.
func (m *model) send(i, j int, plain []byte) (id int) {
	n := m.nodes[i]
	var to *seal.Peer
	if j >= 0 {
		to = n.peers[j]
	}
	m.ids++
	c := n.ring.Choose(m.now, to, seal.KindOf(plain))
	for _, slot := range c.Slots() {
		b := make([]byte, seal.SealedSize(plain))
		if _, err := n.ring.Seal(b, plain, to, slot); err != nil {
			m.t.Fatalf("%v: node %d: %v", m.now, i, err)
		}
		m.note(n, slot, to, b)
		for k := range m.nodes {
			if k == i || j >= 0 && k != j {
				continue
			}
			if m.r.IntN(50) == 0 && len(m.old) < 500 {
				m.old = append(m.old, modelPacket{from: i, to: k, b: b})
			}
			for range 1 + m.r.IntN(2)*m.r.IntN(2)*m.r.IntN(2) { // sometimes twice
				if m.r.Float64() >= m.loss {
					late := time.Duration(m.r.IntN(2000)) * time.Microsecond
					m.wire = append(m.wire, modelPacket{i, k, m.now + late, m.ids, append([]byte(nil), b...)})
				}
			}
		}
	}
	return m.ids
}

// note notes the key and the nonce of a packet, which must be new.
func (m *model) note(n *modelNode, slot uint8, to *seal.Peer, b []byte) {
	material := n.ring.Material(slot)
	c, err := seal.NewCipher(material)
	if err != nil {
		m.t.Fatal(err)
	}
	dest := frame.NodeAddr(0)
	if to != nil {
		dest = to.Addr()
	}
	nonce := c.Nonce(b, dest)
	id := string(material.Append(nil)[:16]) + string(nonce[:])
	if m.nonces[id] {
		m.t.Fatalf("%v: nonce %x comes twice", m.now, nonce)
	}
	m.nonces[id] = true
}

// arrive is a packet arriving.
func (m *model) arrive(p modelPacket, genuine bool) {
	n := m.nodes[p.to]
	peer := n.peers[p.from]
	plain, o, err := n.ring.Open(m.now, p.b, peer)
	if err != nil {
		return
	}
	if genuine {
		m.sendings[[2]int{p.id, p.to}] = true
	}
	if o.Needs {
		peer.NoKeyFor(m.now, 500*time.Millisecond+time.Duration(m.r.IntN(2000))*time.Millisecond)
	}
	if !genuine {
		return // links tell by their numbers
	}
	msg, err := frame.Parse(plain)
	if err != nil {
		m.t.Fatalf("%v: from %d to %d: %v", m.now, p.from, p.to, err)
	}
	var id int
	switch seal.KindOf(plain) {
	case seal.KeyDistr:
		k, err := frame.ParseKey(msg)
		if err != nil {
			m.t.Fatal(err)
		}
		if err := n.ring.HandleKey(m.now, peer, k); err != nil && err != seal.ErrDouble {
			m.t.Fatal(err)
		}
		id = int(msg.Seq())
	case seal.Other:
		id = int(binary.BigEndian.Uint64(msg.Data()))
	default:
		return
	}
	for _, u := range m.nodes[p.from].unsent {
		if u.id&0xffff == id&0xffff {
			delete(u.need, p.to)
		}
	}
}

// queue makes a message that is sent until it has arrived.
func (m *model) queue(i, to int, make func(id int) []byte) {
	m.ids++
	u := &modelMessage{id: m.ids, to: to, plain: make(m.ids), need: map[int]bool{}}
	for j := range m.nodes {
		if j != i && (to < 0 || to == j) {
			u.need[j] = true
		}
	}
	m.nodes[i].unsent = append(m.nodes[i].unsent, u)
}

// data queues a message of data.
func (m *model) data(i, to int) {
	m.queue(i, to, func(id int) []byte {
		f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: m.nodes[i].addr}
		f.Prev = m.nodes[i].addr
		if to >= 0 {
			f.DestNode = m.nodes[to].addr
		}
		return f.Append(nil, binary.BigEndian.AppendUint64(make([]byte, 0, 64), uint64(id)))
	})
}

// distribute queues the newest key of node i.
func (m *model) distribute(i, to int) {
	k, gen, ok := m.nodes[i].ring.Distribution()
	if !ok {
		return
	}
	m.queue(i, to, func(id int) []byte {
		f := frame.KeyFields{Generation: gen, Mode: k.Mode(), Orig: m.nodes[i].addr}
		f.Prev, f.Seq = m.nodes[i].addr, frame.Seq(id)
		if to >= 0 {
			f.Dest = m.nodes[to].addr
		}
		return f.Append(nil, k.Append(nil))
	})
}

// rekey asks node i for a new key.
func (m *model) rekey(i int) {
	r := m.nodes[i].ring
	if _, err := r.Rekey(m.now, m.random(r.RekeyLen()), m.r.Uint64()); err == nil {
		m.distribute(i, -1)
	} else if err != seal.ErrBusy {
		m.t.Fatal(err)
	}
}

// step is 125 ms of all nodes.
func (m *model) step(tick int) {
	for i, n := range m.nodes {
		if e := n.ring.HandleTimeout(m.now); e&seal.Switched != 0 {
			m.switched++
		}
		for j, p := range n.peers {
			if j == i {
				continue
			}
			p.HandleTimeout(m.now)
			if p.TakeKeyDue(m.now) {
				m.distribute(i, j)
			}
			if (tick+i+j)%3 == 0 {
				f := frame.StateFields{LinkInfo: frame.LinkInfo{Orig: n.addr, Dest: p.Addr()}, Probe: true}
				f.Prev = n.addr
				m.send(i, j, f.Append(nil, nil))
			}
		}
		if (tick+i)%8 == 0 {
			b := make([]byte, frame.DiscLen)
			b[0], b[1], b[3] = 2<<5|byte(frame.UserDiscovery)<<1, 0xe0&(15<<5), frame.DiscLen
			b[0] |= 1
			binary.BigEndian.PutUint32(b[12:], uint32(n.addr))
			m.send(i, -1, b)
		}
		var left []*modelMessage
		for _, u := range n.unsent {
			if len(u.need) == 0 {
				continue
			}
			left = append(left, u)
			m.send(i, u.to, u.plain)
		}
		n.unsent = left
	}
	for end := m.now + 125*time.Millisecond; m.now < end; m.now += time.Millisecond {
		var rest []modelPacket
		for _, p := range m.wire {
			if p.at > m.now {
				rest = append(rest, p)
				continue
			}
			m.arrive(p, true)
		}
		m.wire = rest
	}
	if m.attack {
		for range m.r.IntN(20) {
			p := modelPacket{from: m.r.IntN(len(m.nodes)), to: m.r.IntN(len(m.nodes)), b: m.random(56 + m.r.IntN(40))}
			if len(m.old) > 0 && m.r.IntN(2) == 0 { // seen before, perhaps changed
				p = m.old[m.r.IntN(len(m.old))]
				p.b = append([]byte(nil), p.b...)
				if m.r.IntN(2) == 0 {
					p.b[m.r.IntN(len(p.b))] ^= 1 << m.r.IntN(8)
				}
			} else { // made up, for any slot
				p.b[0], p.b[1] = 7<<5|byte(m.r.IntN(2)), byte(m.r.Uint32())
				binary.BigEndian.PutUint32(p.b[12:], uint32(m.nodes[p.from].addr))
			}
			if p.from != p.to {
				m.arrive(p, false)
			}
		}
	}
}

func newModel(t *testing.T, seed uint64, nodes int, keys modelKeys) *model {
	m := &model{t: t, r: rand.New(rand.NewPCG(seed, 8)), now: time.Hour, keys: keys, nonces: map[string]bool{}, sendings: map[[2]int]bool{}}
	m.nodes = make([]*modelNode, nodes)
	for i := range m.nodes {
		m.nodes[i] = m.start(i)
	}
	return m
}

var allModelKeys = map[string]modelKeys{
	"cluster":            {cluster: true},
	"master":             {master: true},
	"master and cluster": {master: true, cluster: true},
	"node":               {node: true},
	"master and node":    {master: true, node: true},
}
