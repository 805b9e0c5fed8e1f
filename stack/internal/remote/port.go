// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/goroutine"
	"github.com/utipc/utipc/stack/socket"
)

// A activePort is the socket of an active port, at the daemon: its handler has a goroutine, as
// one that is too slow for the polls has.
type activePort struct {
	*Packet
	a     *backend.ActivePort
	mu    sync.Mutex
	start time.Time
}

// Serve implements backend.Packet.
func (c *Packet) Serve(_ context.Context, a *backend.ActivePort, r frame.Range, bound bool) error {
	p := &activePort{Packet: c, a: a, start: time.Now()}
	a.B, a.Apart = p, true
	p.sync = false // Close would end an answer that waits for the daemon's, and is sent
	if bound {
		if err := p.bind(attach.OpBind, r, p.scope); err != nil {
			p.Close()
			return inner(err)
		}
	}
	if !p.f.background(p.run) {
		close(a.Done)
		return net.ErrClosed // which closes the socket, too
	}
	return nil
}

func (p *activePort) Lock()   { p.mu.Lock() }
func (p *activePort) Unlock() { p.mu.Unlock() }

// Pending implements backend.PortSocket. Messages wait at the daemon.
func (p *activePort) Pending() int { return 0 }

// OwnHandler implements backend.PortSocket.
func (p *activePort) OwnHandler() bool { return false }

// CloseLater implements backend.PortSocket.
func (p *activePort) CloseLater() {}

// Reply implements backend.PortSocket. It waits: the handler has a goroutine of its own.
func (p *activePort) Reply(to frame.SocketAddr, b []byte) error {
	_, err := p.write(context.Background(), backend.SocketDest(to), b, to)
	if err = inner(err); err == backend.ErrAgain {
		return socket.ErrNoRoom
	}
	return err
}

// Log implements backend.PortSocket. A program has no log, other than its daemon.
func (p *activePort) Log(slog.Level, string, ...slog.Attr) {}

// run takes the messages one by one, while the daemon is away too.
func (p *activePort) run() {
	a := p.a
	defer close(a.Done)
	a.Runner.Store(goroutine.ID())
	defer a.Runner.Store(0)
	buf := make([]byte, frame.MaxPayload)
	for {
		k, m, err := p.Read(buf)
		if err != nil {
			if errors.Is(err, engine.ErrNameTaken) {
				p.mu.Lock()
				a.Err = err
				p.mu.Unlock()
				p.Close()
			} else if refused := p.refused.Load(); refused != nil {
				p.mu.Lock()
				a.Err = refused
				p.mu.Unlock()
			}
			return
		}
		if m.Error != frame.OK {
			continue
		}
		a.Take(buf[:k], &m)
		began := time.Since(p.start)
		err = a.Call()
		a.Open = false
		p.mu.Lock()
		a.NoteCall(time.Since(p.start), began)
		if err != nil {
			a.Err = err
			a.TellPanic()
		}
		p.mu.Unlock()
		if err != nil {
			p.Close()
			return
		}
	}
}
