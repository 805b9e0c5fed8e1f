// SPDX-License-Identifier: Apache-2.0

package hop

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/daemon/plain"
	"github.com/utipc/utipc/internal/tun"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
)

// A DaemonConfig says what a daemon is.
type DaemonConfig struct {
	Path    string // of its socket
	Address stack.NodeAddr
	Bearers []stack.Bearer // the daemon's from then on; none: it is alone
	Wait    stack.WaitMode
	// TCP is what programs' TCP sockets have of it; an interface has its address. Its zero value is none.
	TCP plain.TCP
}

// A Daemon is a node that programs are attached to, as a load that does nothing else.
type Daemon struct {
	node   *stack.Node
	server *daemon.Server
	tun    *tun.Device // nil: none
	done   chan error
}

// unlimited is what one process may have here, that plays many.
var unlimited = daemon.Limits{Connections: -1, Names: -1, Subscriptions: -1, Calls: -1, Rings: -1}

// OpenDaemon starts a daemon.
func OpenDaemon(ctx context.Context, c DaemonConfig) (*Daemon, error) {
	n, err := stack.Open(ctx, stack.Config{Bearers: c.Bearers, NoBearers: len(c.Bearers) == 0, Address: c.Address, Wait: c.Wait, GoPoller: true, Tolerance: load.Tolerance})
	if err != nil {
		return nil, err
	}
	d := &Daemon{node: n, done: make(chan error, 1)}
	if d.server, err = daemon.New(n, daemon.Config{TCP: c.TCP, Quotas: daemon.Quotas{Process: unlimited, User: unlimited, Server: unlimited}}); err != nil {
		return nil, errors.Join(err, d.closeNode())
	}
	if c.TCP.Address.IsValid() {
		if d.tun, err = tun.Open(tunName, netip.PrefixFrom(c.TCP.Address, c.TCP.Prefix.Bits())); err != nil {
			return nil, errors.Join(err, d.shutdown(), d.closeNode())
		}
	}
	l, err := attach.Listen(c.Path, 0o600, -1)
	if err != nil {
		return nil, errors.Join(err, d.shutdown(), d.closeTUN(), d.closeNode())
	}
	go func() { d.done <- d.server.Serve(l) }()
	return d, nil
}

// Info implements load.Load.
func (d *Daemon) Info() load.Info { return load.Info{} }

// Run serves until it is told to stop. It counts programs' TCP connections with other nodes, and the bytes of these both ways.
func (d *Daemon) Run(ctx context.Context, _ load.Job) (load.Result, error) {
	before := d.server.Counters()
	<-ctx.Done()
	c := d.server.Counters()
	return load.Result{
		Count: c.TCPConnections - before.TCPConnections,
		Bytes: c.TCPBytesIn + c.TCPBytesOut - before.TCPBytesIn - before.TCPBytesOut,
	}, nil
}

// Close ends the daemon.
func (d *Daemon) Close() error {
	err := d.shutdown()
	<-d.done
	return errors.Join(err, d.closeTUN(), d.closeNode())
}

// tunName is the interface of TCP's address.
const tunName = "utipc0"

func (d *Daemon) closeTUN() error {
	if d.tun == nil {
		return nil
	}
	return d.tun.Close()
}

func (d *Daemon) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return d.server.Shutdown(ctx, "the measurement is over")
}

func (d *Daemon) closeNode() error {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	return d.node.Close(ctx)
}
