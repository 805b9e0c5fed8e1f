// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A choice tries drivers until one can be had.
//
//	Open ── try ──► opened ──Attach──► attached ──► …
//	         ▲  │      │ the memory or the queue is refused: close, try the next
//	         └──┘◄─────┘
//
// What a driver refuses it may refuse as late as Attach, when it first sees the
// arena; then it goes on to the next one. Once attached the choice stands:
// an MTU that is changed afterwards does not change it.
type choice struct {
	plan Plan
	open func(Method) (Device, error) // in the network namespace of Open
	free func()                       // what open needs; called once

	mu       sync.Mutex // guards what follows, and that one side opens or closes
	refused  []Refusal
	attached bool
	closed   bool

	// current is what was opened last. It is changed under mu, and never after
	// Attach.
	current atomic.Pointer[opened]
}

// An opened is a driver and the way it is.
type opened struct {
	Device
	way Method
}

// A peeker is a driver that can tell without a system call whether there is
// something to receive.
type peeker interface{ Ready() bool }

// A peekingChoice is a choice whose driver was a peeker at first.
type peekingChoice struct{ *choice }

// Ready is the driver's. One that cannot tell is always worth a look.
func (b peekingChoice) Ready() bool {
	p, ok := b.current.Load().Device.(peeker)
	return !ok || p.Ready()
}

// newChoice opens the first way of a plan that lets itself be opened.
func newChoice(p Plan, open func(Method) (Device, error), free func()) (Bearer, error) {
	b := &choice{plan: p, open: open, free: sync.OnceFunc(free), refused: p.Refused}
	if err := b.nextLocked(); err != nil {
		b.free()
		return nil, err
	}
	if _, ok := b.Driver().(peeker); ok {
		return peekingChoice{b}, nil
	}
	return b, nil
}

// nextLocked opens the next way of the plan. An error that concerns the interface
// and not the way ends the search.
func (b *choice) nextLocked() error {
	for len(b.plan.Methods) > 0 {
		w := b.plan.Methods[0]
		b.plan.Methods = b.plan.Methods[1:]
		d, err := b.open(w)
		if err == nil {
			b.current.Store(&opened{d, w})
			return nil
		}
		if ofInterface(w, err) {
			return err
		}
		b.refuseLocked(w, err)
	}
	return &ChoiceError{b.plan.Interface, b.refused}
}

// ofInterface reports whether an error of one way is what any other would say.
// Who owns a queue of AF_XDP may leave AF_PACKET to us.
func ofInterface(w Method, err error) bool {
	var i *InterfaceError
	var k *KernelError
	var o *OwnedError
	return errors.As(err, &i) || errors.As(err, &k) || w.Driver == AFPacket && errors.As(err, &o)
}

// refuseLocked keeps why a driver could not be had.
func (b *choice) refuseLocked(w Method, err error) {
	reason := strings.TrimPrefix(err.Error(), "xdp: interface "+b.plan.Interface+": ")
	b.refused = append(slices.Clip(b.refused), Refusal{Method: w, Reason: reason, Err: err})
}

// Attach attaches the driver, or the next, see Bearer.
func (b *choice) Attach(arena *netdev.Arena, wake func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return net.ErrClosed
	case b.attached:
		return ErrAttached
	}
	for {
		c := b.current.Load()
		err := c.Attach(arena, wake)
		if err == nil {
			b.attached = true
			b.free()
			return nil
		}
		if ofInterface(c.way, err) {
			return err
		}
		_ = c.Close()
		b.refuseLocked(c.way, err)
		if err := b.nextLocked(); err != nil {
			b.closed = true
			b.free()
			return err
		}
	}
}

// Close closes the driver.
func (b *choice) Close() error {
	b.mu.Lock()
	b.closed = true
	b.free()
	c := b.current.Load()
	b.mu.Unlock()
	return c.Close()
}

// String tells on one line what was opened, and what was refused.
func (b *choice) String() string {
	s := b.current.Load().String()
	for _, r := range b.Why() {
		if !errors.Is(r.Err, ErrNotAsked) {
			s += fmt.Sprintf("; not %v: %s", r.Method, r.Reason)
		}
	}
	return s
}

// The rest of Bearer.

func (b *choice) Method() Method { return b.current.Load().way }
func (b *choice) Driver() Device { return b.current.Load().Device }
func (b *choice) Reason() string { return b.plan.Reason }

// Explain names the driver, and says why it is this one.
func (b *choice) Explain() (driver, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if tried := b.refused[len(b.plan.Refused):]; len(tried) > 0 {
		return b.Method().String(), without(tried[0])
	}
	return b.Method().String(), b.plan.Reason
}

func (b *choice) Why() []Refusal {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.refused)
}

// What is the driver's.

func (b *choice) Name() string                               { return b.current.Load().Name() }
func (b *choice) Addr() frame.MAC                            { return b.current.Load().Addr() }
func (b *choice) MTU() int                                   { return b.current.Load().MTU() }
func (b *choice) LevelTriggered() bool                       { return true } // as both drivers
func (b *choice) FD() int                                    { return b.current.Load().FD() }
func (b *choice) Receive(bufs []*netdev.Buffer) (int, error) { return b.current.Load().Receive(bufs) }
func (b *choice) Dropped() (in, out uint64)                  { return b.current.Load().Dropped() }

func (b *choice) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	return b.current.Load().Transmit(bufs)
}
