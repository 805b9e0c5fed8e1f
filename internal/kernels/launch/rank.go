// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/ranks"
	"github.com/utipc/utipc/stack"
)

// A Spec tells a process what it is to be.
type Spec struct {
	Burn   bool          `json:"burn,omitempty"` // no rank: a loop that burns its core
	Kernel string        `json:"kernel"`
	Rank   int           `json:"rank"`
	Ranks  int           `json:"ranks"`
	Over   string        `json:"over"`
	Wait   string        `json:"wait"`
	Iface  string        `json:"iface,omitempty"` // of its namespace; empty: UDP between Hosts
	Hosts  []string      `json:"hosts"`           // IPv4 addresses of all ranks
	Config kernel.Config `json:"config"`
}

// An Outcome is what a rank says at its end.
type Outcome struct {
	Result kernel.Result `json:"result"`
	Error  string        `json:"error,omitempty"`
}

// Rank is a process's life as one rank, or as a burner: it does what the first line of in
// says and ends, at the latest when in does. find knows the kernels.
func Rank(ctx context.Context, in io.Reader, out io.Writer, find func(name string) (kernel.Kernel, bool)) error {
	lines := bufio.NewReader(in)
	first, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	var s Spec
	if err := json.Unmarshal(first, &s); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process
		lines.ReadByte()
		cancel()
	}()
	if s.Burn {
		burn(ctx)
		return nil
	}
	k, ok := find(s.Kernel)
	if !ok {
		return fmt.Errorf("no kernel is called %q", s.Kernel)
	}
	var o Outcome
	open := func() (stack.Bearer, error) {
		if s.Iface == "" {
			return openUDP(s)
		}
		return openInterface(s.Iface)
	}
	err = enter(ctx, s, k, open, func(p ranks.Place) (err error) {
		o.Result, err = k.Run(ctx, p, s.Config)
		return err
	})
	if err != nil {
		o.Error = err.Error()
	}
	return json.NewEncoder(out).Encode(o)
}

// burn uses all of its core that it gets.
func burn(ctx context.Context) {
	for ctx.Err() == nil {
	}
}
