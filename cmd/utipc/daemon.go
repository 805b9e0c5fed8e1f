// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/settings"
)

var daemonCommand = cmdline.Command{
	Name:  "daemon",
	Short: "the node of this host, which programs attach to",
	Usage: `utipc daemon: the node of this host, which programs attach to, until it is
stopped.

    utipc daemon [--config FILE] [FLAGS]

What is not set by a flag is what the file says, else the default. SIGHUP, or
'systemctl reload utipc', reads the file again and applies bearers, the socket's
rights and the log's level. SIGTERM and SIGINT stop it: programs and other nodes
are told.

{flags}
    utipc daemon --config /etc/utipc/utipc.toml
    utipc daemon --if eth1 --address 1.1.1 --socket /tmp/utipc.sock
    utipc daemon --udp 10.0.0.1 --log-level debug --metrics 127.0.0.1:9118

It exits with 0 when it was stopped, 1 when it could not start or the node ended, 2
when it was misused or the settings are wrong.
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		err := runDaemon(ctx, args, std)
		if wrong := (settingsError{}); errors.As(err, &wrong) {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				fmt.Fprintf(std.Err, "utipc daemon: %s\n", line)
			}
			return cmdline.Status(cmdline.Misuse)
		}
		return err
	},
}

func runDaemon(ctx context.Context, args []string, std cmdline.Stdio) error {
	var d daemonFlags
	f := cmdline.NewFlags("daemon")
	d.flags(f)
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return err
	}
	if d.example {
		fmt.Fprint(std.Out, settings.Example())
		return nil
	}
	s, err := settings.Load(d.config, &d.over)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: 'utipc daemon --example' prints one to begin with", err)
	case err != nil:
		return wrongSettings(err)
	}
	if d.print {
		fmt.Fprint(std.Out, s)
		return nil
	}
	p, err := planDaemon(s)
	if err != nil {
		return err
	}
	if d.check {
		p.keys.Wipe()
		fmt.Fprintln(std.Out, "the settings are right")
		return nil
	}
	return p.run(ctx, &d, std)
}

// A daemonFlags is the flags of the daemon.
type daemonFlags struct {
	config                string
	check, print, example bool
	over                  settings.Flags
}

func (d *daemonFlags) flags(f *cmdline.Flags) {
	f.StringVar(&d.config, "config FILE", "", "the settings, in TOML; docs/reference/daemon.md tells of each")
	f.BoolVar(&d.check, "check", false, "only check the settings, and what they name on this host")
	f.BoolVar(&d.print, "print-config", false, "only print the settings that result, as a file")
	f.BoolVar(&d.example, "example", false, "only print a file in which everything is commented out")
	f.Text("\n")
	d.over.Register(f)
	f.Text("\n")
}

// wrongSettings makes what is wrong with the settings a misuse.
func wrongSettings(err error) error {
	var p *settings.Problem
	if errors.As(err, &p) {
		return settingsError{err}
	}
	return err
}

// A settingsError says what is wrong with settings. The command was misused, but its
// help does not help.
type settingsError struct{ error }

func (e settingsError) Unwrap() error { return e.error }
