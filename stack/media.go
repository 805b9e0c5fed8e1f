// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"syscall"
	"time"

	"github.com/utipc/utipc/flowctl"
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

// A MediumConfig is what bearers of a kind of network begin with.
type MediumConfig struct {
	Name      string        `json:"name"`      // "eth" or "udp"
	Priority  uint8         `json:"priority"`  // 1 to 31
	Tolerance time.Duration `json:"tolerance"` // nanoseconds
	Window    int           `json:"window"`    // packets at most
	MTU       int           `json:"mtu"`       // bytes of a message; 0: the interface's
	least     int           // packets that the window begins with
}

// newMedia returns what a Config says for all bearers.
func newMedia(cfg Config) (all [2]MediumConfig) {
	for m := range medium(2) {
		x := MediumConfig{Name: m.String(), Priority: cfg.Priority, Tolerance: cfg.Tolerance, Window: max(cfg.Window, cfg.MaxWindow), least: cfg.Window}
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
func (m MediumConfig) links() LinkConfig {
	return LinkConfig{Tolerance: m.Tolerance, Priority: m.Priority, Window: min(m.least, m.Window), MaxWindow: m.Window}
}

// Media returns what bearers begin with, by the kind of their networks: Ethernet, UDP.
func (n *Node) Media() []MediumConfig { return n.b.Media() }

// MediumProperty returns one value of a medium, "eth" or "udp", in the units of Property.
// Errors, inside *net.OpError: a *Refusal with EINVAL, or EOPNOTSUPP for the MTU of an
// Ethernet.
func (n *Node) MediumProperty(name string, p Property) (int, error) {
	return n.b.MediumProperty(name, p)
}

func errNoMedium() error { return refuse(syscall.EINVAL, "Media not found.") }

// SetMediumProperty changes what bearers that are enabled from now on begin with, in the
// units and bounds of Property. Errors as of MediumProperty.
func (n *Node) SetMediumProperty(name string, p Property, value int) error {
	return n.b.SetMediumProperty(name, p, value)
}
