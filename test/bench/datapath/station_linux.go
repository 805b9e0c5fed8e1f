// SPDX-License-Identifier: Apache-2.0

package datapath

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

// patience is what a job may take longer than it was asked to.
const patience = 30 * time.Second

// The addresses of the two ends of a cable, where TCP runs on it.
var addresses = [2]string{"10.71.0.1", "10.71.0.2"}

// A station is a Variant that is open: its bed and its processes.
type station struct {
	v       Variant
	bed     *bed.Bed
	infos   [2]load.Info
	ends    [2]*worker.Process
	flood   *worker.Process // the third sender, if any
	burners []*worker.Process
	all     []*worker.Process // these and what else was started
	groups  []*cgroup
	dir     string // for sockets and files that both ends know
}

// set makes the bed and starts the processes. What was made before it failed is
// closed.
func (r *runner) set(v Variant) (s *station, err error) {
	s = &station{v: v}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.bed, err = bed.New(bed.Options{MTU: v.MTU}); err != nil {
		return s, err
	}
	if s.dir, err = os.MkdirTemp("", "utipc-bench-"); err != nil {
		return s, err
	}
	if v.Ends[0].Load == worker.TCP || v.Ends[0].Socket == "tcp" || v.Ends[0].Driver == worker.UDP {
		if err := s.addresses(); err != nil {
			return s, err
		}
	}
	if v.Held {
		for end := range s.ends {
			p, err := r.start(s, end, r.cores[end])
			if err != nil {
				return s, err
			}
			if s.infos[end], err = p.Open(worker.Open{Load: worker.Holds, End: 1, Iface: s.bed.Name(end), Driver: r.Driver}); err != nil {
				return s, err
			}
		}
	}
	// End 1 first: end 0 is told who it is.
	for _, end := range []int{1, 0} {
		core := r.cores[end]
		if v.OneCore {
			core = r.cores[0]
		}
		if s.ends[end], err = r.start(s, end, core); err != nil {
			return s, err
		}
		if v.Quota > 0 {
			if err := s.limit(s.ends[end]); err != nil {
				return s, err
			}
		}
		o := v.Ends[end]
		o.End, o.Iface, o.Addrs, o.Peer, o.Path = end, s.bed.Name(end), addresses, s.infos[1], filepath.Join(s.dir, "common")
		if o.Driver == "" {
			o.Driver = r.Driver
		}
		switch {
		case v.Daemons:
			if o.Path, err = r.daemon(s, end, core); err != nil {
				return s, err
			}
		case o.Load == worker.Daemon:
			o.Iface = "" // all is on this host
		}
		info, err := s.ends[end].Open(o)
		if err != nil {
			return s, fmt.Errorf("end %d: %w", end, err)
		}
		if !v.Held {
			s.infos[end] = info
		}
	}
	return s, s.openCompany(r)
}

// openCompany starts what runs beside the ends.
func (s *station) openCompany(r *runner) error {
	if s.v.Beside != "" {
		p, err := r.start(s, 0, r.cores[0])
		if err != nil {
			return err
		}
		s.flood = p
		if _, err := p.Open(worker.Open{Load: worker.Flood, Wait: s.v.Beside, Iface: s.bed.Name(0), Peer: s.infos[1], Key: s.v.Ends[0].Key}); err != nil {
			return err
		}
	}
	if s.v.Burners {
		for _, core := range r.cores {
			p, err := r.start(s, 0, core)
			if err != nil {
				return err
			}
			s.burners = append(s.burners, p)
			if _, err := p.Open(worker.Open{Load: worker.Burn}); err != nil {
				return err
			}
		}
	}
	return nil
}

