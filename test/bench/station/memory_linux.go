// SPDX-License-Identifier: Apache-2.0

package station

import (
	"github.com/utipc/utipc/test/bench/worker"
)

// memory is the place where all is on this host, and needs no privilege: two nodes of ours
// are in one process, with a network in memory between them, and what they stand beside
// uses the loopback interface.
type memory struct{}

func (memory) String() string {
	return "this host: two nodes in one process with a network in memory, beside two processes and the loopback interface"
}

func (memory) mtu() int                                { return 0 }
func (memory) shared() bool                            { return true }
func (memory) burn(s *Site) ([]*worker.Process, error) { return onCores(s) }

func (memory) fit(v *Variant) error {
	v.OneHost = true
	for i := range v.Ends {
		o := &v.Ends[i]
		ours := o.Load == worker.TIPC || o.Load == worker.Conns && o.Socket != "tcp"
		switch {
		case o.Load == worker.Bare || v.Held || v.Daemons || v.Beside != "":
			return notHere("there is no interface")
		case ours && (o.Wait != "sleep" || o.Datagram || o.Buffers || o.Socket != "" && o.Socket != "tipc" || o.Driver != ""):
			return notHere("nodes in memory sleep, and have two kinds of sockets")
		case ours:
			*o = worker.Open{Load: worker.Memory, Socket: o.Socket, MTU: v.MTU, Single: o.Single, Key: o.Key}
		case o.IP() && !v.Offloads:
			return notHere("the loopback interface keeps its offloads")
		}
	}
	return nil
}

func (memory) lay(s *Site, _ *Variant) (ground, error) { return host{s}, nil }

// A host is this one.
type host struct{ s *Site }

// addrs are two, as both ends of UDP have the same port.
func (host) addrs() [2]string { return [2]string{"127.0.0.1", "127.0.0.2"} }
func (host) iface(int) string { return "lo" }
func (host) close()           {}

func (h host) start(program []string, _, core int) (*worker.Process, error) {
	return h.s.start(program, core, here)
}
