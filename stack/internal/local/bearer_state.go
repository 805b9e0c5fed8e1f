// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// A notedBearer is one that somebody keeps, and its state.
type notedBearer struct {
	name string // "eth:eth0"
	admin.BearerState
}

// noted returns the place of a bearer among those that somebody keeps, or -1.
func (n *Node) noted(name string) int {
	return slices.IndexFunc(n.notes, func(b notedBearer) bool { return b.name == name })
}

// NoteBearer implements backend.Node.
func (n *Node) NoteBearer(name string, s admin.BearerState) {
	n.loop.Lock()
	defer n.loop.Unlock()
	i := n.noted(name)
	if i < 0 {
		n.notes = append(n.notes, notedBearer{name: name})
		i = len(n.notes) - 1
	}
	was := n.notes[i].BearerState
	n.notes[i].BearerState = s
	if was.State == s.State && was.Reason == s.Reason && was.Above == s.Above {
		return
	}
	level := slog.LevelInfo
	switch s.State {
	case "opening", "closing":
		level = slog.LevelDebug
	case "waiting", "down", "damped":
		level = slog.LevelWarn
	}
	text := s.State
	attrs := []slog.Attr{slog.String("bearer", name), slog.String("state", s.State)}
	if s.Reason != "" {
		attrs = append(attrs, slog.String("reason", s.Reason))
		text += ": " + s.Reason
	}
	if s.Above != "" {
		attrs = append(attrs, slog.String("above", s.Above))
	}
	n.logs.add(level, admin.BearerChanged.String(), attrs...)
	n.tellWatches(admin.NodeEvent{Kind: admin.BearerChanged, Bearer: name, Reason: text})
}

// ForgetBearer implements backend.Node.
func (n *Node) ForgetBearer(name string) {
	n.loop.Lock()
	defer n.loop.Unlock()
	n.forget(name)
}

// forget takes a bearer off those that are kept, and reports whether it was among them.
func (n *Node) forget(name string) bool {
	i := n.noted(name)
	if i < 0 {
		return false
	}
	n.notes = slices.Delete(n.notes, i, i+1)
	return true
}

// BearerNoted implements backend.Node.
func (n *Node) BearerNoted(name string) bool {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.noted(name) >= 0
}

// disableNoted ends that a bearer without a device is wanted; ok is false where there is
// none of that name, with or without its medium in front.
func (n *Node) disableNoted(name string) (ok bool) {
	n.loop.Lock()
	defer n.loop.Unlock()
	for _, b := range n.notes {
		if _, own, _ := strings.Cut(b.name, ":"); b.name == name || own == name {
			n.logs.add(slog.LevelInfo, admin.BearerDisabled.String(), slog.String("bearer", own))
			n.tellWatches(admin.NodeEvent{Kind: admin.BearerDisabled, Bearer: own})
			return n.forget(b.name)
		}
	}
	return false
}

// HoldBearer implements backend.Node.
func (n *Node) HoldBearer(name string, hold bool) error {
	return n.manage("hold", func() error {
		a := n.bearer(name)
		if a == nil {
			return errNoBearer()
		}
		a.held = hold
		n.pollOnce(n.loop.Now(), false)
		return nil
	})
}

// remoteRemover has a host get the broadcasts no more. It is safe for concurrent use.
type remoteRemover interface {
	RemoveRemote(netip.AddrPort) error
}

// RemoveRemote implements backend.Node.
func (n *Node) RemoveRemote(bearer string, remote netip.AddrPort) error {
	return n.manage("remove", func() error {
		a := n.bearer(bearer)
		if a == nil {
			return errNoBearer()
		}
		d, ok := as[remoteRemover](a.Device)
		if !ok {
			return fmt.Errorf("%w: %s has no remotes", engine.ErrConfig, bearer)
		}
		if err := d.RemoveRemote(remote); err != nil {
			return &admin.Refusal{Errno: syscall.EINVAL, Err: err}
		}
		return nil
	})
}

// state is how a bearer with a device stands.
func (n *Node) state(a *attachment) admin.BearerState {
	if i := n.noted(a.fullName()); i >= 0 {
		return n.notes[i].BearerState
	}
	if a.mtu == 0 {
		return admin.BearerState{State: "down"}
	}
	return admin.BearerState{State: "up"}
}

// withoutDevice are the bearers that are kept and have no device.
func (n *Node) withoutDevice() (all []admin.BearerStatus) {
	for _, b := range n.notes {
		if !slices.ContainsFunc(n.attached, func(a *attachment) bool { return a.fullName() == b.name }) {
			medium, name, _ := strings.Cut(b.name, ":")
			all = append(all, admin.BearerStatus{Name: name, Medium: medium, BearerState: b.BearerState})
		}
	}
	return all
}