// start starts a worker in namespace end on a core.
func (r *runner) start(s *station, end, core int) (*worker.Process, error) {
	cmd := exec.CommandContext(r.ctx, r.Program[0], r.Program[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: r.Nice != 0}
	p, err := worker.Start(cmd, func(cmd *exec.Cmd) error {
		return s.bed.Do(end, func() error { return onCore(core, cmd.Start) })
	})
	if err != nil {
		return nil, err
	}
	s.all = append(s.all, p)
	if r.Nice != 0 {
		return p, prefer(p.PID(), r.Nice)
	}
	return p, nil
}

// daemon starts an end's daemon, and returns the path of its socket.
func (r *runner) daemon(s *station, end, core int) (path string, err error) {
	p, err := r.start(s, end, core)
	if err != nil {
		return "", err
	}
	path = filepath.Join(s.dir, fmt.Sprint("daemon", end))
	_, err = p.Open(worker.Open{Load: worker.Daemon, End: end, Iface: s.bed.Name(end), Driver: r.Driver, Wait: s.v.Ends[end].Wait, Path: path})
	return path, err
}

// limit puts a process under the variant's quota.
func (s *station) limit(p *worker.Process) error {
	g, err := newCgroup(s.v.Quota)
	if err != nil {
		return err
	}
	s.groups = append(s.groups, g)
	return g.add(p.PID())
}

// jobs are what the two ends do in one measurement.
func (s *station) jobs(serial uint32, d time.Duration) (jobs [2]load.Job) {
	j := load.Job{Round: serial, Size: s.v.Size, Per: s.v.Per, For: d}
	kinds := [2]load.Kind{load.Ping, load.Pong}
	if s.v.OneWay {
		kinds = [2]load.Kind{load.Send, load.Receive}
	}
	for i := range jobs {
		jobs[i] = j
		jobs[i].Kind = kinds[i]
	}
	return jobs
}

// run measures a variant once. The end that measures ends by itself; the others
// are stopped then.
func (r *runner) run(s *station, round int, d time.Duration, offered float64, profile string) (Run, error) {
	company, err := s.startCompany()
	if err != nil {
		return Run{}, err
	}
	r.serial++ // also when a round is repeated
	jobs := s.jobs(r.serial, d)
	jobs[0].Offered = offered
	measures, serves := 0, 1
	if s.v.OneWay {
		measures, serves = 1, 0
	}
	var calls [2]*worker.Call
	for _, end := range []int{1, 0} {
		if profile != "" {
			jobs[end].Profile = fmt.Sprintf("%s-end%d.pprof", profile, end)
		}
		if calls[end], err = s.ends[end].Run(jobs[end]); err != nil {
			return Run{}, err
		}
	}
	defer context.AfterFunc(r.ctx, calls[measures].Stop)()
	run := Run{Round: round}
	before := readUsage(r.workers())
	var errs [2]error
	run.Ends[measures], errs[0] = calls[measures].Result(2*d + patience)
	run.Others = readUsage(r.workers()).others(before)
	calls[serves].Stop()
	run.Ends[serves], errs[1] = calls[serves].Result(patience)
	for _, c := range company {
		c.Stop()
		sent, err := c.Result(patience)
		errs[1] = errors.Join(errs[1], err)
		if s.flood != nil {
			run.Flood = sent // the flood is the last one
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return Run{}, err
	}
	if err := credible(run.Ends[measures]); err != nil {
		return Run{}, err
	}
	return run, r.ctx.Err()
}

const (
	fewest  = 20               // round trips or messages make a measurement
	longest = 15 * time.Second // is a round that has to be repeated because it was none
)

// errIncredible is of a round that is no measurement.
var errIncredible = errors.New("no measurement")

// credible refuses what is no measurement, with errIncredible.
func credible(m load.Result) error {
	switch {
	case m.Count < fewest:
		return fmt.Errorf("%w: only %d were counted", errIncredible, m.Count)
	case m.Lost > m.Count/50:
		return fmt.Errorf("%w: %d of %d round trips had no answer", errIncredible, m.Lost, m.Count)
	}
	return nil
}

// startCompany starts what is to run meanwhile.
func (s *station) startCompany() (calls []*worker.Call, err error) {
	all := slices.Clone(s.burners)
	if s.flood != nil {
		all = append(all, s.flood)
	}
	for _, p := range all {
		c, err := p.Run(load.Job{Kind: load.Send})
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// close ends all processes and lets go of the bed, which is gone then.
func (s *station) close() {
	for _, p := range s.all {
		p.Close() // how it ended was said by its jobs
	}
	s.all = nil
	for _, g := range s.groups {
		g.remove()
	}
	if s.bed != nil {
		s.bed.Close()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}
