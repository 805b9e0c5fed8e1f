// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"syscall"

	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// FamilyID is the number of the family: the largest that there can be, which no kernel gives to
// one of its own before it has a thousand of them. The preload library knows it.
const FamilyID = 1023

// FamilyName is its name.
const FamilyName = "TIPCv2"

// A Node is what is asked: a *stack.Node, or its management as some program may use it.
type Node interface {
	Addr() stack.NodeAddr
	Identity() stack.Identity
	Admin() *admin.Admin
}

// A Socket is what a program asks through.
type Socket struct {
	Port   uint32             // of netlink, that answers are for
	Capped bool               // errors do not have the whole request behind them (NETLINK_CAP_ACK)
	Texts  bool               // but sentences (NETLINK_EXT_ACK)
	Write  func([]byte) error // writes a datagram to the program, and waits for room

	Answered func() // or nil; is called when a request is answered, or cannot be
}

// mostDatagram is the length of a datagram of a list, in bytes, as a kernel's: it has room in a
// page.
const mostDatagram = 3776

// Serve answers the requests in a datagram from a program. Errors: those of Write, and the
// context's. The requests of one socket are served one after the other.
func (s *Socket) Serve(ctx context.Context, n Node, datagram []byte) error {
	for len(datagram) > 0 {
		m, rest, ok := netlink.Next(datagram)
		if !ok || m.Cut {
			return nil // a kernel ignores it
		}
		r := &request{
			ctx: ctx, node: n, to: s, header: datagram[:netlink.HeaderLen], body: m.Body, typ: m.Type,
			flags: binary.NativeEndian.Uint16(datagram[6:]),
		}
		err := r.serve()
		if s.Answered != nil {
			s.Answered()
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		datagram = rest
	}
	return nil
}

// A request is one that is being answered.
type request struct {
	ctx    context.Context
	node   Node
	to     *Socket
	header []byte // of the message
	body   []byte // behind that
	typ    uint16
	flags  uint16
	attrs  []byte // of the request
	multi  uint16 // flagMulti in an answer that is a list
	out    []byte // that was not written yet
	failed error  // of a write
}

// A command is what may be asked: about one thing, or for a list.
type command struct {
	do, dump func(r *request) error
}

func (r *request) serve() error {
	if r.flags&flagRequest == 0 || r.typ < typeControl { // a kernel does nothing about it
		if r.flags&flagAck != 0 {
			r.acknowledge(nil)
		}
		return r.failed
	}
	err := r.carryOut()
	switch {
	case r.failed != nil:
		return r.failed
	case err == nil && r.multi != 0:
		r.flush()
		r.end(0)
	case err != nil || r.flags&flagAck != 0:
		r.out = nil
		r.acknowledge(err)
	}
	r.flush()
	return r.failed
}

// carryOut does what is asked for, and writes what there is to tell of that.
func (r *request) carryOut() error {
	if len(r.body) < headerLen {
		return syscall.EINVAL
	}
	c := r.body[0]
	r.attrs = r.body[headerLen:]
	switch {
	case r.typ == typeControl:
		return r.family(c)
	case r.typ != FamilyID:
		return syscall.ENOENT
	case int(c) >= len(commands):
		return syscall.EOPNOTSUPP
	}
	run := commands[c].do
	if r.flags&flagDump == flagDump {
		run = commands[c].dump
	}
	if run == nil {
		return syscall.EOPNOTSUPP
	}
	if r.flags&flagDump == flagDump {
		if err := run(r); err != nil {
			return err
		}
		r.multi = flagMulti
		return nil
	}
	if err := run(r); err != nil {
		return err
	}
	r.flush()
	return r.failed
}

// message appends a message to the answer. What is in the way of it is written before.
func (r *request) message(c uint8, flags uint16, fill func(a *attributes)) {
	if r.failed == nil {
		r.append(FamilyID, flags, []byte{c, commandsVersion, 0, 0}, fill)
	}
}

// item is a message of a list, or the only one of an answer, with attributes of one kind.
func (r *request) item(c uint8, of uint16, fill func(a *attributes)) {
	flags := uint16(0)
	if r.flags&flagDump == flagDump {
		flags = flagMulti
	}
	r.message(c, flags, func(a *attributes) { a.nest(of, fill) })
}

func (r *request) append(typ, flags uint16, head []byte, fill func(a *attributes)) {
	var a attributes
	fill(&a)
	n := netlink.HeaderLen + len(head) + len(a)
	if len(r.out) > 0 && len(r.out)+n > mostDatagram {
		r.flush()
	}
	b := binary.NativeEndian.AppendUint32(r.out, uint32(n))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = append(b, r.header[8:12]...) // its sequence number
	b = binary.NativeEndian.AppendUint32(b, r.to.Port)
	b = append(b, head...)
	r.out = append(b, a...)
	r.out = append(r.out, make([]byte, netlink.Align(n)-n)...)
}

// flush writes what there is of the answer.
func (r *request) flush() {
	if len(r.out) > 0 && r.failed == nil {
		r.failed = r.to.Write(r.out)
	}
	r.out = r.out[:0]
}

// end is the end of a list.
func (r *request) end(errno syscall.Errno) {
	r.append(typeDone, flagMulti, binary.NativeEndian.AppendUint32(nil, uint32(-int32(errno))), func(*attributes) {})
}

// acknowledge says how it went.
func (r *request) acknowledge(err error) {
	errno, reason := refusal(err)
	flags, about := uint16(0), r.header
	if err != nil && !r.to.Capped {
		about = append(append([]byte(nil), r.header...), r.body...)
	} else {
		flags = flagCapped
	}
	text := err != nil && r.to.Texts && reason != ""
	if text {
		flags |= flagTexts
	}
	head := append(binary.NativeEndian.AppendUint32(nil, uint32(-int32(errno))), about...)
	head = append(head, make([]byte, netlink.Align(len(head))-len(head))...)
	r.append(typeError, flags, head, func(a *attributes) {
		if text {
			a.text(errorText, reason)
		}
	})
}

// refusal is what a kernel answers in place of an error: an errno, and why.
func refusal(err error) (errno syscall.Errno, reason string) {
	var r *admin.Refusal
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &r):
		return r.Errno, strings.TrimSuffix(r.Reason, ".")
	case errors.Is(err, stack.ErrConfig):
		return syscall.EINVAL, ""
	}
	return stack.Errno(err), ""
}
