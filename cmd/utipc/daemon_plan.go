// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/daemon/plain"
	"github.com/utipc/utipc/internal/keyflags"
	"github.com/utipc/utipc/internal/settings"
	"github.com/utipc/utipc/stack"
)

// A daemonPlan is settings with what they name on this host: users, groups, keys.
type daemonPlan struct {
	settings settings.Settings
	gid      int // of the socket; -1: the daemon's own
	policy   daemon.Policy
	keys     keyflags.Keys
}

// planDaemon looks up what the settings name. Errors: a settingsError; the system's.
func planDaemon(s settings.Settings) (*daemonPlan, error) {
	p := &daemonPlan{settings: s}
	var err error
	if p.gid, err = socketGroup(s.Socket.Group); err != nil {
		return nil, settingsError{err}
	}
	if p.policy, err = policyOf(s.Access); err != nil {
		return nil, settingsError{err}
	}
	p.keys = keyflags.Keys{File: s.Keys.File, Rekey: time.Duration(s.Keys.Rekey), Migrate: s.Keys.Migrate}
	if p.keys.File == "" && p.keys.Migrate {
		return nil, settingsError{errors.New("keys.migrate goes with keys.file")}
	}
	if err := p.keys.Read(nil); err != nil {
		return nil, settingsError{fmt.Errorf("keys.file: %w", err)}
	}
	if p.keys.Open {
		p.keys.Wipe()
		return nil, settingsError{fmt.Errorf("keys.file: %s is open to others than its owner; chmod 600 %[1]s", p.keys.File)}
	}
	return p, nil
}

// defaultGroup is whom the socket is open to where the settings say nothing.
const defaultGroup = "utipc"

// socketGroup finds the group of the socket, -1 for the daemon's own.
func socketGroup(name string) (int, error) {
	if name == "" {
		if _, err := user.LookupGroup(defaultGroup); err != nil {
			return -1, nil
		}
		name = defaultGroup
	}
	id, err := groupID(name)
	if err != nil {
		return -1, fmt.Errorf("socket.group: %w", err)
	}
	return int(id), nil
}

func groupID(name string) (uint32, error) {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id), nil
	}
	g, err := user.LookupGroup(name)
	if err != nil {
		return 0, fmt.Errorf("no group %q on this host; groupadd --system %[1]s makes one", name)
	}
	id, err := strconv.ParseUint(g.Gid, 10, 32)
	return uint32(id), err
}

func userID(name string) (uint32, error) {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id), nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, fmt.Errorf("no user %q on this host", name)
	}
	id, err := strconv.ParseUint(u.Uid, 10, 32)
	return uint32(id), err
}

// policyOf looks up the users and groups that may do what.
func policyOf(a settings.Access) (p daemon.Policy, err error) {
	for _, c := range []struct {
		key  string
		who  []string
		rule *daemon.Rule
	}{
		{"use", a.Use, &p.Use},
		{"show", a.Show, &p.Show},
		{"manage", a.Manage, &p.Manage},
		{"capture", a.Capture, &p.Capture},
		{"keys", a.Keys, &p.Keys},
	} {
		for _, who := range c.who {
			switch {
			case who == "*":
				c.rule.Everyone = true
			case who[0] == '@':
				id, e := groupID(who[1:])
				c.rule.Groups, err = append(c.rule.Groups, id), errors.Join(err, within("access."+c.key, e))
			default:
				id, e := userID(who)
				c.rule.Users, err = append(c.rule.Users, id), errors.Join(err, within("access."+c.key, e))
			}
		}
	}
	return p, err
}

func within(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

// config is the node's, without bearers. The keys are wiped by who has opened it.
func (p *daemonPlan) config() (c stack.Config, err error) {
	n := p.settings.Node
	c = stack.Config{
		NetID: uint32(n.NetID), Tolerance: time.Duration(n.Tolerance), Priority: uint8(n.Priority), Window: n.Window,
		MaxWindow: n.MaxWindow, MonitorThreshold: n.MonitorThreshold, NoBundles: !n.Bundles, Chunks: n.Chunks, MTU: n.MTU,
		NameWait: time.Duration(n.NameWait), NamePark: time.Duration(n.NamePark), GoPoller: true, NoBearers: true,
		Wait: map[string]stack.WaitMode{"adaptive": stack.Adaptive, "sleep": stack.Sleep, "spin": stack.Spin}[n.Wait],
	}
	if c.NamePark == 0 {
		c.NamePark = -1 // 0 is the default there
	}
	if n.Address != "" {
		if c.Address, err = stack.ParseNodeAddr(n.Address); err != nil {
			return c, err
		}
	}
	if n.Identity != "" {
		if c.Identity, err = stack.ParseIdentity(n.Identity); err != nil {
			return c, err
		}
	}
	if p.keys.Any() {
		c.Encryption = p.keys.Encryption()
	}
	return c, nil
}

// server is what the server of attached programs is told.
func (p *daemonPlan) quotas() daemon.Quotas {
	limits := func(l settings.Limit) daemon.Limits {
		return daemon.Limits{
			Connections: l.Connections, Names: l.Names, Subscriptions: l.Subscriptions, Calls: l.Calls, Rings: l.Rings,
			Watches: l.Watches, Captures: l.Captures, Audits: l.Audits, QueuedBytes: l.QueuedBytes,
		}
	}
	l := p.settings.Limits
	return daemon.Quotas{Process: limits(l.Process), User: limits(l.User), Server: limits(l.Server), Records: l.Records}
}

// tcp is what TCP sockets of programs have of the node, and the interface that it is to have, or "".
func (p *daemonPlan) tcp() (c plain.TCP, name string) {
	s := p.settings.TCP
	if s.Prefix == "" {
		return c, ""
	}
	return plain.TCP{Prefix: netip.MustParsePrefix(s.Prefix), Address: netip.MustParseAddr(s.Address)}, s.Interface // both were checked
}

// mode is the socket's.
func (p *daemonPlan) mode() fs.FileMode { return fs.FileMode(p.settings.Socket.Mode) & os.ModePerm }
