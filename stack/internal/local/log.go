// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"log/slog"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/stack/engine"
)

// Limits of logging.
const (
	maxLogs     = 256         // entries that wait for a slow handler
	sameTrouble = time.Minute // between two entries of one device with the same text
	anyTrouble  = time.Second // between two of different texts
)

// A logbook hands what is to be logged to a goroutine of its own, so that a
// handler that is slow, or waits for the node, stops nobody. Entries beyond what
// may wait are lost and counted. Without a logger it does nothing.
type logbook struct {
	entries chan entry // guarded by the node's lock against close; nil without a logger
	lost    int        // since the last entry; guarded likewise
	quiet   quiet      // guarded likewise
	done    chan struct{}
}

type entry struct {
	level   slog.Level
	message string
	attrs   []slog.Attr
}

func (l *logbook) open(to *slog.Logger) {
	if to == nil {
		return
	}
	entries, done := make(chan entry, maxLogs), make(chan struct{})
	l.entries, l.done = entries, done
	go func() {
		defer close(done)
		for e := range entries {
			to.LogAttrs(context.Background(), e.level, e.message, e.attrs...)
		}
	}()
}

// close ends the goroutine once it has logged what waits; wait is for that.
func (l *logbook) close() {
	if l.entries != nil {
		if n := l.quiet.left(); n > 0 {
			l.add(slog.LevelWarn, "lines left out", slog.Int("times", n))
		}
		close(l.entries)
		l.entries = nil
	}
}

func (l *logbook) wait() {
	if l.done != nil {
		<-l.done
	}
}

func (l *logbook) add(level slog.Level, message string, attrs ...slog.Attr) {
	if l.entries == nil {
		return
	}
	if l.lost > 0 {
		attrs = append(attrs, slog.Int("lost_before", l.lost))
	}
	select {
	case l.entries <- entry{level, message, attrs}:
		l.lost = 0
	default:
		l.lost++
	}
}

// event logs what happened to links and nodes, unless much of it was logged lately.
func (l *logbook) event(now time.Duration, ev engine.Event, claim ...slog.Attr) {
	if l.entries == nil {
		return
	}
	ok, left := l.quiet.ask(now, subject{ev.Kind, ev.Node})
	if !ok {
		return
	}
	level := slog.LevelInfo
	switch ev.Kind {
	case engine.DuplicateAddress, engine.BadNames, engine.TooManyNames, engine.PlainDropped, engine.NotOpened, engine.LinkImpaired:
		level = slog.LevelWarn
	case engine.LinkDown, engine.PeerLost:
		if !ev.Cause.Orderly() {
			level = slog.LevelWarn
		}
	}
	attrs := []slog.Attr{slog.String("peer", ev.Node.String())}
	if ev.Kind == engine.AddressSettled {
		attrs[0].Key = "node"
	}
	if ev.Link != "" {
		attrs = append(attrs, slog.String("link", ev.Link))
	}
	if ev.Cause != flowctl.NoCause {
		attrs = append(attrs, slog.String("reason", ev.Cause.String()))
	}
	if ev.Fault != engine.Unimpaired {
		attrs = append(attrs, slog.String("reason", ev.Fault.String()))
	}
	if ev.MTU > 0 {
		attrs = append(attrs, slog.Int("mtu", ev.MTU))
	}
	attrs = append(attrs, claim...)
	if ev.Count > 0 {
		attrs = append(attrs, slog.Int("times", ev.Count))
	}
	if left > 0 {
		attrs = append(attrs, slog.Int("left_out_before", left))
	}
	l.add(level, ev.Kind.String(), attrs...)
}

// troubles are the errors of a device that were logged last.
type troubles struct {
	text string
	at   time.Duration
}

// deviceError logs an error of a device, unless that was done a moment ago.
func (n *Node) deviceError(a *attachment, op string, err error) {
	if err == nil || n.logs.entries == nil {
		return
	}
	now, text := n.loop.Now(), err.Error()
	if a.text != "" && (now-a.at < anyTrouble || text == a.text && now-a.at < sameTrouble) {
		return
	}
	a.text, a.at = text, now
	n.logs.add(slog.LevelWarn, "bearer error", slog.String("bearer", a.Device.Name()), slog.String("op", op), slog.Any("err", err))
}
