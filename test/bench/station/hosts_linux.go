// SPDX-License-Identifier: Apache-2.0

package station

import (
	"fmt"
	"net"

	"github.com/utipc/utipc/test/bench/station/remote"
	"github.com/utipc/utipc/test/bench/worker"
)

// hosts is the place where end 0 is on this host and end 1 on another, which runs utipc
// bench host.
type hosts struct {
	o     Options
	there remote.Welcome // what the other host says of itself
	addr  string         // of this host's interface
	link  int            // MTU of both interfaces, in bytes
}

// newHosts asks the other host who it is.
func newHosts(o Options) (place, error) {
	ifi, err := net.InterfaceByName(o.Iface)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Iface, err)
	}
	h := &hosts{o: o, link: ifi.MTU}
	if h.addr, err = remote.Address(ifi); err != nil {
		return nil, err
	}
	c, w, err := remote.Dial(o.Host, remote.Hello{Secret: o.Secret})
	if err != nil {
		return nil, err
	}
	c.Close()
	h.there = w
	if w.MTU != h.link {
		return nil, fmt.Errorf("%s has MTU %d, the other host's %s %d", o.Iface, h.link, w.Iface, w.MTU)
	}
	return h, nil
}

func (h *hosts) String() string {
	return fmt.Sprintf("two hosts: %s here, %s there (%s, %d cores, %s), a process at each, on one core; what others use there is not known",
		h.o.Iface, h.there.Iface, h.there.CPU, h.there.Cores, h.there.Kernel)
}

func (h *hosts) mtu() int   { return h.link }
func (*hosts) shared() bool { return true }

func (h *hosts) fit(v *Variant) error {
	v.MTU = h.link
	for _, o := range v.Ends {
		switch o.Load {
		case worker.Bare, worker.TIPC, worker.Conns, worker.TCP, worker.UDP:
		default:
			return notHere("the ends are on two hosts")
		}
		if o.IP() && !v.Offloads {
			return notHere("the interfaces keep their offloads")
		}
	}
	if v.OneCore || v.OneHost || v.Joined || v.Daemons || v.Held || v.Quota > 0 || v.Beside != "" || v.Program != nil {
		return notHere("the ends are on two hosts")
	}
	return nil
}

func (h *hosts) lay(s *Site, _ *Variant) (ground, error) { return apart{h, s}, nil }

// burn has them on both hosts.
func (h *hosts) burn(s *Site) ([]*worker.Process, error) {
	all, err := onCores(s)
	for i := 0; err == nil && i < h.there.Cores; i++ {
		var p *worker.Process
		if p, err = h.remote(i); p != nil {
			all = append(all, p)
		}
	}
	return all, err
}

// remote starts a worker there, on one of its cores.
func (h *hosts) remote(core int) (*worker.Process, error) {
	c, _, err := remote.Dial(h.o.Host, remote.Hello{Secret: h.o.Secret, Work: true, Core: core, Nice: h.o.Nice})
	if err != nil {
		return nil, err
	}
	return worker.Over(c), nil
}

// apart are two hosts, for a site.
type apart struct {
	h *hosts
	s *Site
}

func (a apart) addrs() [2]string { return [2]string{a.h.addr, a.h.there.Addr} }
func (apart) close()             {}

func (a apart) iface(end int) string {
	if end == 0 {
		return a.h.o.Iface
	}
	return a.h.there.Iface
}

// start starts a worker here, or there on its first core.
func (a apart) start(program []string, end, core int) (*worker.Process, error) {
	if end == 0 {
		return a.s.start(program, core, here)
	}
	return a.h.remote(0)
}
