// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/keyflags"
	"github.com/utipc/utipc/stacktest/replay"
)

var replayCommand = cmdline.Command{
	Name:  "replay",
	Short: "take the place of a node in a packet capture, and compare",
	Usage: `utipc-lab replay: take the place of a node in a packet capture, and compare.

    utipc-lab replay --as NODE [--calls FILE] [--until N] FILE.pcap

Our engine is fed what NODE received and what its users did. What it sends is
compared, byte for byte, with what NODE sent, on the capture's own clock. NODE is
an address (1001001 or 1.1.1), a MAC, or a name used in the calls. The capture is
pcap or pcapng, of Ethernet frames, and holds the beginning of NODE.

{flags}
The last line is the verdict. The exit status is 0 when every answer agrees;
otherwise it is 1, and the first difference is printed with both frames, where !
marks the lines that differ.

    utipc-lab replay --as 1.1.1 test/testdata/captures/01-discovery-linkup.pcap
    utipc-lab replay --as A test/testdata/captures/07-rdm-reject.pcap
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		flags := cmdline.NewFlags("replay")
		as := flags.String("as NODE", "", "the node whose place is taken")
		calls := flags.String("calls FILE", "", "what the users did; by default FILE.calls beside the capture, if there is one. docs/how-to/replay.md tells how to write it")
		until := flags.Int("until N", 0, "leave out the frames from number N on")
		var keys keyflags.Keys
		flags.Text("\nKeys that NODE is given, and that open the capture's frames. The calls may have them, too.\n\n")
		keys.DeclareKeys(flags)
		flags.Text("\n")
		files, err := cmdline.Parse(flags, args, 1, 1)
		switch {
		case err != nil:
			return err
		case *as == "":
			return cmdline.UsageError("--as NODE is missing")
		case *until < 0:
			return cmdline.UsageError("--until is below 0")
		}
		if err := keys.Read(std.In); err != nil {
			return err
		}
		return replayFile(std, files[0], *calls, replay.Options{Node: *as, Until: *until, Keys: keys.Encryption().Keys})
	},
}

// errDiffers means that not every answer agrees, which was printed.
var errDiffers = errors.New("not every answer agrees")

func replayFile(std cmdline.Stdio, name, calls string, o replay.Options) error {
	c, err := replay.ReadFile(name)
	if err != nil {
		return err
	}
	if o.Calls, err = readCalls(name, calls); err != nil {
		return err
	}
	v, err := replay.Replay(c, o)
	notes := c.Notes
	if err == nil {
		notes = v.Notes
	}
	for _, n := range notes {
		fmt.Fprintf(std.Err, "utipc-lab replay: %s\n", n)
	}
	if err != nil {
		return err
	}
	if v.Diff != nil {
		fmt.Fprint(std.Out, v.Diff)
	}
	fmt.Fprintln(std.Out, v)
	if !v.OK() {
		return errDiffers
	}
	return nil
}

// readCalls reads the calls of a capture; a file that nobody asked for may be
// missing.
func readCalls(capture, name string) ([]replay.Call, error) {
	if name == "" {
		return replay.CallsOf(capture)
	}
	return replay.ReadCalls(name)
}
