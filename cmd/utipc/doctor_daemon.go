// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
)

// A daemonCheckup is what there is to say of this host's daemon.
type daemonCheckup struct {
	Socket  string          `json:"socket"`
	Unknown string          `json:"unknown,omitempty"` // why it cannot be asked
	Node    string          `json:"node,omitempty"`
	Bearers []bearerCheckup `json:"bearers"`
}

// A bearerCheckup is how a bearer stands.
type bearerCheckup struct {
	Bearer string    `json:"bearer"` // "eth:eth0"
	State  string    `json:"state"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
}

// examineDaemon asks the daemon at a socket; empty is the default one. It returns nil where
// there is none and nobody has named one.
func examineDaemon(ctx context.Context, socket string) *daemonCheckup {
	named := socket != "" || os.Getenv("UTIPC_SOCKET") != ""
	d := &daemonCheckup{Socket: cmp.Or(socket, os.Getenv("UTIPC_SOCKET"), defaultSocket), Bearers: []bearerCheckup{}}
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	n, err := stack.Attach(ctx, socket)
	switch {
	case err != nil && !named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)):
		return nil
	case err != nil:
		d.Unknown = err.Error()
		return d
	}
	defer n.Close(ctx)
	d.Node = n.Addr().String()
	bearers, err := n.Admin().Bearers(ctx)
	if err != nil {
		d.Unknown = err.Error()
		return d
	}
	for _, b := range bearers {
		d.Bearers = append(d.Bearers, bearerCheckup{b.Medium + ":" + b.Name, b.State, b.Since, b.Reason})
	}
	return d
}

func (d *daemonCheckup) write(s *sheet, now time.Time) {
	s.line("socket", d.Socket)
	if d.Unknown != "" {
		s.line("node", "not known ("+d.Unknown+")")
		return
	}
	s.line("node", d.Node)
	if len(d.Bearers) == 0 {
		s.line("bearers", "none: name one in the settings, or use 'utipc bearer enable'")
	}
	for _, b := range d.Bearers {
		text := b.State
		if !b.Since.IsZero() {
			text += fmt.Sprintf(" for %v", now.Sub(b.Since).Round(time.Second))
		}
		if b.Reason != "" {
			text += ": " + b.Reason
		}
		s.line(b.Bearer, text)
	}
}
