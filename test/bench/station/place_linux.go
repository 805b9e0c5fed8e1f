// SPDX-License-Identifier: Apache-2.0

package station

import (
	"errors"
	"fmt"

	"github.com/utipc/utipc/test/bench/worker"
)

// A place is where the two ends of all stations of a site are.
type place interface {
	String() string
	// fit changes a variant to what can be had there, or refuses it with ErrNotHere.
	fit(v *Variant) error
	// lay makes what the ends of a variant stand on.
	lay(s *Site, v *Variant) (ground, error)
	// burn starts a worker on each core of the ends'.
	burn(s *Site) ([]*worker.Process, error)
	// mtu is that of all variants; 0: each has its own.
	mtu() int
	// shared reports whether all stations have the same interfaces.
	shared() bool
}

// A ground is what the two ends of a station stand on.
type ground interface {
	start(program []string, end, core int) (*worker.Process, error)
	iface(end int) string
	addrs() [2]string
	close()
}

// ErrNotHere is of what cannot be measured where the two ends are, and could elsewhere.
var ErrNotHere = errors.New("not where the two ends are")

func notHere(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotHere, fmt.Sprintf(format, args...))
}

// place makes the place that the options name.
func (o Options) place() (place, error) {
	switch {
	case o.Memory:
		return memory{}, nil
	case o.Host != "":
		return newHosts(o)
	}
	return newNamespaces()
}

// onCores starts a worker on each of the site's cores.
func onCores(s *Site) (all []*worker.Process, err error) {
	for _, core := range s.Cores {
		p, err := s.start(s.Program, core, here)
		if p != nil {
			all = append(all, p)
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}
