// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"

	"github.com/utipc/utipc/internal/cores"
)

// Run runs the kernel once: it starts a process for each rank, waits for all, and returns
// what rank 0 found. Where there are two cores ranks take turns at them, one core each.
// Errors: of Options that cannot be, and whatever a rank said.
func (s *Site) Run(ctx context.Context, o Options) (Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Report{}, err
	}
	if err := s.fits(o.Ranks); err != nil {
		return Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if o.Burn {
		for i := range 2 {
			b, err := s.spawn(ctx, len(s.hosts)+i, i, Spec{Burn: true}, o.Nice)
			if err != nil {
				return Report{}, err
			}
			defer b.end()
		}
	}
	var wg sync.WaitGroup
	outcomes := make([]Outcome, o.Ranks)
	errs := make([]error, o.Ranks)
	for i := range o.Ranks {
		p, err := s.spawn(ctx, i, i, Spec{
			Kernel: o.Kernel.Name, Rank: i, Ranks: o.Ranks, Over: o.Over, Wait: o.Wait,
			Iface: s.iface(i), Hosts: s.hosts[:o.Ranks], Config: o.Config,
		}, o.Nice)
		if err != nil {
			cancel()
			wg.Wait()
			return Report{}, err
		}
		wg.Go(func() {
			if outcomes[i], errs[i] = p.outcome(); errs[i] != nil {
				errs[i] = fmt.Errorf("rank %d: %w", i, errs[i])
				cancel() // the others wait for this one
			}
		})
	}
	wg.Wait()
	return o.report(s.Where(), outcomes[0].Result), errors.Join(errs...)
}

// A process is a rank or a burner, seen from its parent.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer
	out  bytes.Buffer
	says bytes.Buffer
}

// spawn starts the process of place i, on the core whose turn it is.
func (s *Site) spawn(ctx context.Context, i, turn int, spec Spec, nice int) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, s.program[0], s.program[1:]...)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.says
	lead(p.cmd)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	start := func() error { return s.start(i, p.cmd) }
	if two, err := cores.First(); err == nil {
		start = func() error {
			return cores.On(two[turn%len(two)], func() error { return s.start(i, p.cmd) })
		}
	}
	if err := start(); err != nil {
		return nil, err
	}
	if nice != 0 {
		if err := cores.Prefer(p.cmd.Process.Pid, nice); err != nil {
			p.end()
			return nil, err
		}
	}
	b, err := json.Marshal(spec)
	if err == nil {
		_, err = in.Write(append(b, '\n'))
	}
	if err != nil {
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

// end ends the process and waits for it.
func (p *process) end() error {
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(p.says.Bytes()))
	}
	return nil
}

// outcome waits for the process to end by itself.
func (p *process) outcome() (o Outcome, err error) {
	err = p.cmd.Wait()
	if len(p.out.Bytes()) == 0 {
		return o, fmt.Errorf("it ended without a word: %w: %s", errors.Join(err, io.ErrUnexpectedEOF), bytes.TrimSpace(p.says.Bytes()))
	}
	if err := json.Unmarshal(p.out.Bytes(), &o); err != nil {
		return o, err
	}
	if o.Error != "" {
		return o, errors.New(o.Error)
	}
	return o, err
}
