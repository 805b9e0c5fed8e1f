// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A layout is hosts, ranks on each, and what is run there.
type layout struct {
	name        string
	hosts, each int
	mtu         int
	jobs        []string // words of the command line of examples/mpi
	loaded      bool     // beside burners as well
	often       bool     // in a plan with few measurements too
}

const (
	sizesOfPingpong = 11
	pingpong        = "pingpong"
)

// layouts are all layouts. A host has a core, so that of four hosts two share one.
var layouts = []layout{
	{"2 hosts, a rank each", 2, 1, 1500, []string{pingpong, "halo:79", "halo:162", "intsort", "cg", "store"}, true, true},
	{"4 hosts, a rank each", 4, 1, 1500, []string{"halo:79", "intsort", "cg", "store", "migrate"}, true, false},
	{"2 hosts, 4 ranks each", 2, 4, 1500, []string{"halo:79", "intsort", "cg", "store", "migrate"}, false, true},
	{"2 hosts, a rank each, MTU 9000", 2, 1, 9000, []string{pingpong, "intsort"}, false, false},
}

// results is how many a run has.
func (l *layout) results() int {
	if slices.Contains(l.jobs, pingpong) {
		return len(l.jobs) - 1 + sizesOfPingpong
	}
	return len(l.jobs)
}

// A npb is a program of the NAS Parallel Benchmarks.
type npb struct {
	name, path, mpi string
	ranks           int
}

var npbName = regexp.MustCompile(`^([a-z]{2})\.([SW])\.(?:([0-9]+)|x)$`)

// findNPB finds programs of classes S and W in a folder: cg.S.x, as NPB 3.4 builds them, or cg.S.2, as older ones, which are for
// so many ranks. Those for other numbers of ranks than two are left out.
func findNPB(dir string) (all []npb, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.[SW].*"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		m := npbName.FindStringSubmatch(filepath.Base(path))
		if m == nil {
			continue
		}
		p := npb{name: m[1] + "." + m[2], path: path, ranks: 2}
		if m[3] != "" {
			if p.ranks, err = strconv.Atoi(m[3]); err != nil || p.ranks != 2 {
				continue
			}
		}
		if p.mpi, err = mpiOf(path); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no program of the NAS Parallel Benchmarks for two ranks, as cg.S.x or cg.S.2", dir)
	}
	return all, nil
}

// mpiOf says which MPI a program was built with.
func mpiOf(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return "", err
	}
	for _, l := range libraries {
		switch {
		case strings.HasPrefix(l, "libmpich"):
			return MPICH, nil
		case strings.HasPrefix(l, "libmpi"):
			return OpenMPI, nil
		}
	}
	return "", fmt.Errorf("%s is of no MPI: it needs %q", path, libraries)
}
