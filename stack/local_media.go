// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"syscall"
	"time"
)

// Media implements nodeBackend.
func (n *localNode) Media() []MediumConfig {
	n.mu.Lock()
	defer n.unlock()
	return n.media[:]
}

// MediumProperty implements nodeBackend.
func (n *localNode) MediumProperty(name string, p Property) (int, error) {
	n.mu.Lock()
	defer n.unlock()
	v, err := n.mediumProperty(name, p)
	return v, manageError("get", err)
}

func (n *localNode) mediumProperty(name string, p Property) (int, error) {
	m, ok := parseMedium(name)
	if !ok {
		return 0, errNoMedium()
	}
	x := n.media[m]
	switch {
	case p == PropertyPriority:
		return int(x.Priority), nil
	case p == PropertyTolerance:
		return int(x.Tolerance.Milliseconds()), nil
	case p == PropertyWindow:
		return x.Window, nil
	case p == PropertyMTU && m == udpMedium:
		return x.MTU, nil
	}
	return 0, p.refusal()
}

// SetMediumProperty implements nodeBackend.
func (n *localNode) SetMediumProperty(name string, p Property, value int) error {
	return n.manage("set", func() error { return n.setMediumProperty(name, p, value) })
}

func (n *localNode) setMediumProperty(name string, p Property, value int) error {
	m, ok := parseMedium(name)
	if !ok {
		return errNoMedium()
	}
	if err := p.check(value); err != nil {
		return err
	}
	x := &n.media[m]
	switch {
	case p == PropertyPriority:
		x.Priority = uint8(value)
	case p == PropertyTolerance:
		x.Tolerance = time.Duration(value) * time.Millisecond
	case p == PropertyWindow:
		x.Window = value
	case p == PropertyMTU && m == udpMedium:
		if most := n.arena.Largest() - ethernetLen; value > most {
			return &Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: the node's memory was made for messages of %d bytes (Config.MTU)", ErrConfig, most)}
		}
		x.MTU = value
	default:
		return p.refusal()
	}
	return nil
}

func (a *attachment) medium() medium {
	if mediumOf(a.dev) != nil {
		return udpMedium
	}
	return ethMedium
}
