// SPDX-License-Identifier: Apache-2.0

package bed

import (
	"os/exec"
)

// A Bed is two namespaces and a veth pair between them, both ends up and with
// carrier. Safe for concurrent use, but for Close.
type Bed struct {
	ends [2]End
}

// New makes a bed. It needs root: otherwise the error is an os.ErrPermission.
func New(o Options) (*Bed, error) {
	o = o.withDefaults()
	b := new(Bed)
	for i := range b.ends {
		n, err := NewNamespace()
		if err != nil {
			b.Close()
			return nil, err
		}
		b.ends[i] = End{n, o.Names[i]}
	}
	if err := Veth(b.ends[0], b.ends[1], o.MTU, o.Queues); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Name is the name of the interface at end i, 0 or 1.
func (b *Bed) Name(i int) string { return b.ends[i].Name }

// Namespace is the one at end i, for what Bed has no method for. Close closes it.
func (b *Bed) Namespace(i int) *Namespace { return b.ends[i].Namespace }

// Do runs f inside namespace i; see Namespace.Do.
func (b *Bed) Do(i int, f func() error) error { return b.ends[i].Namespace.Do(f) }

// Start starts cmd inside namespace i; see Namespace.Start.
func (b *Bed) Start(i int, cmd *exec.Cmd) error { return b.ends[i].Namespace.Start(cmd) }

// Close lets go of both namespaces. They and their interfaces are gone once no
// socket opened and no process started inside is left. It may be called again.
func (b *Bed) Close() {
	for _, e := range b.ends {
		if e.Namespace != nil {
			e.Namespace.Close()
		}
	}
}
