// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

// A traffic is what went by a daemon, or by a rank's own node, while something ran.
type traffic struct{ connections, bytes uint64 }

// count counts what goes by each daemon until the function that it returns is called.
func (g *ground) count() (end func() ([]traffic, error), err error) {
	var calls []*worker.Call
	for _, p := range g.daemons {
		c, err := p.Run(load.Job{Kind: load.Receive})
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return func() (all []traffic, err error) {
		for _, c := range calls {
			c.Stop()
		}
		for _, c := range calls {
			r, e := c.Result(time.Minute)
			all, err = append(all, traffic{r.Count, r.Bytes}), errors.Join(err, e)
		}
		return all, err
	}, nil
}

// errFellBack is of a run whose messages did not go the way that is measured.
var errFellBack = errors.New("messages went another way")

// checkTraffic checks that so many bytes of messages went by each of so many daemons, over connections with other hosts.
func checkTraffic(all []traffic, daemons int, bytes uint64) error {
	if len(all) != daemons {
		return fmt.Errorf("%w: there are %d daemons, want %d", errFellBack, len(all), daemons)
	}
	for i, t := range all {
		if t.connections < 2 || t.bytes < bytes {
			return fmt.Errorf("%w: daemon %d has seen %d connections and %d bytes of %d or more", errFellBack, i, t.connections, t.bytes, bytes)
		}
	}
	return nil
}

// launching is how many bytes at most a daemon carries for the launcher, of each rank: what starts it, and what it prints.
const launching = 64 << 10

var ownNode = regexp.MustCompile(`utipc: node [0-9a-f]+ had (\d+) connections, (\d+) bytes in, (\d+) out\n`)

// nodes is what went by the nodes of ranks, as these said at their ends.
func nodes(out string) (all []traffic) {
	for _, m := range ownNode.FindAllStringSubmatch(out, -1) {
		var n [3]uint64
		for i := range n {
			n[i], _ = strconv.ParseUint(m[1+i], 10, 64)
		}
		all = append(all, traffic{n[0], n[1] + n[2]})
	}
	return all
}

// checkNodes checks that messages went by the ranks' own nodes: of hosts with so many ranks each, so many bytes by each host's. The
// daemons carried what the launcher says, and no more. Ranks that were killed, as they did not end, say nothing.
func checkNodes(daemons []traffic, out string, hosts, each int, bytes uint64, ended bool) error {
	if len(daemons) != hosts {
		return fmt.Errorf("%w: there are %d daemons, want %d", errFellBack, len(daemons), hosts)
	}
	most := uint64(hosts*each) * launching
	for i, t := range daemons {
		if t.connections == 0 || t.bytes > most {
			return fmt.Errorf("%w: daemon %d has carried %d bytes over %d connections; the launcher has one or more, and at most %d bytes", errFellBack, i, t.bytes, t.connections, most)
		}
	}
	if !ended {
		return nil
	}
	all, sum := nodes(out), uint64(0)
	for _, t := range all {
		sum += t.bytes
		if t.connections == 0 {
			return fmt.Errorf("%w: a rank's node had no connection", errFellBack)
		}
	}
	if len(all) != hosts*each || sum < uint64(hosts)*bytes {
		return fmt.Errorf("%w: %d nodes of %d ranks have carried %d bytes of %d or more", errFellBack, len(all), hosts*each, sum, uint64(hosts)*bytes)
	}
	return nil
}
