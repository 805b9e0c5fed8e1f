// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/supervise"
)

func runUnmodified(_ context.Context, args []string, _ cmdline.Stdio) error {
	f := cmdline.NewFlags("run")
	library := f.String("library FILE", "", "the preload library (default: "+preloadLibrary+" beside utipc, else in the system's library folder)")
	socket := f.String("socket PATH", "", "the daemon's socket (default: $UTIPC_SOCKET, else "+defaultSocket+")")
	how := f.String("how WAY", howAuto, "auto, preload (the library), or seccomp (a supervisor, for what has no use for libraries)")
	// What follows the program's name is the program's own: cmdline.Parse would refuse its flags.
	tcp := f.String("tcp PREFIX", "", "TCP sockets of addresses of this network, as 10.99.0.0/16, are the daemon's as well; it has to have the same in its settings")
	node := f.String("node NODE", "", "with --tcp: the program has a node of its own for connections to other such programs: embedded:IFACE, a station on an interface, or embedded:udp:IP")
	lane := f.Bool("lane", false, "calls that wait look for what comes before they sleep: shorter round trips where cores are free")
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
	if *tcp != "" {
		if way == howSeccomp {
			return fmt.Errorf("%s: --tcp needs the preload library, which it has no use for", program)
		}
		if err := checkTCP(os.Getenv("UTIPC_SOCKET"), *tcp); err != nil {
			return err
		}
		os.Setenv("UTIPC_TCP", *tcp)
	}
	if *node != "" {
		if err := ownNode(*node, *tcp); err != nil {
			return err
		}
	}
	if *lane {
		if way == howSeccomp {
			return fmt.Errorf("%s: --lane needs the preload library, which it has no use for", program)
		}
		os.Setenv("UTIPC_LANE", "1")
	}
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

// checkTCP checks that the daemon has the prefix: its own one counts for programs.
func checkTCP(socket, text string) error {
	want, err := netip.ParsePrefix(text)
	if err != nil || !want.Addr().Is4() {
		return cmdline.UsageError(fmt.Sprintf("--tcp %s is no network of IPv4, as 10.99.0.0/16", text))
	}
	c, err := attach.Dial(context.Background(), socket)
	if err != nil {
		return err
	}
	defer c.Close()
	h := attach.Header{Op: attach.OpPlainTCP, ID: 1}
	if err = c.Write(&h, nil); err == nil {
		_, err = c.Read(&h, nil)
	}
	switch {
	case err != nil:
		return err
	case h.Errno == syscall.EOPNOTSUPP:
		return fmt.Errorf("the daemon has no addresses of TCP: tcp.prefix and tcp.ip in its settings give it some")
	case h.Errno != 0:
		return h.Errno
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], h.Arg0)
	if has := netip.PrefixFrom(netip.AddrFrom4(b), int(h.Arg1)); has != want.Masked() {
		return fmt.Errorf("--tcp %v: the daemon has %v", want, has)
	}
	return nil
}

// embedded is what the text of a program's own node begins with.
const embedded = "embedded:"

// ownNode has the preload library open a node in the program's process.
func ownNode(node, tcp string) error {
	if place, ok := strings.CutPrefix(node, embedded); !ok || place == "" {
		return cmdline.UsageError(fmt.Sprintf("--node %s is no node of a program's own (want %sIFACE, e.g. %seth1)", node, embedded, embedded))
	}
	if tcp == "" {
		return cmdline.UsageError("--node needs --tcp: other sockets are the daemon's")
	}
	if os.Getenv("UTIPC_LIBRARY") == "" {
		lib, err := findLibrary(cLibrary, "capi/build DIR makes one, and UTIPC_LIBRARY names it")
		if err != nil {
			return err
		}
		os.Setenv("UTIPC_LIBRARY", lib)
	}
	os.Setenv("UTIPC_NODE", node)
	return nil
}

// The file names of the preload library, and of the library that has a node.
const (
	preloadLibrary = "libutipc-preload.so"
	cLibrary       = "libutipc.so.0"
)

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
	return findLibrary(preloadLibrary, "preload/build FILE makes one, and --library FILE names it")
}

// findLibrary finds a library beside this program, or in the system's folder.
func findLibrary(name, remedy string) (string, error) {
	var tried []string
	if own, err := os.Executable(); err == nil {
		tried = append(tried, filepath.Join(filepath.Dir(own), name))
	}
	tried = append(tried, filepath.Join("/usr/lib", multiarch, name), filepath.Join("/usr/lib64", name)) // Debian's, RPM's
	for _, path := range tried {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no library %s at %s; %s", name, strings.Join(tried, ", "), remedy)
}
