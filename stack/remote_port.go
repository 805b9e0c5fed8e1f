// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/internal/goroutine"
)

// A remotePort is the socket of an active port, at the daemon: its handler has a goroutine, as
// one that is too slow for the polls has.
type remotePort struct {
	*remotePacket
	a     *ActivePort
	mu    sync.Mutex
	start time.Time
}

// serve implements packetBackend.
func (c *remotePacket) serve(a *ActivePort, r Range, bound bool) error {
	p := &remotePort{remotePacket: c, a: a, start: time.Now()}
	a.b, a.apart = p, true
	p.sync = false // Close would end an answer that waits for the daemon's, and is sent
	if bound {
		if err := p.bind(attach.OpBind, r, p.scope); err != nil {
			p.Close()
			return inner(err)
		}
	}
	if !p.f.background(p.run) {
		close(a.done)
		return net.ErrClosed // which closes the socket, too
	}
	return nil
}

func (p *remotePort) lock()   { p.mu.Lock() }
func (p *remotePort) unlock() { p.mu.Unlock() }

// pending implements portBackend. Messages wait at the daemon.
func (p *remotePort) pending() int { return 0 }

// ownHandler implements portBackend.
func (p *remotePort) ownHandler() bool { return false }

// closeLater implements portBackend.
func (p *remotePort) closeLater() {}

// reply implements portBackend. It waits: the handler has a goroutine of its own.
func (p *remotePort) reply(to SocketAddr, b []byte) error {
	_, err := p.write(context.Background(), socketDest(to), b, to)
	return inner(err)
}

// log implements portBackend. A program has no log, other than its daemon.
func (p *remotePort) log(slog.Level, string, ...slog.Attr) {}

// sendsInRow takes the messages one by one, while the daemon is away too.
func (p *remotePort) run() {
	a := p.a
	defer close(a.done)
	a.runner.Store(goroutine.ID())
	defer a.runner.Store(0)
	buf := make([]byte, frame.MaxPayload)
	for {
		k, m, err := p.Read(buf)
		if err != nil {
			if refused := p.refused.Load(); refused != nil {
				p.mu.Lock()
				a.err = refused
				p.mu.Unlock()
			}
			return
		}
		if m.Error != frame.OK {
			continue
		}
		a.take(buf[:k], &m)
		began := time.Since(p.start)
		err = a.call()
		a.reply.open = false
		p.mu.Lock()
		a.judge(time.Since(p.start), began)
		if err != nil {
			a.err = err
			a.tellPanic()
		}
		p.mu.Unlock()
		if err != nil {
			p.Close()
			return
		}
	}
}
