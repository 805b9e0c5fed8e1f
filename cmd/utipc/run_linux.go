// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/utipc/utipc/internal/cmdline"
)

func runUnmodified(_ context.Context, args []string, _ cmdline.Stdio) error {
	f := cmdline.NewFlags("run")
	library := f.String("library FILE", "", "the preload library (default: "+preloadLibrary+" beside utipc, else in the system's library folder)")
	socket := f.String("socket PATH", "", "the daemon's socket (default: $UTIPC_SOCKET, else "+defaultSocket+")")
	// What follows the program's name is the program's own: cmdline.Parse would refuse its flags.
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return cmdline.HelpError{Flags: f}
	case err != nil:
		return cmdline.UsageError(err.Error())
	case f.NArg() == 0:
		return cmdline.UsageError("too few arguments")
	}
	lib, err := findPreload(*library)
	if err != nil {
		return err
	}
	program, err := exec.LookPath(f.Arg(0))
	if err != nil {
		return err
	}
	if err := checkDynamic(program); err != nil {
		return err
	}
	if before := os.Getenv("LD_PRELOAD"); before != "" {
		lib += ":" + before
	}
	os.Setenv("LD_PRELOAD", lib)
	os.Setenv("UTIPC_SOCKET", cmp.Or(*socket, os.Getenv("UTIPC_SOCKET"), defaultSocket))
	if err := syscall.Exec(program, f.Args(), os.Environ()); err != nil {
		return fmt.Errorf("run %s: %w", program, err)
	}
	return nil
}

// preloadLibrary is the file name of the preload library.
const preloadLibrary = "libutipc.so"

// multiarch is the name of this architecture's folder under /usr/lib, as Debian has it.
var multiarch = map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]

// findPreload finds the preload library.
func findPreload(given string) (string, error) {
	if given != "" {
		path, err := filepath.Abs(given)
		if err == nil {
			_, err = os.Stat(path)
		}
		return path, err
	}
	var tried []string
	if own, err := os.Executable(); err == nil {
		tried = append(tried, filepath.Join(filepath.Dir(own), preloadLibrary))
	}
	tried = append(tried, filepath.Join("/usr/lib", multiarch, preloadLibrary))
	for _, path := range tried {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no preload library at %s; preload/build FILE makes one, and --library FILE names it", strings.Join(tried, ", "))
}

// checkDynamic refuses static programs: no library can be loaded into them.
func checkDynamic(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		// A script, whose interpreter is a program of its own, or what exec refuses.
		if errors.As(err, new(*elf.FormatError)) {
			return nil
		}
		return err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return nil
		}
	}
	return fmt.Errorf("%s is a static program: these cannot be served yet (no library can be loaded into them)", path)
}
