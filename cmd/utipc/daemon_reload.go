// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/utipc/utipc/daemon/bearers"
	"github.com/utipc/utipc/internal/settings"
	"github.com/utipc/utipc/netdev"
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
	d.log.Info("settings reloaded", "level", d.settings.Log.Level, "bearers", working(d.node))
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
	d.settings.Socket, d.gid = is, p.gid
	return nil
}

// changeBearers makes the bearers of the node as the settings have them now. Bearers that
// came by 'utipc bearer enable' stay. What fails is told, and tried again when its
// interface changes, and by the next reload.
func (d *daemonProcess) changeBearers(ctx context.Context, is []settings.Bearer) (failed []error) {
	var wishes []bearers.Wish
	kept := map[string]*keptBearer{}
	changed := changedLinks(d.settings.Bearers, is)
	for _, b := range is {
		w := settingsWish(b)
		wishes = append(wishes, w)
		kept[w.ID] = d.kept(b)
	}
	failed = d.keeper.want(ctx, wishes, kept)
	for _, b := range changed {
		err := d.node.Admin().SetBearer(ctx, settingsWish(b).ID, bearerConfig(d.filled(b)))
		if err != nil && kept[settingsWish(b).ID].dev != nil { // else the links begin so
			failed = append(failed, err)
		}
	}
	d.settings.Bearers = is
	return failed
}

// kept is how a bearer of the settings is opened.
func (d *daemonProcess) kept(b settings.Bearer) *keptBearer {
	n := d.settings.Node
	return &keptBearer{open: func() (netdev.Device, error) { return openSetBearer(b, n) }, config: bearerConfig(b)}
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

// changedLinks are the bearers whose links are to begin with something else, and to go on
// with it.
func changedLinks(was, is []settings.Bearer) (changed []settings.Bearer) {
	for _, b := range is {
		i := slices.IndexFunc(was, func(o settings.Bearer) bool { return o.ID() == b.ID() })
		if i >= 0 && bearerConfig(was[i]) != bearerConfig(b) {
			changed = append(changed, b)
		}
	}
	return changed
}
