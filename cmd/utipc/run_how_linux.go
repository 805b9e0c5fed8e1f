// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/cmdline"
)

// The ways to serve a program.
const (
	howAuto    = "auto"
	howPreload = "preload"
	howSeccomp = "seccomp"
)

// chooseHow chooses the way for a program: that which is asked for, or which it needs. Errors: it is
// one that neither serves, or not the one asked for.
func chooseHow(asked, program string) (string, error) {
	switch asked {
	case howAuto, howPreload, howSeccomp:
	default:
		return "", cmdline.UsageError(fmt.Sprintf("--how %s is not a way (want %s, %s or %s)", asked, howAuto, howPreload, howSeccomp))
	}
	file, err := interpreter(program)
	if err != nil {
		return "", err
	}
	if why, err := gains(file); err != nil {
		return "", err
	} else if why != "" {
		return "", fmt.Errorf("%s gains rights when it is started (%s), with which it can be served neither by a library nor by a supervisor", file, why)
	}
	way, why, err := need(file)
	if err != nil {
		return "", err
	}
	if asked == howPreload && way == howSeccomp && why == static {
		return "", fmt.Errorf("%s is %s: no library can be loaded into it (want --how %s)", file, why, howSeccomp)
	}
	if asked == howAuto {
		return way, nil
	}
	return asked, nil
}

const static = "a static program"

// need is the way that a program needs, and what it is.
func need(file string) (way, what string, err error) {
	f, err := elf.Open(file)
	if err != nil {
		if errors.As(err, new(*elf.FormatError)) { // what exec refuses
			return howPreload, "", nil
		}
		return "", "", err
	}
	defer f.Close()
	if _, err := buildinfo.ReadFile(file); err == nil { // with cgo too it makes its own calls
		what = "a Go program"
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		if what != "" {
			return howSeccomp, what, nil
		}
		return howPreload, "a dynamic program", nil
	}
	return howSeccomp, static, nil
}

// mostInterpreters is how many a kernel goes through.
const mostInterpreters = 5

// interpreter is the program that a kernel runs: of a script the one of its first line.
func interpreter(path string) (string, error) {
	for range mostInterpreters {
		f, err := os.Open(path)
		if err != nil {
			if errors.Is(err, os.ErrPermission) { // it may be executed without being read
				return path, nil
			}
			return "", err
		}
		const mostLine = 256
		line, err := bufio.NewReader(io.LimitReader(f, mostLine)).ReadString('\n')
		f.Close()
		if err != nil && err != io.EOF {
			return "", err
		}
		words := strings.Fields(strings.TrimPrefix(line, "#!"))
		if !strings.HasPrefix(line, "#!") || len(words) == 0 {
			return path, nil
		}
		path = words[0]
	}
	return "", &os.PathError{Op: "run", Path: path, Err: syscall.ELOOP}
}

// gains says by what a program gains rights that this process has not; "": it gains none.
func gains(file string) (why string, err error) {
	var s unix.Stat_t
	if err := unix.Stat(file, &s); err != nil {
		return "", &os.PathError{Op: "stat", Path: file, Err: err}
	}
	switch {
	case s.Mode&unix.S_ISUID != 0 && int(s.Uid) != os.Geteuid():
		return "setuid", nil
	case s.Mode&unix.S_ISGID != 0 && s.Mode&unix.S_IXGRP != 0 && int(s.Gid) != os.Getegid():
		return "setgid", nil
	case os.Geteuid() == 0:
		return "", nil
	}
	if n, err := unix.Getxattr(file, "security.capability", nil); err == nil && n > 0 {
		return "file capabilities", nil
	}
	return "", nil
}
