// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"

	"github.com/utipc/utipc/internal/bed"
)

// mtu is of the cables, in bytes.
const mtu = 1500

// A Site is where the ranks of one run after the other are: namespaces and cables, or the
// loopback interface. It is used by one goroutine.
type Site struct {
	program []string // that becomes a rank
	net     bed.Net  // nil: the loopback interface
	hosts   []string // of the ranks
}

// NewSite makes the place for so many ranks. program is the command that calls Rank. Who may
// make no namespaces gets the loopback interface.
func NewSite(ranks int, program []string) (*Site, error) {
	s := &Site{program: program}
	err := s.connect(ranks)
	if err == nil {
		return s, nil
	}
	s.Close()
	if !errors.Is(err, os.ErrPermission) && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	return &Site{program: program, hosts: loopback(ranks)}, nil
}

func (s *Site) connect(ranks int) (err error) {
	if s.net, err = bed.NewNet(ranks, mtu); err != nil {
		return err
	}
	for i := range ranks {
		a := netip.AddrFrom4([4]byte{10, 77, 0, byte(i + 1)})
		n := s.net.Namespace(i)
		if err := n.SetAddress(s.net.Name(i), a); err != nil {
			return err
		}
		if err := n.SetUp("lo", true); err != nil { // for connections of a rank with itself
			return err
		}
		s.hosts = append(s.hosts, a.String())
	}
	return nil
}

// Where is the site in a word: namespaces or loopback.
func (s *Site) Where() string {
	if s.net != nil {
		return "namespaces"
	}
	return "loopback"
}

// Close removes what was made. No run is under way.
func (s *Site) Close() {
	if s.net != nil {
		s.net.Close()
	}
}

// start starts cmd where rank i is; a burner is nowhere in particular.
func (s *Site) start(i int, cmd *exec.Cmd) error {
	if s.net == nil || i >= len(s.hosts) {
		return cmd.Start()
	}
	return s.net.Namespace(i).Start(cmd)
}

func (s *Site) iface(i int) string {
	if s.net == nil {
		return ""
	}
	return s.net.Name(i)
}

// fits says whether the site has room for the run.
func (s *Site) fits(ranks int) error {
	if ranks > len(s.hosts) {
		return fmt.Errorf("launch: %d ranks, and the site is for %d", ranks, len(s.hosts))
	}
	return nil
}
