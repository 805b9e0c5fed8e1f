// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"
)

// lines are the picture as text, with so many links, sockets and waits at most; 0: all.
func (v *topView) lines(rows int) []string {
	var out []string
	p := func(format string, args ...any) {
		out = append(out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
	p("node %s  %s  over %s", v.Node, v.Time.Format("15:04:05"), time.Duration(v.Seconds*float64(time.Second)).Round(time.Millisecond))
	p("frames/s in %s out %s   messages/s in %s out %s local %s   chunks free %d of %d   kept %s",
		human(v.FramesIn), human(v.FramesOut), human(v.MessagesIn), human(v.MessagesOut), human(v.MessagesLocal), v.ChunksFree, v.ChunksTotal, human(float64(v.Kept)))
	if v.Dropped == "" {
		p("dropped nothing")
	} else {
		p("dropped %s", v.Dropped)
	}
	p("")
	p("%-9s %-15s %-7s %8s %8s %6s %6s %5s %5s %5s %7s %s", "LINK TO", "bearer", "state", "in/s", "out/s", "retr%", "nak/s", "unack", "wait", "wrtrs", "rtt", "resets")
	for _, l := range v.Links[:shown(len(v.Links), rows)] {
		p("%-9s %-15s %-7s %8s %8s %6.2f %6s %5d %5d %5d %7s %d %s", l.Peer, l.Bearer, l.State, human(l.In), human(l.Out), l.Repeated, human(l.Nacks),
			l.Unacked, l.Backlog, l.Writers, micros(l.RTT), l.Resets, l.Ended)
	}
	more(&out, len(v.Links), rows)
	p("")
	p("%-20s %-10s %8s %8s %8s %8s %6s %7s %6s %s", "SOCKET", "kind", "in/s", "out/s", "B/s in", "B/s out", "queue", "lost/s", "blk%", "name")
	for _, s := range v.Sockets[:shown(len(v.Sockets), rows)] {
		p("%-20s %-10s %8s %8s %8s %8s %6d %7s %6.1f %s", s.Socket, s.Kind, human(s.In), human(s.Out), human(s.BytesIn), human(s.BytesOut), s.Queued, human(s.Lost), s.Blocked, s.Name)
	}
	more(&out, len(v.Sockets), rows)
	p("")
	p("%-20s %-20s %8s %9s %s", "WAITING", "to", "bytes", "for", "because")
	for _, w := range v.Waits[:shown(len(v.Waits), rows)] {
		p("%-20s %-20s %8d %9s %s", w.Socket, w.To, w.Bytes, time.Duration(w.Seconds*float64(time.Second)).Round(time.Millisecond), w.Reason)
	}
	more(&out, len(v.Waits), rows)
	return out
}

func shown(have, rows int) int {
	if rows > 0 && have > rows {
		return rows
	}
	return have
}

// more tells how many rows are not shown.
func more(out *[]string, have, rows int) {
	if k := have - shown(have, rows); k > 0 {
		*out = append(*out, fmt.Sprintf("and %d more", k))
	} else if have == 0 {
		*out = append(*out, "none")
	}
}

// human is a number in at most six characters: 0, 12.5, 999, 1.2k, 34M.
func human(x float64) string {
	if x < 999.5 {
		switch {
		case x == 0:
			return "0"
		case x < 99.95:
			return fmt.Sprintf("%.1f", x)
		}
		return fmt.Sprintf("%.0f", x)
	}
	for _, unit := range "kMGTPE" {
		if x /= 1000; x < 999.5 {
			if x < 9.95 {
				return fmt.Sprintf("%.1f%c", x, unit)
			}
			return fmt.Sprintf("%.0f%c", x, unit)
		}
	}
	return "much"
}

// micros is a round trip's time; 0 is one that is not known.
func micros(us float64) string {
	switch {
	case us == 0:
		return "-"
	case us < 10000:
		return fmt.Sprintf("%.0fus", us)
	}
	return fmt.Sprintf("%.0fms", us/1000)
}
