// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/utipc/utipc/internal/settings"
)

// reload reads the settings again and applies what can be applied while the node runs.
// Settings that are wrong change nothing.
func (d *daemonProcess) reload(ctx context.Context) {
	d.told(d.notify.Reloading())
	said := d.reloaded(ctx)
	d.status = d.describe()
	if said != "" {
		d.status += "; reload: " + said
	}
	d.told(d.notify.Ready(d.status))
}

// reloaded returns what of it failed, in a line.
func (d *daemonProcess) reloaded(ctx context.Context) (failed string) {
	s, err := settings.Load(d.flags.config, &d.flags.over)
	var p *daemonPlan
	if err == nil {
		p, err = planDaemon(s)
	}
	if err != nil {
		d.log.Error("the settings stay as they are", "err", err)
		return err.Error()
	}
	p.keys.Wipe() // keys change by 'utipc node set key'
	var later, wrong []string
	for _, key := range settings.Changed(d.settings, s) {
		if !settings.Live(key) {
			later = append(later, key)
		}
	}
	if len(later) > 0 {
		d.log.Warn("settings that take a restart", "keys", strings.Join(later, ", "))
	}
	d.settings.Log.Level, d.settings.Node.StopTimeout = s.Log.Level, s.Node.StopTimeout
	d.setLevel()
	if err := d.reopen(p); err != nil {
		wrong = append(wrong, err.Error())
	}
	for _, err := range d.changeBearers(ctx, s.Bearers) {
		wrong = append(wrong, err.Error())
	}
	for _, w := range wrong {
		d.log.Error("reload", "err", w)
	}
	d.log.Info("settings reloaded", "level", d.settings.Log.Level, "bearers", len(d.node.Bearers()))
	return strings.Join(wrong, "; ")
}

// reopen changes who may open the socket.
func (d *daemonProcess) reopen(p *daemonPlan) error {
	is := p.settings.Socket
	is.Path = d.settings.Socket.Path
	if is == d.settings.Socket {
		return nil
	}
	if p.gid >= 0 {
		if err := os.Chown(is.Path, -1, p.gid); err != nil {
			return err
		}
	}
	if err := os.Chmod(is.Path, p.mode()); err != nil {
		return err // the next reload tries again
	}
	d.settings.Socket = is
	return nil
}

// changeBearers makes the bearers of the node as the settings have them now. Bearers that
// came by 'utipc bearer enable' stay. What fails is told, and tried again by the next
// reload.
func (d *daemonProcess) changeBearers(ctx context.Context, is []settings.Bearer) (failed []error) {
	now := d.settings.Bearers
	gone, changed, fresh := compareBearers(now, is)
	for _, b := range gone {
		if err := d.node.DisableBearer(ctx, b.ID()); err != nil {
			failed = append(failed, err)
		}
		now = without(now, b)
	}
	for _, b := range changed {
		if err := d.node.SetBearer(b.ID(), bearerConfig(d.filled(b))); err != nil {
			failed = append(failed, err)
			continue
		}
		now = append(without(now, b), b)
	}
	for _, b := range fresh {
		dev, err := openSetBearer(b, d.settings.Node)
		if err == nil {
			if err = d.node.EnableBearer(ctx, dev, bearerConfig(b)); err == nil {
				logChoice(d.log, dev)
			}
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("bearer %s: %w", b.ID(), err))
			continue
		}
		now = append(now, b)
	}
	d.settings.Bearers = now
	return failed
}

// without is the bearers but the one of that name.
func without(all []settings.Bearer, b settings.Bearer) []settings.Bearer {
	return slices.DeleteFunc(slices.Clone(all), func(o settings.Bearer) bool { return o.ID() == b.ID() })
}

// filled has the node's values where the bearer has none, so that one that was set and no
// longer is goes back to them.
func (d *daemonProcess) filled(b settings.Bearer) settings.Bearer {
	n := d.settings.Node
	if b.Tolerance == 0 {
		b.Tolerance = n.Tolerance
	}
	if b.Priority == 0 {
		b.Priority = n.Priority
	}
	if b.Window == 0 {
		b.Window, b.MaxWindow = n.Window, max(b.MaxWindow, n.MaxWindow)
	}
	return b
}

// compareBearers parts what becomes of bearers: those that go, those whose links change,
// and those that come. One of which anything else changes goes and comes.
func compareBearers(was, is []settings.Bearer) (gone, changed, fresh []settings.Bearer) {
	links := func(b settings.Bearer) settings.Bearer {
		b.Tolerance, b.Priority, b.Window, b.MaxWindow = 0, 0, 0, 0
		return b
	}
	find := func(all []settings.Bearer, id string) int {
		return slices.IndexFunc(all, func(b settings.Bearer) bool { return b.ID() == id })
	}
	for _, b := range was {
		if i := find(is, b.ID()); i < 0 || !reflect.DeepEqual(links(b), links(is[i])) {
			gone = append(gone, b)
		}
	}
	for _, b := range is {
		switch i := find(was, b.ID()); {
		case i < 0 || !reflect.DeepEqual(links(b), links(was[i])):
			fresh = append(fresh, b)
		case !reflect.DeepEqual(b, was[i]):
			changed = append(changed, b)
		}
	}
	return gone, changed, fresh
}
