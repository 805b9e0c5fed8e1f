// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

// Media implements backend.Node.
func (n *Node) Media() (all []admin.MediumConfig) {
	n.loop.Lock()
	defer n.loop.Unlock()
	for _, m := range n.media {
		all = append(all, m.MediumConfig)
	}
	return all
}

// MediumProperty implements backend.Node.
func (n *Node) MediumProperty(name string, p control.Property) (int, error) {
	n.loop.Lock()
	defer n.loop.Unlock()
	v, err := n.mediumProperty(name, p)
	return v, backend.ManageError("get", err)
}

func (n *Node) mediumProperty(name string, p control.Property) (int, error) {
	m, ok := parseMedium(name)
	if !ok {
		return 0, errNoMedium()
	}
	x := n.media[m]
	switch {
	case p == control.PropertyPriority:
		return int(x.Priority), nil
	case p == control.PropertyTolerance:
		return int(x.Tolerance.Milliseconds()), nil
	case p == control.PropertyWindow:
		return x.Window, nil
	case p == control.PropertyMTU && m == udpMedium:
		return x.MTU, nil
	}
	return 0, noProperty(p)
}

// SetMediumProperty implements backend.Node.
func (n *Node) SetMediumProperty(name string, p control.Property, value int) error {
	return n.manage("set", func() error { return n.setMediumProperty(name, p, value) })
}

func (n *Node) setMediumProperty(name string, p control.Property, value int) error {
	m, ok := parseMedium(name)
	if !ok {
		return errNoMedium()
	}
	if p == control.PropertyMTU && m != udpMedium {
		return noProperty(p)
	}
	if err := n.checkMedium(p, value); err != nil {
		return err
	}
	x := &n.media[m]
	switch p {
	case control.PropertyPriority:
		x.Priority = uint8(value)
	case control.PropertyTolerance:
		x.Tolerance = time.Duration(value) * time.Millisecond
	case control.PropertyWindow:
		x.Window = value
	case control.PropertyMTU:
		x.MTU = value
	}
	return nil
}

// SetMedium implements backend.Node.
func (n *Node) SetMedium(name string, c admin.MediumConfig) error {
	return n.manage("set", func() error {
		values := []struct {
			p     control.Property
			value int
		}{
			{control.PropertyPriority, int(c.Priority)},
			{control.PropertyTolerance, int(c.Tolerance.Milliseconds())},
			{control.PropertyWindow, c.Window},
			{control.PropertyMTU, c.MTU},
		}
		was := n.media
		for _, v := range values {
			if v.value == 0 {
				continue
			}
			if err := n.setMediumProperty(name, v.p, v.value); err != nil {
				n.media = was
				return err
			}
		}
		return nil
	})
}

// checkMedium is checkProperty for what bearers begin with.
func (n *Node) checkMedium(p control.Property, value int) error {
	if err := checkProperty(p, value); err != nil {
		return err
	}
	if most := n.arena.Largest() - ethernetLen; p == control.PropertyMTU && value > most {
		return &admin.Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: the node's memory was made for messages of %d bytes (Config.MTU)", engine.ErrConfig, most)}
	}
	return nil
}

func (a *attachment) medium() medium {
	if mediumOf(a.Device) != nil {
		return udpMedium
	}
	return ethMedium
}
