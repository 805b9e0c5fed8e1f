// SPDX-License-Identifier: Apache-2.0

package flowctl

import "github.com/utipc/utipc/frame"

// Numbers of Nagle. Source: docs/spec/07-sockets.md §5.3.
const (
	nagleStart  = 4    // messages that go alone, at first and after collecting has paid
	nagleCap    = 1024 // the most that do
	nagleBlocks = 64   // of 1 KiB that are held at most
	nagleGain   = 2    // messages in a packet, for collecting to pay
)

// A NagleVerdict says what becomes of a message that does not go by itself.
type NagleVerdict uint8

const (
	NagleWait    NagleVerdict = iota // it waits, with all that is held
	NagleRelease                     // all that is held is due, the message too
	NagleAsk                         // the same, and the last packet of it asks for an answer
)

// Nagle collects the short messages of a stream in packets, while the peer's answer to
// one of them is under way. Who is answered often is not delayed: after something has
// come from the peer the next few messages go by themselves, and more of them each time
// that collecting did not pay.
//
//	plain ──(start messages, nothing heard)──► Ask ──► held ──(answer)──► released: plain again,
//	  ▲                                                  │                or, if it paid, Ask
//	  └───────────────(data of the peer)─────────────────┘
//
// It counts bytes; its owner has them. What is held stands in packets, each full but
// the last, that become due all together; its owner sends due packets by Next and Sent
// as it can. Between two calls bytes are held only while an answer is awaited, or due. The
// zero value collects nothing. Source: docs/spec/07-sockets.md §5.3.
type Nagle struct {
	on     bool
	asked  bool   // an answer is under way
	due    bool   // what is held may go
	ask    bool   // the last packet of what is due asks for an answer
	start  uint16 // messages that go alone
	oneway uint16 // messages since something came from the peer; stays at the cap
	room   int32  // data bytes of a full packet of what is held
	held   int32  // bytes

	messages, packets int32 // collected since the last question
}

// NewNagle begins a connection; on says whether the peer answers, and nobody here has
// chosen NoDelay.
func NewNagle(on bool) Nagle { return Nagle{on: on, start: nagleStart} }

// Active reports whether messages may have to wait, or some do.
func (g *Nagle) Active() bool { return g.on || g.held > 0 }

// Held is the number of bytes that are held, due or not.
func (g *Nagle) Held() int { return int(g.held) }

// Due reports whether some of them may go.
func (g *Nagle) Due() bool { return g.due }

// Packets is how many messages what is held makes.
func (g *Nagle) Packets() int {
	if g.held == 0 {
		return 0
	}
	return int((g.held-1)/g.room + 1)
}

// SetNoDelay turns collecting off, or on again. What is held is due then.
func (g *Nagle) SetNoDelay(off bool) {
	g.on = !off
	g.Flush()
}

// Alone reports whether a message of n bytes goes by itself, in a connection whose packets
// have at most limit bytes, the short header included. What is held goes before it.
func (g *Nagle) Alone(n, limit int) bool {
	return !g.on || g.oneway < g.start || n > limit || limit <= frame.ShortLen
}

// Count counts a message that goes by itself.
func (g *Nagle) Count() { g.oneway = min(g.oneway+1, nagleCap) }

// Hold takes a message that does not go by itself; the packets of one time that bytes are
// held are of one limit. Nothing must be due.
func (g *Nagle) Hold(n, limit int) NagleVerdict {
	g.Count()
	if g.held == 0 {
		g.room = int32(limit - frame.ShortLen)
	}
	g.held += int32(n)
	g.messages++
	switch {
	case g.blocks() > nagleBlocks:
		g.packets += int32(g.Packets())
		g.due = true
		return NagleRelease
	case g.asked:
		return NagleWait
	}
	g.question()
	g.due = true
	return NagleAsk
}

// blocks is what the messages that are held count in a connection's window.
func (g *Nagle) blocks() int {
	cost := func(n int32) int { return (frame.ShortLen+int(n))/blockSize + 1 }
	sum := int(g.held/g.room) * cost(g.room)
	if rest := g.held % g.room; rest > 0 {
		sum += cost(rest)
	}
	return sum
}

// question makes the last packet held ask.
func (g *Nagle) question() {
	g.asked, g.ask = true, true
	g.messages, g.packets = 0, 0
}

// HandleAnswer takes the peer's answer; one that nobody has asked for changes nothing.
func (g *Nagle) HandleAnswer() {
	if !g.asked {
		return
	}
	g.asked = false
	if !g.due {
		g.packets += int32(g.Packets())
	}
	if paid := g.packets > 0 && g.messages/g.packets >= nagleGain; !paid {
		g.oneway, g.start = 0, min(2*g.start, nagleCap)
	} else if g.start = nagleStart; g.held > 0 {
		g.question()
	}
	g.messages, g.packets = 0, 0
	g.Flush()
}

// HandleData notes that data came from the peer.
func (g *Nagle) HandleData() {
	g.oneway = 0
	g.Flush()
}

// Flush makes all that is held due.
func (g *Nagle) Flush() { g.due = g.held > 0 }

// Drop forgets what is held.
func (g *Nagle) Drop() { g.held, g.due, g.ask = 0, false, false }

// Next says how many of the bytes held, from the oldest, make the packet that goes next,
// and whether it asks for an answer; ok is false when none is due.
func (g *Nagle) Next() (n int, ask, ok bool) {
	if !g.due {
		return 0, false, false
	}
	n = int(min(g.held, g.room))
	return n, g.ask && n == int(g.held), true
}

// Sent notes that the packet went of which Next told.
func (g *Nagle) Sent() {
	g.held -= min(g.held, g.room)
	if g.held == 0 {
		g.due, g.ask = false, false
	}
}
