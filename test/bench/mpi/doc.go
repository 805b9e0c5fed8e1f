// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package mpi measures Open MPI and MPICH, unmodified, over programs' TCP sockets of this stack, and over the kernel's TCP.
//
//	Way      how ranks exchange messages: which MPI, which transport, over whose TCP
//	layout   hosts, and ranks on each; what is run there
//	ground   namespaces on one network, with a daemon each or addresses of the kernel's
//	traffic  what went by daemons and ranks' nodes, and whether that is what was sent
//	agent    a program in the place of ssh, by which launchers start ranks on a host
//	take     what was measured: each way has its turn in each round
//
// The programs are those of examples/mpi, which check what they work out, and Debian's HPCC. To add a way, add a line to Ways.
package mpi

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/utipc/utipc/test/bench/figure"
	"github.com/utipc/utipc/test/bench/report"
)

// Options are those of the measurement beyond a report's.
type Options struct {
	Library string // the preload library; empty: it is built from the checkout in which this runs
	NPB     string // a folder with programs of the NAS Parallel Benchmarks; empty: these are not run
	// Layouts are those that are measured, by their titles as the tables have them: hosts, ranks, and whether cores are idle. Nil: all.
	Layouts *regexp.Regexp
}

// Kind is the measurement, with options that may be set until it begins.
func Kind(o *Options) report.Kind {
	return report.Kind{
		Name: "mpi", Title: "Programs of MPI", Ends: true, How: how,
		Measure: func(b *report.Bench) (figure.Section, error) { return measure(b, o) },
	}
}

const how = `Debian's Open MPI and MPICH, unmodified, run the programs of examples/mpi: a ping-pong, and five kernels of docs/explanation/kernels.md
in C. Each checks what it has worked out; a run that fails its check, or does not end, is an error here. A host is a
network namespace, whose processes share one core: two hosts have a cable, four a bridge. MTU 1500 where no other is said.

"utipc" means that the ranks' TCP sockets are those of the host's daemon, as by utipc run --tcp: a rank writes to the
daemon, a process on the same core, which sends frames. On these hosts the kernel has no way to the other ones, and the daemons' counters have to show
what was sent: a silent return to the kernel's TCP is an error. "TCP" is the kernel's, with cubic and offloads. "UCX" and "libfabric" are Open MPI's
other ways over the kernel's TCP. Debian's MPICH has UCX alone, over either.

"Node in rank" means that each rank has a node of its own in its process, as by utipc run --tcp --node embedded:IF, and sends frames itself; the
launcher's connections are the daemons'. Each rank has to say that its node carried its messages, and the daemons'
counters that these carried none: a return to the daemons is an error.

Ranks of MPI spin while they wait, and a daemon that has to share their core waits until the scheduler takes it from them. "Yields"
is mpi_yield_when_idle, which is for machines with fewer cores than processes: with a daemon on the rank's core
this is one. It is measured over both. Open MPI does so by itself where it starts more ranks on a host than that has cores; UCX and MPICH
do not.

A round trip of the ping-pong is the median one. A kernel's time of a step is the mean, and its rate that of all steps; below, medians of
steps are compared as well, which say what a step takes that nobody has interrupted.

All ways take turns, round by round, each started anew. Ratios and percentages are of neighbouring runs, against the same MPI over TCP that
spins, as it comes. Beside burners a busy process runs on each core meanwhile.`

// measure takes the whole measurement.
func measure(b *report.Bench, o *Options) (s figure.Section, err error) {
	if b.Site.Memory || b.Site.Host != "" {
		return s, errors.New("MPI is measured between network namespaces alone")
	}
	t := newTake(b)
	t.layouts = o.Layouts
	defer t.close()
	if err := t.prepare(o); err != nil {
		return s, err
	}
	t.rounds()
	s = t.section()
	if o.NPB == "" {
		s.Says = append(s.Says, "NAS Parallel Benchmarks: not run, as --npb names no folder with their programs; they are not in Debian.")
	}
	return s, nil
}

func company(burn bool) string {
	if burn {
		return "a CPU burner on each core"
	}
	return "cores idle"
}

// missing is of a program that a package of Debian has.
func missing(what, from string) error { return fmt.Errorf("there is no %s: install %s", what, from) }
