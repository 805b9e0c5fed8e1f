// SPDX-License-Identifier: Apache-2.0

package station

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/utipc/utipc/internal/cores"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

// A Station is a Variant that is open: its processes, and what they stand on.
type Station struct {
	Infos [2]load.Info // what the ends say of themselves

	site   *Site
	v      Variant
	ground ground
	ends   [2]*worker.Process
	flood  *worker.Process   // the third sender, if any
	all    []*worker.Process // these and what else was started
	groups []*cgroup
	dir    string // for sockets and files that both ends know
	joined string // the socket of the daemon that both ends are programs of
}

// Open opens a variant where the site is. What was made before it failed is closed. An
// error may be ErrNotHere.
func (s *Site) Open(v Variant) (*Station, error) {
	if err := s.place.fit(&v); err != nil {
		return nil, err
	}
	st := &Station{site: s, v: v}
	s.stations = append(s.stations, st)
	if err := st.open(); err != nil {
		st.Close()
		return nil, err
	}
	return st, nil
}

func (st *Station) open() (err error) {
	if st.ground, err = st.site.place.lay(st.site, &st.v); err != nil {
		return err
	}
	if st.dir, err = os.MkdirTemp("", "utipc-bench-"); err != nil {
		return err
	}
	if st.v.Held {
		for end := range st.ends {
			p, err := st.start(end, st.site.Cores[end])
			if err != nil {
				return err
			}
			if st.Infos[end], err = p.Open(worker.Open{Load: worker.Holds, End: 1, Iface: st.ground.iface(end), Driver: st.site.Driver}); err != nil {
				return err
			}
		}
	}
	// End 1 first: end 0 is told who it is.
	for _, end := range []int{1, 0} {
		if err := st.openEnd(end); err != nil {
			return fmt.Errorf("end %d: %w", end, err)
		}
	}
	return st.openFlood()
}

// openEnd starts the process of an end and opens its load.
func (st *Station) openEnd(end int) (err error) {
	core := st.site.Cores[end]
	if st.v.OneCore {
		core = st.site.Cores[0]
	}
	if st.ends[end], err = st.start(end, core); err != nil {
		return err
	}
	if st.v.Quota > 0 {
		if err := st.limit(st.ends[end]); err != nil {
			return err
		}
	}
	o := st.v.Ends[end]
	o.End, o.Iface, o.Addrs, o.Peer, o.Path = end, st.ground.iface(end), st.ground.addrs(), st.Infos[1], filepath.Join(st.dir, "common")
	if o.Driver == "" {
		o.Driver = st.site.Driver
	}
	switch {
	case st.v.Daemons:
		if o.Path, err = st.daemon(end, core, o.Iface); err != nil {
			return err
		}
	case st.v.Joined:
		if end == 1 { // which is opened first
			if st.joined, err = st.daemon(end, core, ""); err != nil {
				return err
			}
		}
		o.Path = st.joined
	case o.Load == worker.Daemon:
		o.Iface = "" // all is on this host
	}
	info, err := st.ends[end].Open(o)
	if err == nil && !st.v.Held {
		st.Infos[end] = info
	}
	return err
}

// openFlood starts the third sender, if there is to be one.
func (st *Station) openFlood() (err error) {
	if st.v.Beside == "" {
		return nil
	}
	if st.flood, err = st.start(0, st.site.Cores[0]); err != nil {
		return err
	}
	_, err = st.flood.Open(worker.Open{Load: worker.Flood, Wait: st.v.Beside, Iface: st.ground.iface(0), Peer: st.Infos[1], Key: st.v.Ends[0].Key})
	return err
}

// start starts a worker at an end, on a core.
func (st *Station) start(end, core int) (*worker.Process, error) {
	program := st.v.Program
	if program == nil {
		program = st.site.Program
	}
	p, err := st.ground.start(program, end, core)
	if p != nil {
		st.all = append(st.all, p)
	}
	return p, err
}

// here is where a worker is started that needs no namespace.
func here(f func() error) error { return f() }

// start starts a worker on a core, by a function that goes where it is to live. What it
// returns with an error has to be closed all the same.
func (s *Site) start(program []string, core int, in func(func() error) error) (*worker.Process, error) {
	cmd := exec.CommandContext(s.ctx, program[0], program[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: s.Nice != 0}
	p, err := worker.Start(cmd, func(cmd *exec.Cmd) error {
		return in(func() error { return cores.On(core, cmd.Start) })
	})
	if err != nil || s.Nice == 0 {
		return p, err
	}
	return p, cores.Prefer(p.PID(), s.Nice)
}

// daemon starts an end's daemon on an interface, or on none, and returns the path of its
// socket.
func (st *Station) daemon(end, core int, iface string) (path string, err error) {
	p, err := st.start(end, core)
	if err != nil {
		return "", err
	}
	path = filepath.Join(st.dir, fmt.Sprint("daemon", end))
	_, err = p.Open(worker.Open{Load: worker.Daemon, End: end, Iface: iface, Driver: st.site.Driver, Wait: st.v.Ends[end].Wait, Path: path})
	return path, err
}

// limit puts a process under the variant's quota.
func (st *Station) limit(p *worker.Process) error {
	g, err := newCgroup(st.v.Quota)
	if err != nil {
		return err
	}
	st.groups = append(st.groups, g)
	return g.add(p.PID())
}

// Close ends all processes and lets go of the bed, which is gone then. It may be called
// again.
func (st *Station) Close() {
	for _, p := range st.all {
		p.Close() // how it ended was said by its jobs
	}
	st.all = nil
	for _, g := range st.groups {
		g.remove()
	}
	st.groups = nil
	if st.ground != nil {
		st.ground.close()
	}
	if st.dir != "" {
		os.RemoveAll(st.dir)
	}
	st.site.forget(st)
}
