// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/utipc/utipc/daemon/bearers"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/xdp"
)

// A keeper keeps the bearers of a node as they are wanted: it carries out what a
// bearers.Reconciler asks for, and tells the node how they stand.
type keeper struct {
	log   *slog.Logger
	node  *stack.Node
	start time.Time
	news  chan struct{} // gets one when interfaces have changed
	calls chan func()   // done by the goroutine
	stop  context.CancelFunc
	done  chan struct{}

	// The goroutine's own.
	r     *bearers.Reconciler
	kept  map[string]*keptBearer
	blind bool // the last look found nothing out
}

// A keptBearer is how a bearer's device is opened, and the device.
type keptBearer struct {
	open   func() (netdev.Device, error)
	config admin.BearerConfig // what its links begin with
	dev    netdev.Device      // nil: there is none
}

func newKeeper(log *slog.Logger) *keeper {
	return &keeper{
		log: log, start: time.Now(), news: make(chan struct{}, 1), calls: make(chan func()), done: make(chan struct{}),
		r: bearers.New(0), kept: map[string]*keptBearer{},
	}
}

// keep begins to keep the bearers of a node, until close.
func (k *keeper) keep(n *stack.Node) {
	k.node = n
	var ctx context.Context
	ctx, k.stop = context.WithCancel(context.Background())
	watch, err := xdp.WatchNews(k.tell)
	if err != nil {
		k.log.Warn("interfaces not watched", "err", err, "look_every", bearers.LookEvery)
	}
	go k.run(ctx, watch)
}

// close ends it. What it keeps stays as it is.
func (k *keeper) close() {
	if k.stop == nil {
		return
	}
	k.stop()
	<-k.done
}

// working counts the bearers that have a device.
func working(n *stack.Node) int {
	all, _ := n.Admin().Bearers(context.Background()) // of a node in this process it cannot fail
	return len(slices.DeleteFunc(all, func(b admin.BearerStatus) bool { return b.Waiting() }))
}

// tell says that interfaces have changed.
func (k *keeper) tell() {
	select {
	case k.news <- struct{}{}:
	default:
	}
}

func (k *keeper) now() time.Duration { return time.Since(k.start) }

func (k *keeper) run(ctx context.Context, watch io.Closer) {
	defer close(k.done)
	if watch != nil {
		defer watch.Close()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		k.act(ctx)
		timer.Reset(max(k.r.Deadline()-k.now(), 0))
		select {
		case <-ctx.Done():
			return
		case <-k.news:
			k.r.News(k.now())
		case call := <-k.calls:
			call()
		case <-timer.C:
			k.r.HandleTimeout(k.now())
		}
	}
}

// do has the goroutine do something, and waits for it.
func (k *keeper) do(call func()) {
	did := make(chan struct{})
	select {
	case k.calls <- func() { defer close(did); call() }:
		<-did
	case <-k.done:
	}
}

// adopt takes over a bearer whose device is open.
func (k *keeper) adopt(w bearers.Wish, b *keptBearer) {
	k.kept[w.ID] = b
	k.r.Adopt(k.now(), w)
}

// want makes the bearers of the settings what they are in all, and returns why some cannot be.
func (k *keeper) want(ctx context.Context, all []bearers.Wish, kept map[string]*keptBearer) (failed []error) {
	k.do(func() {
		for id, b := range kept {
			if was := k.kept[id]; was != nil {
				b.dev = was.dev
			}
			k.kept[id] = b
		}
		k.r.Want(k.now(), all)
		k.r.Retry(k.now())
		k.r.HandleTimeout(k.now())
		for k.act(ctx); k.r.Deadline() <= k.now(); k.act(ctx) {
			k.r.HandleTimeout(k.now())
		}
		k.r.Statuses(func(w bearers.Wish, s bearers.Status, _ bearers.Facts) {
			if _, ok := kept[w.ID]; ok && s.State == bearers.Waiting {
				_, name, _ := strings.Cut(w.ID, ":")
				failed = append(failed, fmt.Errorf("bearer %s: %s", name, s.Reason.Text))
			}
		})
	})
	return failed
}

// act carries out what is asked for, until there is nothing more.
func (k *keeper) act(ctx context.Context) {
	for a, ok := k.r.NextAction(); ok && ctx.Err() == nil; a, ok = k.r.NextAction() {
		switch a.Act {
		case bearers.Look:
			k.look()
		case bearers.Report:
			s := a.Status
			hosting.Keep(k.node).NoteBearer(a.ID, admin.BearerState{State: s.State.String(), Reason: s.Reason.Text, Remedy: s.Reason.Remedy, Above: s.Above, Since: k.start.Add(s.Since), Changes: s.Changes})
		case bearers.Forget:
			hosting.Keep(k.node).ForgetBearer(a.ID)
			delete(k.kept, a.ID)
		default:
			err := k.carryOut(ctx, a, k.kept[a.ID])
			if err != nil && a.Act != bearers.Open { // whose error is the bearer's state
				k.log.Warn("bearer not mended", "bearer", a.ID, "action", a.Act.String(), "err", err)
			}
			k.r.Done(k.now(), a.ID, a.Act, err)
		}
	}
}

