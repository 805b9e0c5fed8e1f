// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	ownModule  = "github.com/utipc/utipc"
	peersPlace = "test/bench/peers" // in a checkout
	nngHeader  = "/usr/include/nng/nng.h"
)

// A peersProgram is the program that has the loads of other systems.
type peersProgram struct {
	path     string // empty: there is none
	noZeroMQ bool
	noNNG    bool
	missing  []string // what it lacks, each with the command that mends it
}

// findPeers finds the program: at path, if that is not empty, else it is built from the
// checkout in which this runs, into the user's cache. Built again it takes a second.
func findPeers(ctx context.Context, path string) (p peersProgram) {
	lacks := func(format string, args ...any) peersProgram {
		p.missing = append(p.missing, fmt.Sprintf(format, args...))
		return p
	}
	if path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return lacks("gRPC, ZeroMQ, nng, NATS: %v; go build -C %s -o %s . in a checkout makes it", err, peersPlace, path)
		}
		if p.path, err = filepath.Abs(found); err != nil {
			return lacks("gRPC, ZeroMQ, nng, NATS: %v", err)
		}
		return p
	}
	root, err := Checkout(ctx)
	if err != nil {
		return lacks("gRPC, ZeroMQ, nng, NATS: %v: run this in a checkout of the project, with Go at hand, or build them there, "+
			"go build -C %s -o utipc-peers . and name the program with --peers", err, peersPlace)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return lacks("gRPC, ZeroMQ, nng, NATS: no place for their program: %v: set HOME, or name one with --peers", err)
	}
	out := filepath.Join(cache, "utipc", "peers")
	var tags []string
	if err := exec.CommandContext(ctx, "pkg-config", "--exists", "libzmq").Run(); err != nil {
		tags, p.noZeroMQ = append(tags, "nozmq"), true
		p = lacks("ZeroMQ: no libzmq to build with: apt-get install libzmq3-dev pkg-config gcc")
	}
	if _, err := os.Stat(nngHeader); err != nil {
		tags, p.noNNG = append(tags, "nonng"), true
		p = lacks("nng: no libnng to build with: apt-get install libnng-dev gcc")
	}
	build := exec.CommandContext(ctx, "go", "build", "-C", filepath.Join(root, peersPlace), "-tags", strings.Join(tags, ","), "-o", out, ".")
	if said, err := build.CombinedOutput(); err != nil {
		return lacks("gRPC, ZeroMQ, nng, NATS: %v: %v: %s", build, err, last(said))
	}
	p.path = out
	return p
}

// Checkout is the root of the project's source in which this runs.
func Checkout(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("no Go, or no module here (%w)", err)
	}
	name, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if name != ownModule {
		return "", fmt.Errorf("the module here is %s", name)
	}
	if _, err := os.Stat(filepath.Join(dir, peersPlace, "go.mod")); err != nil {
		return "", err
	}
	return dir, nil
}

// last is the end of what a program said, on one line.
func last(b []byte) string {
	const enough = 400
	s := strings.Join(strings.Fields(string(b)), " ")
	return s[max(0, len(s)-enough):]
}
