// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
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
	"github.com/utipc/utipc/internal/supervise"
)

func runUnmodified(_ context.Context, args []string, _ cmdline.Stdio) error {
	f := cmdline.NewFlags("run")
	library := f.String("library FILE", "", "the preload library (default: "+preloadLibrary+" beside utipc, else in the system's library folder)")
	socket := f.String("socket PATH", "", "the daemon's socket (default: $UTIPC_SOCKET, else "+defaultSocket+")")
	how := f.String("how WAY", howAuto, "auto, preload (the library), or seccomp (a supervisor, for what has no use for libraries)")
	// What follows the program's name is the program's own: cmdline.Parse would refuse its flags.
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return cmdline.HelpError{Flags: f}
	case err != nil:
		return cmdline.UsageError(err.Error())
	case f.NArg() == 0:
		return cmdline.UsageError("too few arguments")
	}
	if supervise.IsChild() {
		return supervise.Become(f.Args())
	}
	program, err := exec.LookPath(f.Arg(0))
	if err != nil {
		return err
	}
	way, err := chooseHow(*how, program)
	if err != nil {
		return err
	}
	os.Setenv("UTIPC_SOCKET", cmp.Or(*socket, os.Getenv("UTIPC_SOCKET"), defaultSocket))
	if way == howSeccomp {
		status, err := supervise.Run(os.Getenv("UTIPC_SOCKET"), program, []string{"run", "--"}, f.Args())
		switch {
		case err != nil:
			return fmt.Errorf("run %s: %w", program, err)
		case status != 0:
			return cmdline.Status(status)
		}
		return nil
	}
	lib, err := findPreload(*library)
	if err != nil {
		return err
	}
	if before := os.Getenv("LD_PRELOAD"); before != "" {
		lib += ":" + before
	}
	os.Setenv("LD_PRELOAD", lib)
	return fmt.Errorf("run %s: %w", program, syscall.Exec(program, f.Args(), os.Environ()))
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
