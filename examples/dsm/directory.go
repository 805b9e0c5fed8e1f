// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

// A kind is what a message between pagers is for.
type kind byte

const (
	want   kind = iota + 1 // to a page's home: the sender's program waits for the page
	recall                 // from the home to who has it: give it back, or stop writing to it
	back                   // the answer, with what was written
	grant                  // from the home to who wants it
	done                   // to all: the sender's program has ended
)

// A message is about one page. write says that it is wanted or granted to write to, or recalled
// altogether. data is the page, nil where it has not changed.
type message struct {
	kind  kind
	write bool
	rank  int // of the sender
	page  uint32
	data  []byte
}

// A directory is a home's knowledge of one of its pages: the MSI protocol's other half.
//
//	unused ──(want to read)──► shared ──(want to write: recall from all, all are back)──► owned
//	shared ◄──(want to read: the owner stops writing, and sends what it has written)───── owned
//
// One want at a time: the others queue in the order they came. A write is granted when every copy
// is back, hence all ranks see all writes in one order. It is a machine without a network: each
// call returns what to send to whom.
type directory struct {
	data    []byte // as of when the page was last not owned; nil: zeros
	owner   int    // rank that may write; noRank: none
	sharers uint64 // ranks that may read, a bit each
	missing int    // answers to recalls; while there are some the first of queue waits
	queue   []message
}

const noRank = -1

// A letter is a message and its receiver.
type letter struct {
	to int
	m  message
}

func newDirectory() *directory { return &directory{owner: noRank} }

// handle takes a want or a back.
func (d *directory) handle(m message) (out []letter) {
	switch m.kind {
	case want:
		d.queue = append(d.queue, m)
		if len(d.queue) > 1 {
			return nil
		}
		out = d.recallFor(m)
	case back:
		if d.missing == 0 {
			return nil // nobody asked
		}
		d.missing--
		if d.owner == m.rank {
			d.owner = noRank
			d.sharers |= 1 << m.rank
		}
		if m.data != nil {
			d.data = m.data
		}
	}
	for d.missing == 0 && len(d.queue) > 0 {
		out = append(out, d.grantTo(d.queue[0]))
		if d.queue = d.queue[1:]; len(d.queue) > 0 {
			out = append(out, d.recallFor(d.queue[0])...)
		}
	}
	return out
}

// recallFor asks back what stands against a want.
func (d *directory) recallFor(w message) (out []letter) {
	others := uint64(0)
	if w.write {
		others = d.sharers
	}
	if d.owner != noRank {
		others |= 1 << d.owner
	}
	others &^= 1 << w.rank
	for rank := 0; others>>rank != 0; rank++ {
		if others>>rank&1 != 0 {
			out = append(out, letter{rank, message{kind: recall, write: w.write, page: w.page}})
			d.missing++
		}
	}
	return out
}

func (d *directory) grantTo(w message) letter {
	g := message{kind: grant, write: w.write, page: w.page}
	if d.sharers>>w.rank&1 == 0 {
		if d.data == nil {
			d.data = make([]byte, pageSize)
		}
		g.data = d.data
	}
	if w.write {
		d.owner, d.sharers = w.rank, 0
	} else {
		d.sharers |= 1 << w.rank
	}
	return letter{w.rank, g}
}
