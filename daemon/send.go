// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// send sends a message of the program. While there is no room for it, nothing else is
// read.
func (x *session) send(h *attach.Header, data []byte) error {
	p := x.port
	if p == nil {
		return x.answer(h, syscall.ENOTCONN)
	}
	e := p.is()
	p.took = attach.Sockaddr{}
	err := p.try(e, h, data)
	if err == syscall.EAGAIN {
		x.leave()
		data = x.keep(data)
		err = x.wait(e, h, data)
		if errors.Is(err, errGone) {
			return err
		}
		x.enter()
	}
	if h.Flags&attach.FlagAnswer != 0 {
		return x.answerWith(h, told{Header: attach.Header{Addr: p.took}, err: err})
	}
	if err == nil {
		return nil
	}
	if e.conn != nil {
		p.unsent += len(data)
	}
	return p.report(h, data, err)
}

// wait sends when there is room, and counts the message meanwhile. A connection or a group
// of which too much waits already is ended; of others the message is refused.
func (x *session) wait(e end, h *attach.Header, data []byte) error {
	if e.packet != nil {
		if err := x.charge(queuedBytes, len(data)); err != nil {
			return err
		}
		defer x.client.release(queuedBytes, len(data))
	} else {
		e.hold(len(data))
		defer e.hold(-len(data))
	}
	return x.port.persist(e, h, data)
}

// try sends without waiting. Errors: syscall.EAGAIN where it would have to wait.
func (p *port) try(e end, h *attach.Header, data []byte) error {
	switch {
	case e.conn != nil:
		_, err := e.conn.TryWrite(data)
		return err
	case e.packet == nil && e.group == nil:
		return syscall.ENOTCONN
	}
	if h.Addr != p.to { // to where the last went
		addr, ok := h.Addr.Addr()
		if !ok {
			return syscall.EINVAL
		}
		p.to, p.toAddr = h.Addr, addr
	}
	switch {
	case e.group != nil:
		_, err := e.group.TryWriteTo(data, p.toAddr)
		return err
	case p.toAddr == nil:
		return syscall.EDESTADDRREQ
	}
	if svc, ok := p.toAddr.(stack.Service); ok && h.Flags&attach.FlagAnswer != 0 {
		to, err := e.packet.TryWriteToAny(data, svc)
		p.took = attach.SocketSockaddr(to)
		return err
	}
	_, err := e.packet.TryWriteTo(data, p.toAddr)
	return err
}

// lingerTime is how long a message of a program that has ended waits for room, and with it
// those that it wrote after that.
const lingerTime = 30 * time.Second

// persist sends, and waits for room as long as it takes, in a goroutine of its own, so
// that the session learns meanwhile that the program cancels, or has gone: then it waits
// for lingerTime and no longer.
func (p *port) persist(e end, h *attach.Header, data []byte) (err error) {
	by := time.Time{}
	if h.Flags&attach.FlagAnswer != 0 && h.Wide > 0 {
		by = time.Now().Add(duration(h.Wide))
	}
	p.setWriteDeadline(e, by)
	done := make(chan error, 1)
	w := &watch{x: p.x}
	answered := h.Flags&attach.FlagAnswer != 0 // not h itself: it would be on the heap for every message
	p.x.srv.wg.Go(func() {
		err := p.write(e, answered, data)
		w.over()
		done <- err
	})
	canceled := false
	for {
		switch w.wait() {
		case watchOver:
			err = <-done
			p.x.c.SetReadDeadline(time.Time{}) // over has set one
			if !by.IsZero() || canceled {
				p.setWriteDeadline(e, time.Time{})
			}
			if canceled && err != nil {
				err = &canceledError{err}
			}
			return err
		case watchGone: // what it wrote before is sent, as a kernel would
			t := time.NewTimer(lingerTime)
			select {
			case err = <-done:
			case <-t.C:
				p.x.end(false) // the write ends with its socket, and the peer reads a reset
				<-done
				err = errGone
			}
			t.Stop()
			p.x.c.SetReadDeadline(time.Time{}) // over has set one
			return err
		case watchRecord:
			id, ok, err := p.x.readCancel()
			switch {
			case err != nil: // it would be next for ever
				p.x.end(false)
				<-done
				return fmt.Errorf("%w: %w", errGone, err)
			case !ok:
				continue
			}
			if id == h.ID && h.Flags&attach.FlagAnswer != 0 { // else it numbers messages, not requests
				canceled = true
				p.setWriteDeadline(e, time.Unix(1, 0))
			} else {
				p.x.cancel(id)
			}
		}
	}
}

// write is try that waits; answered is that the program waits for the answer.
func (p *port) write(e end, answered bool, data []byte) (err error) {
	svc, named := p.toAddr.(stack.Service)
	switch {
	case e.conn != nil:
		_, err = e.conn.Write(data)
	case e.group != nil && p.toAddr == nil:
		_, err = e.group.Write(data)
	case e.group != nil:
		_, err = e.group.WriteTo(data, p.toAddr)
	case named && answered:
		var to stack.SocketAddr
		to, err = e.packet.WriteToAny(data, svc)
		p.took = attach.SocketSockaddr(to)
	default:
		_, err = e.packet.WriteTo(data, p.toAddr)
	}
	return err
}

func (p *port) setWriteDeadline(e end, t time.Time) {
	switch {
	case e.conn != nil:
		e.conn.SetWriteDeadline(t)
	case e.group != nil:
		e.group.SetWriteDeadline(t)
	case e.packet != nil:
		e.packet.SetWriteDeadline(t)
	}
}

// A canceledError is what a send waited for that was canceled.
type canceledError struct{ error }
