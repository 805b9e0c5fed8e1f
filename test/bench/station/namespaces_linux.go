// SPDX-License-Identifier: Apache-2.0

package station

import (
	"fmt"
	"net/netip"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/bench/worker"
)

// The addresses of the two ends of a cable, where IP runs on it.
var addresses = [2]string{"10.71.0.1", "10.71.0.2"}

// loopback are the addresses of two ends of one host.
var loopback = [2]string{"127.0.0.1", "127.0.0.1"}

// congestion is TCP's congestion control, also for programs that ask for none: the kernel's
// default differs from host to host.
const congestion = "cubic"

// namespaces is the place where each station has two namespaces and a cable of its own.
type namespaces struct{}

// newNamespaces tries whether they can be made, so that a missing right is said once, and
// at once.
func newNamespaces() (place, error) {
	n, err := bed.NewNamespace()
	if err != nil {
		return nil, err
	}
	n.Close()
	return namespaces{}, nil
}

func (namespaces) String() string {
	return "two network namespaces and a veth cable between them, two processes, one core each where no other is said"
}

func (namespaces) fit(*Variant) error                      { return nil }
func (namespaces) mtu() int                                { return 0 }
func (namespaces) shared() bool                            { return false }
func (namespaces) burn(s *Site) ([]*worker.Process, error) { return onCores(s) }

func (namespaces) lay(s *Site, v *Variant) (ground, error) {
	b, err := bed.New(bed.Options{MTU: v.MTU})
	if err != nil {
		return nil, err
	}
	c := &cable{s, v, b}
	if v.Ends[0].IP() || v.Program != nil {
		if err := c.setAddresses(); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// A cable is between two namespaces.
type cable struct {
	s   *Site
	v   *Variant
	bed *bed.Bed
}

// setAddresses gives both ends of the cable their IPv4 address, and takes their offloads
// away if the variant is to go without.
func (c *cable) setAddresses() error {
	if c.v.OneHost {
		return c.bed.Namespace(0).SetUp("lo", true) // it has its address by itself
	}
	for end := range addresses {
		name := c.bed.Name(end)
		if !c.v.Offloads {
			if err := c.bed.Do(end, func() error { return WithoutOffloads(name) }); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		n, addr := c.bed.Namespace(end), netip.MustParseAddr(addresses[end])
		if err := n.SetAddress(name, addr); err != nil {
			return err
		}
		if err := n.SetCongestion(name, addr, congestion); err != nil {
			return err
		}
	}
	return nil
}

func (c *cable) iface(end int) string { return c.bed.Name(end) }
func (c *cable) close()               { c.bed.Close() }

func (c *cable) addrs() [2]string {
	if c.v.OneHost {
		return loopback
	}
	return addresses
}

// start starts a worker in the namespace of an end, on a core.
func (c *cable) start(program []string, end, core int) (*worker.Process, error) {
	if c.v.OneHost {
		end = 0
	}
	return c.s.start(program, core, func(f func() error) error { return c.bed.Do(end, f) })
}
