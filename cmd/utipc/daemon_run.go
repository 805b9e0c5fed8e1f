// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	protocol "github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/settings"
	"github.com/utipc/utipc/internal/systemd"
	"github.com/utipc/utipc/internal/tun"
	"github.com/utipc/utipc/stack"
)

// A daemonProcess is a daemon that runs.
//
//	lock ──► bearers, node ──► socket, server ──► metrics ──► READY=1
//	SIGHUP: the settings again    SIGTERM: programs told, node closed, lock released
type daemonProcess struct {
	flags    *daemonFlags
	settings settings.Settings // those in force
	gid      int               // of the socket; -1: the daemon's own
	level    slog.LevelVar
	log      *slog.Logger
	notify   *systemd.Notifier
	node     *stack.Node
	keeper   *keeper // of the node's bearers
	server   *daemon.Server
	tun      *tun.Device // for programs that look for TCP's address; nil: none
	lock     *daemonLock
	listener atomic.Pointer[protocol.Listener] // nil: the socket is gone, and could not be made again
	served   chan error                        // gets why the listener has ended
	unserved bool                              // that is logged
	http     *metricsServer
	status   string // that was told last
	deaf     bool   // the service manager did not hear that
}

// run is the daemon, until ctx is done or the node ends.
func (p *daemonPlan) run(ctx context.Context, flags *daemonFlags, std cmdline.Stdio) (err error) {
	d := &daemonProcess{flags: flags, settings: p.settings, served: make(chan error, 1), gid: p.gid}
	d.setLevel()
	log := newLossyLog(std.Err, noteLost(d.handler))
	defer log.close()
	d.log = slog.New(d.handler(log))
	// A log's reader that ends costs the line. Without this the runtime ends the process at its
	// next line, and a service manager takes death by SIGPIPE for a clean end.
	signal.Ignore(syscall.SIGPIPE)
	defer signal.Reset(syscall.SIGPIPE)
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	if d.notify, err = systemd.New(); err != nil {
		d.log.Warn("the service manager is not told", "err", err)
	}
	defer d.notify.Close()
	if d.lock, err = lockSocket(p.settings.Socket.Path); err != nil {
		return err
	}
	defer func() { d.lock.release() }()
	if err := d.open(ctx, p); err != nil {
		return err
	}
	l, err := protocol.Listen(p.settings.Socket.Path, p.mode(), p.gid)
	if err != nil {
		return errors.Join(fmt.Errorf("socket: %w", err), d.close(context.Background()))
	}
	tcp, name := p.tcp()
	d.openInterface(name, netip.PrefixFrom(tcp.Address, tcp.Prefix.Bits()))
	if d.server, err = daemon.New(d.node, daemon.Config{Program: "utipc " + cmdline.Version(), Policy: &p.policy, Quotas: p.quotas(), Logger: d.log, TCP: tcp}); err != nil {
		return errors.Join(err, l.Close(), d.close(context.Background()))
	}
	d.serve(l)
	if err := d.serveMetrics(); err != nil {
		return errors.Join(err, d.stop())
	}
	d.log.Info("ready", "node", d.node.Addr().String(), "socket", p.settings.Socket.Path, "pid", os.Getpid())
	if all, err := d.node.Admin().Bearers(ctx); err == nil && len(all) == 0 {
		d.log.Warn("there is no bearer yet, the node speaks to nobody: name one in the settings, or use 'utipc bearer enable'")
	}
	d.status = d.describe()
	d.told(d.notify.Ready(d.status))
	err = d.wait(ctx, reload)
	d.told(d.notify.Stopping("telling programs and other nodes"))
	return errors.Join(err, d.stop())
}

// openInterface makes the interface of TCP. The daemon serves without one as well.
func (d *daemonProcess) openInterface(name string, address netip.Prefix) {
	if name == "" {
		return
	}
	var err error
	if d.tun, err = tun.Open(name, address); err != nil {
		d.log.Warn("no interface has the address of tcp.ip", "err", err)
	}
}

// handler writes the log as the settings ask for.
func (d *daemonProcess) handler(out io.Writer) slog.Handler {
	o := &slog.HandlerOptions{Level: &d.level}
	if d.settings.Log.Format == "json" {
		return slog.NewJSONHandler(out, o)
	}
	return slog.NewTextHandler(out, o)
}

func (d *daemonProcess) setLevel() {
	var l slog.Level
	if l.UnmarshalText([]byte(d.settings.Log.Level)) == nil {
		d.level.Set(l)
	}
}

