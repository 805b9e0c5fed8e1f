// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/socket"
)

// An ActivePort is an active port as its backend knows it.
type ActivePort struct {
	B     PortSocket
	serve func() // calls the handler
	limit time.Duration

	In   socket.Message
	To   frame.SocketAddr // where a Reply goes
	Open bool             // the handler runs

	Runner atomic.Uintptr // the goroutine that runs the handler apart; 0: none does

	// Guarded by the backend's lock, but while the handler runs apart.
	Apart   bool // the handler has a goroutine
	Strikes int
	inTime  int           // calls since the last strike, modulo forgive
	told    time.Duration // when a call over the limit was logged last
	untold  int           // calls over the limit since then
	Stats   socket.HandlerStats
	Err     error         // why it is closed
	Done    chan struct{} // closed when it is
}

func (a *ActivePort) Init(limit time.Duration, serve func()) {
	a.limit, a.serve, a.Done = limit, serve, make(chan struct{})
}

// When a port has a goroutine of its own.
const (
	severeFactor  = 100 // times the limit: far over it
	MostStrikes   = 16
	severeStrikes = 8
	forgive       = 64 // calls in time that take a strike back
)

// Call runs the handler and reports its panic.
func (a *ActivePort) Call() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &socket.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	a.serve()
	return nil
}

// NoteCall accounts for a call that began then and is over now. The lock is held.
func (a *ActivePort) NoteCall(now, began time.Duration) {
	took := now - began
	s := &a.Stats
	s.Handled++
	s.Longest = max(s.Longest, took)
	if took <= a.limit {
		if a.inTime++; a.inTime == forgive {
			a.inTime, a.Strikes = 0, max(0, a.Strikes-1)
		}
		return
	}
	s.Late++
	a.inTime = 0
	if took >= severeFactor*a.limit {
		s.Severe++
		a.Strikes += severeStrikes
	} else {
		a.Strikes++
	}
	if a.untold++; a.told == 0 || now-a.told >= time.Second {
		a.B.Log(slog.LevelWarn, "handler over its time limit", slog.Duration("took", took), slog.Duration("limit", a.limit), slog.Int("times", a.untold))
		a.told, a.untold = now, 0
	}
}

func (a *ActivePort) TellPanic() {
	if p, ok := a.Err.(*socket.PanicError); ok {
		a.B.Log(slog.LevelError, "handler panicked", slog.Any("err", p), slog.String("stack", string(p.Stack)))
	}
}

// Take makes b the message that a handler has which runs apart.
func (a *ActivePort) Take(b []byte, m *Envelope) {
	a.In.Data, a.In.From, a.In.Name, a.In.Named, a.In.Importance = b, m.From, m.Name, m.Named, m.Importance
	a.To, a.Open = m.From, true
}
