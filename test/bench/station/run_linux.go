// SPDX-License-Identifier: Apache-2.0

package station

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

// timeout is what a job may take longer than it was asked to.
const timeout = 30 * time.Second

// jobs are what the two ends do in one measurement.
func (x Exchange) jobs(serial uint32) (jobs [2]load.Job) {
	j := load.Job{Round: serial, Size: x.Size, Per: x.Per, For: x.For, Timed: x.Timed}
	kinds := [2]load.Kind{load.Ping, load.Pong}
	if x.OneWay {
		kinds = [2]load.Kind{load.Send, load.Receive}
	}
	for i := range jobs {
		jobs[i] = j
		jobs[i].Kind = kinds[i]
		if x.Profile != "" {
			jobs[i].Profile = fmt.Sprintf("%s-end%d.pprof", x.Profile, i)
		}
	}
	jobs[0].Offered = x.Offered
	return jobs
}

// Run measures once. The end that measures ends by itself; the others are stopped then.
// After an error other than ErrIncredible the station is to be closed.
func (st *Station) Run(x Exchange) (Run, error) {
	if _, ok := st.ground.(apart); ok && x.Timed {
		return Run{}, notHere("two hosts have two clocks")
	}
	company, err := st.startCompany(x)
	if err != nil {
		return Run{}, err
	}
	st.site.serial++ // also when a round is repeated
	jobs := x.jobs(st.site.serial)
	measures, serves := 0, 1
	if x.OneWay {
		measures, serves = 1, 0
	}
	var calls [2]*worker.Call
	for _, end := range []int{1, 0} {
		if calls[end], err = st.ends[end].Run(jobs[end]); err != nil {
			return Run{}, err
		}
	}
	defer context.AfterFunc(st.site.ctx, calls[measures].Stop)()
	var run Run
	before := ReadUsage(st.site.workers())
	var errs [2]error
	run.Ends[measures], errs[0] = calls[measures].Result(2*x.For + timeout)
	run.Others = ReadUsage(st.site.workers()).Others(before)
	calls[serves].Stop()
	run.Ends[serves], errs[1] = calls[serves].Result(timeout)
	for _, c := range company {
		c.Stop()
		sent, err := c.Result(timeout)
		errs[1] = errors.Join(errs[1], err)
		if st.flood != nil {
			run.Flood = sent // the flood is the last one
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return Run{}, err
	}
	if err := credible(run.Ends[measures], x); err != nil {
		return Run{}, err
	}
	return run, st.site.ctx.Err()
}

// longest is a round that has to be repeated because it was none.
const longest = time.Minute

// Turn is a Run in a round of several: on cores that others leave alone, as long as the
// site waits for that. Where others take the cores for longer than a round lasts, a longer
// one shows more: what is no measurement is repeated so, after again was told why.
func (st *Station) Turn(x Exchange, again func(error)) (Run, error) {
	s := st.site
	s.Settle()
	run, err := st.Run(x)
	for err == nil && run.Others > Busy && s.Wait > 0 { // once more, as long as there is time
		s.Wait -= x.For
		s.Settle()
		run, err = st.Run(x)
	}
	for x.For < longest && errors.Is(err, ErrIncredible) && s.ctx.Err() == nil {
		again(err)
		x.For = min(4*x.For, longest)
		run, err = st.Run(x)
	}
	return run, err
}

const (
	fewest = 20        // round trips or messages make a measurement,
	few    = 5         // when they are
	large  = 100 << 10 // as large as that, in bytes
)

// ErrIncredible is of a round that is no measurement.
var ErrIncredible = errors.New("no measurement")

// credible refuses what is no measurement, with ErrIncredible.
func credible(m load.Result, x Exchange) error {
	least := uint64(fewest)
	if x.Size >= large {
		least = few
	}
	switch {
	case m.Count < least:
		return fmt.Errorf("%w: only %d were counted", ErrIncredible, m.Count)
	case !x.OneWay && m.Lost > m.Count/50: // of datagrams one way, some may be
		return fmt.Errorf("%w: %d of %d round trips had no answer", ErrIncredible, m.Lost, m.Count)
	}
	return nil
}

// startCompany starts what is to run meanwhile.
func (st *Station) startCompany(x Exchange) (calls []*worker.Call, err error) {
	if x.Burners {
		if calls, err = st.site.burn(); err != nil {
			return nil, err
		}
	}
	if st.flood != nil {
		c, err := st.flood.Run(load.Job{Kind: load.Send})
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}