// open opens the bearers and the node.
func (d *daemonProcess) open(ctx context.Context, p *daemonPlan) error {
	defer p.keys.Wipe() // the node has copies
	c, err := p.config()
	if err != nil {
		return err
	}
	if err := d.checkRights(); err != nil {
		return err
	}
	c.Logger = d.log
	d.keeper = newKeeper(d.log)
	c.OpenBearer = openBearer(p.settings.Node, d.keeper)
	if err := d.openNode(ctx, c, p.settings); err != nil {
		return err
	}
	d.keeper.keep(d.node)
	d.changeBearers(ctx, p.settings.Bearers) // those that could not be opened are wishes like others
	return nil
}

// openNode opens the node, on those bearers of the settings that can be opened now: so they
// all take part in the trial of its address.
func (d *daemonProcess) openNode(ctx context.Context, c stack.Config, s settings.Settings) error {
	plain := c
	c.Links = map[string]stack.LinkConfig{}
	var opened []settings.Bearer
	for _, b := range s.Bearers {
		dev, err := openSetBearer(b, s.Node)
		if err != nil {
			continue // the keeper tries it again, and says why
		}
		opened, c.Bearers = append(opened, b), append(c.Bearers, dev)
		c.Links[dev.Name()] = bearerConfig(b).LinkConfig
	}
	devices := c.Bearers
	var err error
	if d.node, err = stack.Open(ctx, c); err != nil && len(devices) > 0 && ctx.Err() == nil {
		opened = nil // one of them is at fault: each by itself, then
		d.node, err = stack.Open(ctx, plain)
	}
	if err != nil {
		return err
	}
	for i, b := range opened {
		kept := d.kept(b)
		kept.dev = devices[i]
		d.keeper.adopt(settingsWish(b), kept)
		logChoice(d.log, devices[i])
	}
	return nil
}

// wait does what is asked of the daemon until it is to end.
func (d *daemonProcess) wait(ctx context.Context, reload <-chan os.Signal) error {
	beat := time.NewTicker(d.beat())
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.node.Done():
			return fmt.Errorf("the node has ended: %w", d.node.Err())
		case err := <-d.served:
			return fmt.Errorf("the socket has ended: %w", err)
		case <-reload:
			d.reload(ctx)
		case <-beat.C:
			d.keepSocket()
			d.alive()
		}
	}
}

// longestBeat is how old the status may be that the service manager has.
const longestBeat = 10 * time.Second

// beat is how often the service manager is told.
func (d *daemonProcess) beat() time.Duration {
	if w := d.notify.Watchdog(); w > 0 {
		return min(w/3, longestBeat)
	}
	return longestBeat
}

// alive tells the watchdog that the node and the server answer: they have just done so,
// or it is not reached.
func (d *daemonProcess) alive() {
	if s := d.describe(); s != d.status {
		d.status = s
		d.told(d.notify.Status(s))
	}
	d.told(d.notify.Alive())
}

// describe says in a line how the daemon stands. It takes the locks of the node and of
// the server.
func (d *daemonProcess) describe() string {
	up := map[stack.NodeAddr]bool{}
	links, _ := d.node.Admin().Links(context.Background()) // of a node in this process it cannot fail
	for _, l := range links {
		if l.Up {
			up[l.Peer] = true
		}
	}
	return fmt.Sprintf("node %v, bearers: %d, other nodes: %d, programs: %d",
		d.node.Addr(), working(d.node), len(up), d.server.Counters().Clients)
}

// told notes that the service manager could not be told, once until it hears again.
func (d *daemonProcess) told(err error) {
	if err != nil && !d.deaf {
		d.log.Warn("the service manager does not hear", "err", err)
	}
	d.deaf = err != nil
}

// stop ends the daemon in the time that the settings give: attached programs are told,
// their names withdrawn, and other nodes told.
func (d *daemonProcess) stop() error {
	d.log.Info("stopping")
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(d.settings.Node.StopTimeout))
	defer cancel()
	if d.http != nil {
		d.http.close()
	}
	if err := d.server.Shutdown(ctx, "the daemon was stopped"); err != nil {
		d.log.Warn("programs were not all told", "err", err)
	}
	return d.close(ctx)
}

// close closes the node. What others did not acknowledge in time is no failure.
func (d *daemonProcess) close(ctx context.Context) error {
	d.keeper.close()
	if d.tun != nil {
		_ = d.tun.Close() // it goes with the process, at the latest
	}
	err := d.node.Close(ctx)
	var unsent *stack.UnsentError
	if errors.As(err, &unsent) {
		d.log.Warn("stopped before all was acknowledged", "err", err)
		return nil
	}
	return err
}
