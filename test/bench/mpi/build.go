// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Where the sources are, in a checkout.
const (
	sources = "examples/mpi"
	library = "preload/build"
	capi    = "capi/build"
)

// Compile compiles the programs in the folder src for an MPI, into the file out.
func Compile(ctx context.Context, mpi, src, out string) error {
	cc, from := compilers[mpi][0], compilers[mpi][1]
	if _, err := exec.LookPath(cc); err != nil {
		return missing(cc, from)
	}
	files, err := filepath.Glob(filepath.Join(src, "*.c"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there are no sources in %s", src)
	}
	args := append([]string{"-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", out}, files...)
	said, err := exec.CommandContext(ctx, cc, append(args, "-lm")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", cc, err, last(said))
	}
	return nil
}

// buildPreload builds the preload library into a folder.
func buildPreload(ctx context.Context, root, dir string) (path string, err error) {
	path = filepath.Join(dir, "libutipc-preload.so")
	return path, build(ctx, root, library, path)
}

// buildNode builds the library that has a node into a folder.
func buildNode(ctx context.Context, root, dir string) (path string, err error) {
	return filepath.Join(dir, "libutipc.so.0"), build(ctx, root, capi, "--quick", dir)
}

// build runs one of the checkout's programs.
func build(ctx context.Context, root, program string, args ...string) error {
	if said, err := exec.CommandContext(ctx, filepath.Join(root, program), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, last(said))
	}
	return nil
}

// last is the end of what a program said, on one line.
func last(b []byte) string {
	const enough = 600
	s := strings.Join(strings.Fields(string(b)), " ")
	return s[max(0, len(s)-enough):]
}
