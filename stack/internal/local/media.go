// SPDX-License-Identifier: Apache-2.0

package local

import (
	"syscall"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A medium is a kind of network.
type medium uint8

const (
	ethMedium medium = iota
	udpMedium
)

func (m medium) String() string {
	if m == udpMedium {
		return "udp"
	}
	return "eth"
}

func parseMedium(name string) (m medium, ok bool) {
	switch name {
	case "eth":
		return ethMedium, true
	case "udp":
		return udpMedium, true
	}
	return 0, false
}

// defaultWindow is the window that links begin with, in packets.
const defaultWindow = flowctl.DefaultWindow

// udpMTU is what a bearer over UDP carries unless something else is said, in bytes.
const udpMTU = 14000

// mediumState is what bearers of a medium begin with.
type mediumState struct {
	admin.MediumConfig
	least int // packets that the window begins with
}

// newMedia returns what a Config says for all bearers.
func newMedia(cfg Config) (all [2]mediumState) {
	for m := range medium(2) {
		x := mediumState{admin.MediumConfig{Name: m.String(), Priority: cfg.Priority, Tolerance: cfg.Tolerance, Window: max(cfg.Window, cfg.MaxWindow)}, cfg.Window}
		if x.Priority == 0 {
			x.Priority = 10
		}
		if x.Tolerance == 0 {
			x.Tolerance = flowctl.DefaultTolerance
		}
		if x.least == 0 {
			x.least = defaultWindow
		}
		x.Window = max(x.Window, x.least)
		if m == udpMedium {
			x.MTU = udpMTU
		}
		all[m] = x
	}
	return all
}

// links is what links over the medium begin with.
func (m *mediumState) links() engine.LinkConfig {
	return engine.LinkConfig{Tolerance: m.Tolerance, Priority: m.Priority, Window: min(m.least, m.Window), MaxWindow: m.Window}
}

func errNoMedium() error { return backend.Refuse(syscall.EINVAL, "Media not found.") }