func (k *keeper) carryOut(ctx context.Context, a bearers.Action, b *keptBearer) error {
	switch a.Act {
	case bearers.Open:
		dev, err := b.open()
		if err != nil {
			return err
		}
		if err := k.node.Admin().AddDevice(ctx, dev, b.config); err != nil {
			return err
		}
		b.dev = dev
		logChoice(k.log, dev)
	case bearers.Close:
		if a.Reason != bearers.OtherSettings { // what commands have set stays
			all, err := k.node.Admin().Bearers(ctx)
			if err != nil {
				return err
			}
			for _, s := range all {
				if s.Medium+":"+s.Name == a.ID {
					b.config.LinkConfig = s.Links
				}
			}
		}
		b.dev = nil
		k.log.Info("bearer closed", "bearer", a.ID, "reason", a.Reason)
		return k.node.Admin().DisableBearer(ctx, a.ID)
	case bearers.Rejoin:
		d, ok := b.dev.(*udp.Device)
		if !ok {
			return errors.ErrUnsupported
		}
		if err := d.Rejoin(); err != nil {
			return err
		}
		k.log.Info("group joined again", "bearer", a.ID, "reason", a.Reason)
	case bearers.AddRemote:
		return k.node.Admin().AddRemote(ctx, a.ID, a.Remote)
	case bearers.RemoveRemote:
		return k.node.Admin().RemoveRemote(ctx, a.ID, a.Remote)
	case bearers.Hold, bearers.Release:
		return hosting.Keep(k.node).HoldBearer(a.ID, a.Act == bearers.Hold)
	}
	return nil
}

// look tells the Reconciler how every bearer's interface and device are.
func (k *keeper) look() {
	attached := map[string]bool{}
	all, _ := k.node.Admin().Bearers(context.Background()) // of a node in this process it cannot fail
	for _, s := range all {
		attached[s.Medium+":"+s.Name] = !s.Waiting()
	}
	type fact struct {
		id string
		bearers.Facts
	}
	var found []fact // in the order of the wishes, as they are listed
	around, blind := xdp.LookAround()
	if blind != nil {
		k.blinded(blind)
		return
	}
	k.r.Statuses(func(w bearers.Wish, _ bearers.Status, _ bearers.Facts) {
		f := bearers.Facts{Attached: attached[w.ID], Noted: hosting.Keep(k.node).BearerNoted(w.ID)}
		look := lookEthernet
		if w.UDP() {
			look = lookUDP
		}
		if err := look(w, k.kept[w.ID].dev, &f); err != nil {
			blind = err
			return
		}
		if !w.UDP() {
			f.Above, f.Users = strings.Join(around[f.Index].Above, ", "), around[f.Index].Users
		}
		found = append(found, fact{w.ID, f})
	})
	for _, f := range found {
		k.r.See(k.now(), f.id, f.Facts)
	}
	k.blinded(blind)
}

// blinded notes that the state of interfaces is not known, which is logged once.
func (k *keeper) blinded(err error) {
	if err != nil {
		k.r.Blind(k.now())
	}
	if (err != nil) != k.blind {
		if k.blind = err != nil; k.blind {
			k.log.Warn("interfaces not looked at", "err", err)
		} else {
			k.log.Info("interfaces looked at again")
		}
	}
}

// lookEthernet finds how an interface and the device on it are. An interface that is missing
// is a fact; an error is that of a system that cannot tell.
func lookEthernet(w bearers.Wish, dev netdev.Device, f *bearers.Facts) error {
	if d, ok := dev.(xdp.Bearer); ok {
		s := d.Standing()
		f.On = bearers.Standing{Index: s.Index, MAC: s.MAC, Queues: s.Queues, Program: s.Program, Alone: s.Alone, Shared: s.Shared}
	}
	l, err := xdp.FindLink(w.Device)
	if errors.Is(err, xdp.ErrMissing) {
		return nil
	}
	if err != nil {
		return err
	}
	f.Exists, f.Index, f.MTU, f.Up, f.Carrier, f.Downs, f.Master, f.Program = true, l.Index, l.MTU, l.Up, l.Carrier, l.Losses, l.Master, l.Program.ID
	f.MAC, f.Queues = l.MAC(), l.Queues.Value.RX
	return nil
}

// lookUDP is the same for a bearer over UDP.
func lookUDP(w bearers.Wish, dev netdev.Device, f *bearers.Facts) error {
	f.Local = w.Local
	if !f.Local.IsValid() {
		var err error
		if f.Local, err = addressOf(w.Device); errors.As(err, new(*admin.Refusal)) {
			f.Local = netip.Addr{} // no interface, or without an address
		} else if err != nil {
			return err
		}
	}
	if d, ok := dev.(*udp.Device); ok {
		f.On, f.Group = bearers.Standing{Index: d.Index(), Local: d.Own().Addr()}, d.Joined()
	}
	f.Local = f.Local.WithZone("")
	i, err := udp.InterfaceOf(f.Local)
	switch {
	case err == nil:
		f.Exists, f.Index, f.MTU, f.Up, f.Carrier = true, i.Index, i.MTU, i.Flags&net.FlagUp != 0, i.Flags&net.FlagRunning != 0
	case !errors.Is(err, syscall.EADDRNOTAVAIL):
		return err
	}
	return nil
}
