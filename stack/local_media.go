// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack/admin"
)

// Media implements nodeBackend.
func (n *localNode) Media() (all []admin.MediumConfig) {
	n.loop.Lock()
	defer n.loop.Unlock()
	for _, m := range n.media {
		all = append(all, m.MediumConfig)
	}
	return all
}

// MediumProperty implements nodeBackend.
func (n *localNode) MediumProperty(name string, p admin.Property) (int, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	v, err := n.mediumProperty(name, p)
	return v, manageError("get", err)
}

func (n *localNode) mediumProperty(name string, p admin.Property) (int, error) {
	m, ok := parseMedium(name)
	if !ok {
		return 0, errNoMedium()
	}
	x := n.media[m]
	switch {
	case p == admin.PropertyPriority:
		return int(x.Priority), nil
	case p == admin.PropertyTolerance:
		return int(x.Tolerance.Milliseconds()), nil
	case p == admin.PropertyWindow:
		return x.Window, nil
	case p == admin.PropertyMTU && m == udpMedium:
		return x.MTU, nil
	}
	return 0, noProperty(p)
}

// SetMediumProperty implements nodeBackend.
func (n *localNode) SetMediumProperty(name string, p admin.Property, value int) error {
	return n.manage("set", func() error { return n.setMediumProperty(name, p, value) })
}

func (n *localNode) setMediumProperty(name string, p admin.Property, value int) error {
	m, ok := parseMedium(name)
	if !ok {
		return errNoMedium()
	}
	if err := checkProperty(p, value); err != nil {
		return err
	}
	x := &n.media[m]
	switch {
	case p == admin.PropertyPriority:
		x.Priority = uint8(value)
	case p == admin.PropertyTolerance:
		x.Tolerance = time.Duration(value) * time.Millisecond
	case p == admin.PropertyWindow:
		x.Window = value
	case p == admin.PropertyMTU && m == udpMedium:
		if most := n.arena.Largest() - ethernetLen; value > most {
			return &admin.Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: the node's memory was made for messages of %d bytes (Config.MTU)", ErrConfig, most)}
		}
		x.MTU = value
	default:
		return noProperty(p)
	}
	return nil
}

func (a *attachment) medium() medium {
	if mediumOf(a.Device) != nil {
		return udpMedium
	}
	return ethMedium
}
