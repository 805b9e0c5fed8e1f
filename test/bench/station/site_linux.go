// SPDX-License-Identifier: Apache-2.0

package station

import (
	"context"
	"slices"
	"time"

	"github.com/utipc/utipc/internal/cores"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

// A Site is where stations are opened. It is used by one goroutine.
type Site struct {
	Options
	Cores [2]int // those of the two ends

	ctx      context.Context
	place    place
	stations []*Station        // open
	burners  []*worker.Process // one a core, from when they are first wanted
	more     []*worker.Process // of Start
	serial   uint32            // of the latest measurement
}

// NewSite is a site until ctx is done. Errors: of a machine with less than two cores; an
// os.ErrPermission where namespaces may not be made; those of another host.
func NewSite(ctx context.Context, o Options) (*Site, error) {
	s := &Site{Options: o, ctx: ctx}
	var err error
	if s.Cores, err = cores.First(); err != nil {
		return nil, err
	}
	if s.place, err = o.place(); err != nil {
		return nil, err
	}
	return s, nil
}

// String says where the two ends are.
func (s *Site) String() string { return s.place.String() }

// Shared reports whether stations share interfaces: then only one may be open at a time.
func (s *Site) Shared() bool { return s.place.shared() }

// MTU is that of all variants; 0: each has its own.
func (s *Site) MTU() int { return s.place.mtu() }

// Close closes all stations and ends all processes.
func (s *Site) Close() {
	for len(s.stations) > 0 {
		s.stations[0].Close()
	}
	for _, p := range append(s.burners, s.more...) {
		p.Close() // how it ended was said by its jobs
	}
	s.burners, s.more = nil, nil
}

// Start starts a worker of no station on a core, by in, which goes where it is to live. It is closed with the site.
func (s *Site) Start(core int, in func(func() error) error) (*worker.Process, error) {
	p, err := s.start(s.Program, core, in)
	if p != nil {
		s.more = append(s.more, p)
	}
	return p, err
}

// Burn has a busy process run on each core until stop is called, which is to be called after an error as well.
func (s *Site) Burn() (stop func(), err error) {
	calls, err := s.burn()
	return func() {
		for _, c := range calls {
			c.Stop()
			c.Result(timeout) // what a burner counts is of no use
		}
	}, err
}

// Settle waits until others leave the cores alone, as long as Wait lasts.
func (s *Site) Settle() {
	const look = 40 * time.Millisecond
	for s.Wait > 0 && s.ctx.Err() == nil {
		before := ReadUsage(s.workers())
		t := time.NewTimer(look)
		select {
		case <-t.C:
		case <-s.ctx.Done():
		}
		t.Stop()
		s.Wait -= look
		if ReadUsage(s.workers()).Others(before) <= Busy {
			return
		}
	}
}

// Usage is the processor time up to now; what the site's processes use is not others'. It
// may be asked of no site.
func (s *Site) Usage() Usage {
	if s == nil {
		return ReadUsage(nil)
	}
	return ReadUsage(s.workers())
}

// workers are the processes of the site.
func (s *Site) workers() (pids []int) {
	judged := false
	for _, st := range s.stations {
		for _, p := range st.all {
			pids = append(pids, p.PID())
		}
		judged = judged || st.v.Ends[0].Judge()
	}
	if judged {
		pids = append(pids, children(pids)...)
	}
	for _, p := range append(s.burners, s.more...) {
		pids = append(pids, p.PID())
	}
	return pids
}

// burn has a busy process run on each core until the calls are stopped.
func (s *Site) burn() (calls []*worker.Call, err error) {
	if s.burners == nil {
		if s.burners, err = s.place.burn(s); err != nil {
			return nil, err
		}
		for _, p := range s.burners {
			if _, err := p.Open(worker.Open{Load: worker.Burn}); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range s.burners {
		c, err := p.Run(load.Job{Kind: load.Send})
		if err != nil {
			return calls, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// forget is what a station that closes calls.
func (s *Site) forget(st *Station) {
	s.stations = slices.DeleteFunc(s.stations, func(other *Station) bool { return other == st })
}
