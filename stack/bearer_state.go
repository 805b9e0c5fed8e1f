// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A BearerState is how a bearer stands that somebody keeps as it is wanted: the daemon
// does, see package daemon/bearers. Of one that nobody keeps the state is "up" or "down".
type BearerState struct {
	State   string    // "waiting", "opening", "up", "down", "damped", "closing"
	Reason  string    // why; empty when up
	Since   time.Time // zero: not known
	Changes int       // states that the bearer has had
}

// A notedBearer is one that somebody keeps, and its state.
type notedBearer struct {
	name string // "eth:eth0"
	BearerState
}

// noted returns the place of a bearer among those that somebody keeps, or -1.
func (n *localNode) noted(name string) int {
	return slices.IndexFunc(n.notes, func(b notedBearer) bool { return b.name == name })
}

// NoteBearer says how a bearer stands that the caller keeps, under its full name,
// "eth:eth0". It is among Bearers from then on, whether the node has a device for it or
// not, until ForgetBearer, or DisableBearer while there is no device. A new state is
// logged, and told to those who watch. On an attached node it does nothing.
func (n *Node) NoteBearer(name string, s BearerState) {
	if n, ok := n.b.(*localNode); ok {
		n.note(name, s)
	}
}

func (n *localNode) note(name string, s BearerState) {
	n.mu.Lock()
	defer n.unlock()
	i := n.noted(name)
	if i < 0 {
		n.notes = append(n.notes, notedBearer{name: name})
		i = len(n.notes) - 1
	}
	was := n.notes[i].BearerState
	n.notes[i].BearerState = s
	if was.State == s.State && was.Reason == s.Reason {
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
	n.logs.add(level, BearerChanged.String(), attrs...)
	n.tellWatches(NodeEvent{Kind: BearerChanged, Bearer: name, Reason: text})
}

// ForgetBearer says that a bearer is no longer kept.
// On an attached node it does nothing.
func (n *Node) ForgetBearer(name string) {
	if n, ok := n.b.(*localNode); ok {
		n.mu.Lock()
		defer n.unlock()
		n.forget(name)
	}
}

// forget takes a bearer off those that are kept, and reports whether it was among them.
func (n *localNode) forget(name string) bool {
	i := n.noted(name)
	if i < 0 {
		return false
	}
	n.notes = slices.Delete(n.notes, i, i+1)
	return true
}

// BearerNoted reports whether a bearer is kept, under its full name; never of an attached
// node.
func (n *Node) BearerNoted(name string) bool {
	if n, ok := n.b.(*localNode); ok {
		n.mu.Lock()
		defer n.unlock()
		return n.noted(name) >= 0
	}
	return false
}

// disableNoted ends that a bearer without a device is wanted; ok is false where there is
// none of that name, with or without its medium in front.
func (n *localNode) disableNoted(name string) (ok bool) {
	n.mu.Lock()
	defer n.unlock()
	for _, b := range n.notes {
		if _, own, _ := strings.Cut(b.name, ":"); b.name == name || own == name {
			n.logs.add(slog.LevelInfo, BearerDisabled.String(), slog.String("bearer", own))
			n.tellWatches(NodeEvent{Kind: BearerDisabled, Bearer: own})
			return n.forget(b.name)
		}
	}
	return false
}

// HoldBearer has the node treat a bearer's interface as one that carries nothing, or no
// longer. Errors, inside *net.OpError: a *Refusal with EINVAL, "Bearer not found.";
// errors.ErrUnsupported of an attached node.
func (n *Node) HoldBearer(name string, hold bool) error {
	if n, ok := n.b.(*localNode); ok {
		return n.manage("hold", func() error {
			a := n.bearer(name)
			if a == nil {
				return errNoBearer()
			}
			a.held = hold
			n.lap(n.now(), false)
			return nil
		})
	}
	return manageError("hold", errors.ErrUnsupported)
}

// remoteRemover has a host get the broadcasts no more. It is safe for concurrent use.
type remoteRemover interface {
	RemoveRemote(netip.AddrPort) error
}

// RemoveRemote ends that a host gets what goes to all, over the bearer of that name, "UDP1"
// or "udp:UDP1". The address's port 0 is TIPC's, 6118. A link to the host stays until it
// ends by itself; those to others are not touched. Errors, inside *net.OpError: a
// *Refusal with EINVAL, "Bearer not found.", or where the bearer is not over UDP, or has no
// such remote.
func (n *Node) RemoveRemote(bearer string, remote netip.AddrPort) error {
	return n.b.RemoveRemote(bearer, remote)
}

// RemoveRemote implements nodeBackend.
func (n *localNode) RemoveRemote(bearer string, remote netip.AddrPort) error {
	return n.manage("remove", func() error {
		a := n.bearer(bearer)
		if a == nil {
			return errNoBearer()
		}
		d, ok := as[remoteRemover](a.dev)
		if !ok {
			return fmt.Errorf("%w: %s has no remotes", ErrConfig, bearer)
		}
		if err := d.RemoveRemote(remote); err != nil {
			return &Refusal{Errno: syscall.EINVAL, Err: err}
		}
		return nil
	})
}

// state is how a bearer with a device stands.
func (n *localNode) state(a *attachment) BearerState {
	if i := n.noted(a.fullName()); i >= 0 {
		return n.notes[i].BearerState
	}
	if a.mtu == 0 {
		return BearerState{State: "down"}
	}
	return BearerState{State: "up"}
}

// withoutDevice are the bearers that are kept and have no device.
func (n *localNode) withoutDevice() (all []BearerStatus) {
	for _, b := range n.notes {
		if !slices.ContainsFunc(n.attached, func(a *attachment) bool { return a.fullName() == b.name }) {
			medium, name, _ := strings.Cut(b.name, ":")
			all = append(all, BearerStatus{Name: name, Medium: medium, BearerState: b.BearerState})
		}
	}
	return all
}
