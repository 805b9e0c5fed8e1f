// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"
)

// LinkStatistics are what "tipc link statistics show" says of a link, and "tipc
// link list" of its state.
type LinkStatistics struct {
	Name      string
	State     string // ACTIVE, STANDBY, DEFUNCT; of a link that is down, what it was
	Up        bool
	MTU       int // bytes
	Priority  int
	Tolerance time.Duration
	Window    int // packets

	ReceivedPackets, ReceivedFragments, ReceivedFragmented, ReceivedBundles, ReceivedBundled int
	SentPackets, SentFragments, SentFragmented, SentBundles, SentBundled                     int
	ReceivedStates, ReceivedProbes, ReceivedNaks, Deferred, Duplicates                       int
	SentStates, SentProbes, SentNaks, SentAcks, Retransmitted                                int
	Congested                                                                                int
}

// Links returns the guest's links to other nodes, in the order that the tool
// prints them.
func (g *Guest) Links(ctx context.Context) ([]LinkStatistics, error) {
	const divider = "========"
	out, err := g.Run(ctx, "tipc link statistics show && echo "+divider+" && tipc link list")
	if err != nil {
		return nil, err
	}
	statistics, list, _ := strings.Cut(out, divider)
	return parseStatistics(statistics, list)
}

// parseStatistics reads what the two commands print.
func parseStatistics(statistics, list string) (all []LinkStatistics, err error) {
	var l *LinkStatistics
	forms := []struct {
		begins, format string
		into           func() []any
	}{
		{"RX packets:", "RX packets:%d fragments:%d/%d bundles:%d/%d", func() []any {
			return []any{&l.ReceivedPackets, &l.ReceivedFragments, &l.ReceivedFragmented, &l.ReceivedBundles, &l.ReceivedBundled}
		}},
		{"TX packets:", "TX packets:%d fragments:%d/%d bundles:%d/%d", func() []any {
			return []any{&l.SentPackets, &l.SentFragments, &l.SentFragmented, &l.SentBundles, &l.SentBundled}
		}},
		{"RX states:", "RX states:%d probes:%d naks:%d defs:%d dups:%d", func() []any {
			return []any{&l.ReceivedStates, &l.ReceivedProbes, &l.ReceivedNaks, &l.Deferred, &l.Duplicates}
		}},
		{"TX states:", "TX states:%d probes:%d naks:%d acks:%d retrans:%d", func() []any {
			return []any{&l.SentStates, &l.SentProbes, &l.SentNaks, &l.SentAcks, &l.Retransmitted}
		}},
		{"Congestion link:", "Congestion link:%d", func() []any { return []any{&l.Congested} }},
	}
	for s := bufio.NewScanner(strings.NewReader(statistics)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if name, ok := strings.CutPrefix(line, "Link <"); ok {
			if l = nil; !strings.HasPrefix(name, "broadcast-link") {
				all = append(all, LinkStatistics{Name: strings.TrimSuffix(name, ">")})
				l = &all[len(all)-1]
			}
			continue
		}
		if l == nil {
			continue
		}
		if state, rest, ok := strings.Cut(line, "  MTU:"); ok {
			var tolerance int
			if _, err := fmt.Sscanf(rest, "%d Priority:%d Tolerance:%d ms Window:%d packets", &l.MTU, &l.Priority, &tolerance, &l.Window); err != nil {
				return nil, fmt.Errorf("rig: statistics %q: %w", line, err)
			}
			l.State, l.Tolerance = state, time.Duration(tolerance)*time.Millisecond
			l.Up = strings.Contains(list, l.Name+": up")
			continue
		}
		for _, f := range forms {
			if !strings.HasPrefix(line, f.begins) {
				continue
			}
			if _, err := fmt.Sscanf(line, f.format, f.into()...); err != nil {
				return nil, fmt.Errorf("rig: statistics %q: %w", line, err)
			}
		}
	}
	return all, nil
}
