// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
)

// How many messages are received in a call. Memory that is never filled costs
// address space alone.
const (
	placesWhole = 16 // of longestRun, when the kernel puts runs together
	placesPlain = 64 // of the MTU
	longestRun  = 1 << 16
)

// An inbox is where datagrams are received into, before they are copied into
// chunks: messages, each a datagram or a run of them. What has not found its way
// out waits for the next Receive.
type inbox struct {
	messages []message
	from     []sockaddr
	control  []segmentSize
	vectors  []unix.Iovec
	memory   []byte
	place    int // bytes of memory for each message

	have int // messages received
	at   int // the first of them that is not dealt with
	done int // bytes of it that are
	src  frame.MAC
	size int // bytes of its datagrams; the last may be shorter
}

func (x *inbox) init(mtu int, whole bool) {
	n := placesPlain
	x.place = mtu + 1 // of one too long there is a byte too much
	if whole {
		n, x.place = placesWhole, longestRun
	}
	x.messages, x.from = make([]message, n), make([]sockaddr, n)
	x.control, x.vectors = make([]segmentSize, n), make([]unix.Iovec, n)
	x.memory = make([]byte, n*x.place)
	for i := range x.messages {
		vector(&x.vectors[i], x.memory[i*x.place:][:x.place])
		x.messages[i].vectors(x.vectors[i : i+1])
	}
}

// empty reports whether all that was received is dealt with.
func (x *inbox) empty() bool { return x.at == x.have }

// take receives from a socket, in place of what was there, and reports whether
// more may wait. What the kernel has to say of datagrams sent earlier is of no
// use, and forgotten by being said.
func (x *inbox) take(fd int) (more bool) {
	for i := range x.messages {
		m := &x.messages[i]
		m.name(&x.from[i], uint32(len(x.from[i])))
		m.control(x.control[i][:])
	}
	x.drop()
	for {
		n, errno := receive(fd, x.messages)
		if errno != unix.EINTR {
			x.have = n
			return n == len(x.messages)
		}
	}
}

// drop gives up what was received.
func (x *inbox) drop() { x.have, x.at, x.done = 0, 0, 0 }

// next is done with the present message.
func (x *inbox) next() {
	x.at++
	x.done = 0
}

// data returns what of the present message is not dealt with.
func (x *inbox) data() []byte {
	return x.memory[x.at*x.place:][x.done:x.messages[x.at].n]
}
