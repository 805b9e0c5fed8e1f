// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// Who finds nobody, because all others have another key, or keys where it has none, or
// another network, is told so; so is the log of a node that waits.
//
// Proves: keys.tools
func TestNobodyHeardSaysWhy(t *testing.T) {
	for _, c := range []struct {
		name       string
		here       string // key
		netID      uint32
		want, logs string // logs is of the other node
	}{
		{"another key", key28, 0, `sealed with a key not known=\d+: the others have another key: compare the files of --keyfile`, "WARN msg=\"sealed frames not opened\""},
		{"no key", "", 0, `encrypted=\d+: the others have keys: give this node their --keyfile`, "WARN msg=\"plain frames dropped\""},
		{"another network", key20, 4712, `other network=\d+: the others are in another cluster: give this node their --netid`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := hub.New(hub.Config{})
				var logged bytes.Buffer
				open := func(i byte, key string, netID uint32) *stack.Node {
					port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, i})
					if err != nil {
						t.Fatal(err)
					}
					cfg := stack.Config{Bearers: []stack.Bearer{port}, Address: stack.NodeAddr(i), Wait: stack.Sleep, NetID: netID}
					if key != "" {
						k, err := stack.ClusterKey(key)
						if err != nil {
							t.Fatal(err)
						}
						cfg.Encryption.Keys = []stack.Key{k}
					}
					if i == 2 {
						cfg.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
					}
					n, err := stack.Open(t.Context(), cfg)
					if err != nil {
						t.Fatal(err)
					}
					return n
				}
				here, other := open(1, c.here, c.netID), open(2, key20, 0)
				p := pinger{to: stack.Service{Type: 18888, Instance: 17}, timeout: 3 * time.Second}
				err := p.run(t.Context(), here, &bytes.Buffer{})
				if err == nil || !regexp.MustCompile(`links: none, no other node was heard; frames dropped: `+c.want+`$`).MatchString(err.Error()) {
					t.Errorf("ping: got %v, want %s", err, c.want)
				}
				err = (&auditor{wait: 3 * time.Second}).run(t.Context(), here, &bytes.Buffer{})
				if err == nil || !regexp.MustCompile(`^no other node was heard within 3s; frames dropped: `+c.want+`$`).MatchString(err.Error()) {
					t.Errorf("audit: got %v, want %s", err, c.want)
				}
				for _, n := range []*stack.Node{here, other} {
					if err := n.Close(context.Background()); err != nil {
						t.Error(err)
					}
				}
				if c.logs != "" && !strings.Contains(logged.String(), c.logs) {
					t.Errorf("the log %q, want %s", logged.String(), c.logs)
				}
			})
		})
	}
}
