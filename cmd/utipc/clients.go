// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack"
)

var clientsCommand = cmdline.Command{
	Name:  "clients",
	Short: "list the programs that use this host's daemon",
	Usage: `utipc clients: list the programs that use this host's daemon.

    utipc clients [FLAGS]

A line for each process: its number and user; how many connections, names,
subscriptions and rings it has; the records that came from it and the messages that went
to it; the bytes that wait because it does not read; and what it was refused, for want of
rights or by a limit. Processes that the daemon cannot see have no number, and those of a
user share a line. A process that has ended while others hold its connections, which they
have from it by fork or by a socket, says so, and who these are as far as /proc tells.

    PID   USER  CONNS  NAMES  SUBS  RINGS  RECORDS  MESSAGES  WAITING  REFUSED  PROGRAM
    1234  1000  3      2      0     1      90210    90115     0        0        server

{flags}

    utipc clients --json
`,
	Run: runClients,
}

func runClients(ctx context.Context, args []string, std cmdline.Stdio) error {
	f := cmdline.NewFlags("clients")
	asJSON := f.Bool("json", false, "a JSON object with all that is counted: \"clients\", and \"daemon\", the sums")
	socket := f.String("socket PATH", "", "the daemon's socket (default: $UTIPC_SOCKET, else "+defaultSocket+")")
	if _, err := cmdline.Parse(f, args, 0, 0); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	n, err := stack.Attach(ctx, *socket)
	if err != nil {
		return fmt.Errorf("%w; 'utipc daemon' serves there", err)
	}
	defer n.Close(ctx)
	return showClients(ctx, n, std.Out, *asJSON)
}

// showClients prints the programs of an attached node's daemon.
func showClients(ctx context.Context, n *stack.Node, out io.Writer, asJSON bool) error {
	var told struct {
		Clients []daemon.Client `json:"clients"`
		Daemon  daemon.Counters `json:"daemon"`
	}
	err := n.Admin().Call(ctx, "clients", nil, &told.Clients)
	if errors.Is(err, syscall.ENOSYS) {
		return errors.New("only a daemon has clients")
	}
	if err != nil {
		return err
	}
	if asJSON {
		if err := n.Admin().Call(ctx, "daemon", nil, &told.Daemon); err != nil {
			return err
		}
		return newEncoder(out).Encode(told)
	}
	held := holders(told.Clients)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "PID\tUSER\tCONNS\tNAMES\tSUBS\tRINGS\tRECORDS\tMESSAGES\tWAITING\tREFUSED\tPROGRAM")
	for _, c := range told.Clients {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", c.PID, c.UID, c.Connections, c.Names, c.Subscriptions,
			c.Rings, c.Records, c.Messages, c.QueuedBytes, c.Refused+c.OverLimit, printable.Text(c.Program)+endedClient(&c, held))
	}
	return w.Flush()
}

// endedClient says of a process that has ended who holds its connections.
func endedClient(c *daemon.Client, held map[uint64][]string) string {
	if !c.Ended {
		return ""
	}
	var by []string
	for _, inode := range c.Inodes {
		by = append(by, held[inode]...)
	}
	slices.Sort(by)
	if len(by) == 0 {
		return " (ended; who holds its connections is not known)"
	}
	return " (ended; its connections are held by " + strings.Join(slices.Compact(by), ", ") + ")"
}
