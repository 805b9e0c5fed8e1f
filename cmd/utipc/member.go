// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/keyflags"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/tap"
	"github.com/utipc/utipc/xdp"
)

// A member is the flags of a command that is a node for as long as it runs.
type member struct {
	iface, driver, address, identity, tapFile string
	udp                                       udpFlags
	keys                                      keyflags.Keys
	netID                                     uint
	tolerance                                 time.Duration
	verbose                                   bool
}

func (m *member) flags(f *cmdline.Flags) {
	f.StringVar(&m.iface, "if IFACE", "", "the Ethernet interface to speak TIPC on")
	f.StringVar(&m.driver, "driver auto|af_xdp|af_packet", xdp.Auto.String(), "auto is the better that can be had; 'utipc doctor IFACE' tells which that is")
	m.udp.flags(f)
	f.StringVar(&m.address, "address ADDR", "", "the node's address, hexadecimal (1001001) or 1.1.1")
	f.StringVar(&m.identity, "identity ID", "", "the node's identity, up to 16 characters or 32 hexadecimal digits; with neither, it is the interface's MAC address")
	f.UintVar(&m.netID, "netid N", 0, "the cluster's number, 1 to 9999 (default 4711)")
	f.DurationVar(&m.tolerance, "tolerance D", 0, "how long a peer may be silent, 50ms to 30s (default 1.5s)")
	m.keys.Declare(f)
	f.StringVar(&m.tapFile, "tap FILE", "", "record all frames in a pcapng file")
	f.BoolVar(&m.verbose, "verbose", false, "log links and nodes that come and go, not only what is wrong")
	f.Text("\nThe flags stand before what follows them. A file of --tap is complete when the\ncommand has ended.\n")
}

// open makes this process a node as the flags say. The node's Close ends it, and
// finish closes what it leaves open.
func (m *member) open(ctx context.Context, std cmdline.Stdio) (n *stack.Node, finish func() error, err error) {
	if m.iface == "" && m.udp.ends == "" {
		return nil, nil, cmdline.UsageError("neither --if nor --udp is given")
	}
	if m.iface != "" && m.udp.ends != "" {
		return nil, nil, cmdline.UsageError("--if and --udp do not go together: a node has one bearer")
	}
	if m.netID > 9999 {
		return nil, nil, cmdline.UsageError("--netid is not in 1 to 9999")
	}
	if m.tolerance != 0 && (m.tolerance < flowctl.MinTolerance || m.tolerance > flowctl.MaxTolerance) {
		return nil, nil, cmdline.UsageError("--tolerance is not in 50ms to 30s")
	}
	cfg := stack.Config{NetID: uint32(m.netID), Tolerance: m.tolerance}
	if m.address != "" {
		if cfg.Address, err = stack.ParseNodeAddr(m.address); err != nil || cfg.Address == 0 {
			return nil, nil, cmdline.UsageError(fmt.Sprintf("--address %q is no address such as 1.1.1 or 1001001", m.address))
		}
	}
	if m.identity != "" {
		if cfg.Identity, err = stack.ParseIdentity(m.identity); err != nil {
			return nil, nil, cmdline.UsageError(fmt.Sprintf("--identity %q is no identity (want up to 16 characters, or 32 hexadecimal digits)", m.identity))
		}
	}
	driver, err := xdp.ParseDriver(m.driver)
	if err != nil {
		return nil, nil, cmdline.UsageError(fmt.Sprintf("--driver %q is not auto, af_xdp or af_packet", m.driver))
	}
	if err := m.keys.Read(std.In); err != nil {
		return nil, nil, err
	}
	defer m.keys.Wipe() // the node has copies
	cfg.Encryption = m.keys.Encryption()
	level := slog.LevelWarn
	if m.verbose {
		level = slog.LevelInfo
	}
	cfg.Logger = slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: level}))
	for _, w := range m.keys.Warnings() {
		cfg.Logger.Warn(w)
	}
	carrier, err := m.carrier(driver)
	if err != nil {
		return nil, nil, err
	}
	dev := carrier
	finish = func() error { return nil }
	if m.tapFile != "" {
		f, err := os.Create(m.tapFile)
		if err != nil {
			carrier.Close()
			return nil, nil, err
		}
		w := bufio.NewWriter(f)
		dev = tap.New(dev, w, tap.Config{})
		finish = func() error { return errors.Join(w.Flush(), f.Close()) }
	}
	cfg.Bearers = []stack.Bearer{dev}
	if n, err = stack.Open(ctx, cfg); err != nil {
		finish()
		return nil, nil, err
	}
	logChoice(cfg.Logger, carrier)
	return n, finish, nil
}

// logChoice tells once which driver was chosen, and why not the others. Only once
// the node is open it is final.
func logChoice(l *slog.Logger, b stack.Bearer) {
	c, ok := b.(xdp.Bearer)
	if !ok {
		l.Info("carrier opened", "bearer", b.Name(), "carrier", b)
		return
	}
	l.Info("driver chosen", "bearer", c.Name(), "driver", c.Method(), "reason", c.Reason())
	for _, r := range c.Why() {
		l.Info("driver refused", "bearer", c.Name(), "driver", r.Method, "reason", r.Reason)
	}
}

// closeTimeout is how long a command waits at its end for others to acknowledge.
const closeTimeout = 2 * time.Second

// close ends the node: its names are withdrawn, the others told.
func closeMember(n *stack.Node, finish func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := n.Close(ctx)
	if u := (*stack.UnsentError)(nil); errors.As(err, &u) && u.Packets == 0 && ctx.Err() == nil {
		err = nil // programs elsewhere left while something was on its way to them
	}
	return errors.Join(err, finish())
}

// serviceArg reads a service address from the command line.
func serviceArg(s string) (stack.Service, error) {
	a, err := stack.ParseAddr(s)
	if err == nil {
		if svc, ok := a.(stack.Service); ok {
			return svc, nil
		}
	}
	return stack.Service{}, cmdline.UsageError(fmt.Sprintf("%q is no service address such as 18888:17", s))
}

// bindArg reads a service address or range from the command line.
func bindArg(s string) (net.Addr, error) {
	a, err := stack.ParseAddr(s)
	if err == nil {
		switch a := a.(type) {
		case stack.Service:
			if a.Node == 0 {
				return a, nil
			}
		case stack.Range:
			return a, nil
		}
	}
	return nil, cmdline.UsageError(fmt.Sprintf("%q is no service such as 18888:17 or 18888:0-99", s))
}
