// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
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

    --config FILE    the settings, in TOML; docs/daemon.md tells of each
    --check          only check the settings, and what they name on this host
    --print-config   only print the settings that result, as a file
    --example        only print a file in which everything is commented out

    --if IFACE       an Ethernet interface to speak TIPC on; with this and the next
                     two, up to three bearers, none of the file's
    --udp IP[,TO...] speak TIPC over UDP from this address of the host, to these
                     hosts or the multicast group; alone: the cluster's group
    --bearer WORDS   a bearer in the words of the file: "medium eth device eth1
                     priority 5"

` + daemonFlagsUsage() + `
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
	f := flag.NewFlagSet("daemon", flag.ContinueOnError)
	d.flags(f)
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return err
	}
	if d.example {
		fmt.Fprint(std.Out, settings.Example())
		return nil
	}
	s, err := settings.Load(d.config, &d.over)
	if err != nil {
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

func (d *daemonFlags) flags(f *flag.FlagSet) {
	f.StringVar(&d.config, "config", "", "")
	f.BoolVar(&d.check, "check", false, "")
	f.BoolVar(&d.print, "print-config", false, "")
	f.BoolVar(&d.example, "example", false, "")
	d.over.Register(f)
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

// daemonFlagsUsage describes the flags of single settings.
func daemonFlagsUsage() string {
	var b strings.Builder
	for _, s := range settings.Table() {
		if s.Flag == "" {
			continue
		}
		text := fmt.Sprintf("%s: %s", s.Doc, s.Allowed)
		if d := strings.Trim(s.Default, `"[]`); d != "" {
			text += fmt.Sprintf(" (default %s)", d)
		}
		usageLines(&b, "--"+s.Flag, text)
	}
	return b.String()
}

// usageLines writes a flag and what it does, in lines as those of the other flags.
func usageLines(b *strings.Builder, flag, text string) {
	const indent, width = 21, 84
	line := fmt.Sprintf("    %-16s", flag)
	if len(line) >= indent {
		fmt.Fprintln(b, line)
		line = strings.Repeat(" ", indent-1)
	}
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width {
			fmt.Fprintln(b, line)
			line = strings.Repeat(" ", indent-1)
		}
		line += " " + word
	}
	fmt.Fprintln(b, line)
}
