// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/cores"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/station/remote"
)

// benchHostPort is where a host listens unless it is told otherwise.
const benchHostPort = "6119"

func benchHost(ctx context.Context, args []string, std cmdline.Stdio) error {
	f := cmdline.NewFlags("bench host")
	iface := f.String("if IFACE", "", "the interface that is measured")
	listen := f.String("listen ADDR", "", "where the other host connects to, with a port (default: the interface's address, port "+benchHostPort+")")
	secret := f.String("secret WORD", "", "what the other host must know (default: made up)")
	core := f.Int("core N", -1, "the core of all its processes (default: the first for what is measured, and two for burners)")
	quiet := f.Bool("quiet", false, "do not tell who connects")
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return err
	}
	if *iface == "" {
		return cmdline.UsageError("--if is missing")
	}
	ifi, err := net.InterfaceByName(*iface)
	if err != nil {
		return fmt.Errorf("%s: %w", *iface, err)
	}
	addr, err := remote.Address(ifi)
	if err != nil {
		return err
	}
	first, err := cores.First()
	if err != nil {
		return err
	}
	use := first[:]
	if *core >= 0 {
		use = []int{*core}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if *secret == "" {
		*secret = rand.Text()
	}
	if *listen == "" {
		*listen = net.JoinHostPort(addr, benchHostPort)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	out := std.Err
	if *quiet {
		out = io.Discard
	}
	m := station.ThisMachine(first)
	fmt.Fprintf(std.Out, "on the other host: utipc-lab bench KIND --host %s --secret %s --if IFACE\n", l.Addr(), *secret)
	return remote.Serve(ctx, l, remote.Config{
		Secret: *secret, Program: []string{self, "bench", "worker"}, Cores: use,
		Welcome: remote.Welcome{Iface: *iface, Addr: addr, MTU: ifi.MTU, CPU: m.CPU, Cores: len(use), Kernel: m.Kernel},
		Say:     func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) },
	})
}
