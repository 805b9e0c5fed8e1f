// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/utipc/utipc/frame/lint"
	"github.com/utipc/utipc/internal/cmdline"
)

// decodeOptions say what is printed of a frame.
type decodeOptions struct {
	tree bool // all fields
	lint bool // what breaks a rule
	json bool // objects in place of lines
	keys keyring

	ladder, stats bool
	ascii, utf8   bool
	width         int // of the ladder, in characters
	filter        decodeFilter
	dev           string // read live from it
	follow        bool
	count         int // end after so many frames; 0 is never
}

// flags declares the flags. What is wrong with a key is put into wrong.
func (o *decodeOptions) flags(f *cmdline.Flags, wrong *error) (keyFile *string) {
	f.BoolVar(&o.tree, "v", false, "prints below each line all fields of the message, those of records and messages inside of it too: the header word and "+
		"bits, or the offset and length in bytes; the name; the value")
	f.BoolVar(&o.lint, "lint", false, "prints below each line what in the message breaks a rule of the protocol: the rule, the place, and what is wrong. "+
		"The last line gets \", N findings, N habits\"; a habit is what kernels are known to do without harm. The exit status is 1 when there is "+
		"a finding")
	f.BoolVar(&o.json, "json", false, "prints an object a line instead: of a frame \"frame\", \"time\", \"src\", \"dst\", \"class\" (tipc, unknown, "+
		"malformed or other), \"summary\" (the line's message) and \"message\" (its fields by the names of -v: numbers, booleans, texts; "+
		"addresses of nodes and bytes are hexadecimal texts, groups objects, lists arrays); where it applies \"file\", \"vlans\", \"udp\", "+
		"\"bytes\" and \"captured\" (of a frame cut by the capture), \"comment\" and \"direction\" (as the capture has them), and \"lint\", an "+
		"array of \"rule\", \"where\", \"text\", and \"habit\", which says why. The last object is \"total\". -v adds nothing")
	f.Text("\n")
	f.BoolVar(&o.ladder, "ladder", false, "draws who said what to whom: a column for each node, time running down, an arrow a message with its number and "+
		"what it acknowledges. Messages that were sent again are marked, and so are those they repeat. Messages of one kind in a row share an "+
		"arrow, unless they are read live. With --json each object gets \"ladder\": \"from\", \"to\" (absent: all), \"label\", \"sequence\" "+
		"(new, late, retransmitted, duplicate, or unnumbered), and where it applies \"repeats\" (a frame), \"skipped\" (numbers left out before "+
		"it), \"reported\" (packets it reports missing), \"acked\" (packets it is the first to acknowledge)")
	f.BoolVar(&o.stats, "stats", false, "prints no frames but, behind each file, what was said on each link in each direction, by broadcast, to each "+
		"service and between sockets; with --json an object \"stats\". docs/how-to/decode.md explains the numbers")
	f.BoolVar(&o.ascii, "ascii", false, "draws it in ASCII, as is done by default where $LC_ALL, $LC_CTYPE and $LANG do not speak of UTF-8")
	f.BoolVar(&o.utf8, "utf8", false, "draws it with the characters of UTF-8")
	f.IntVar(&o.width, "width N", 0, "how wide the ladder may be, 72 to 400 characters; by default the terminal, $COLUMNS, or 100")
	f.Text(`
A FILTER is one of these. Several of a kind, or words parted by commas, let a frame
pass when one of them fits; of several kinds all must:

`)
	f.Func("node NODE | <NODE:PORT> | MAC", "it is sent by or to the node, the socket, or the station; 1001001 or 1.1.1", o.filter.addNode)
	f.Func("link NODE[:IF]-NODE[:IF] | broadcast-link", "it goes between the two nodes, over these interfaces; or over the broadcast link", o.filter.addLink)
	f.Func("user USER", "it is, or has in it, a message of the user: data (or data-low, data-medium, data-high, data-critical), bcast, bundle, link, conn, "+
		"group, tunnel, name, frag, disc, crypto", o.filter.addUser)
	f.Func("service TYPE[:INSTANCE|:LOWER-UPPER]", "it is for the service, about it, or of a connection that was asked of it", o.filter.addService)
	f.Text(`
The last line gets ", N shown". Frames that are not shown count for all else, such as
what was sent before. --stats shows of links, services and sockets those that fit.

`)
	f.StringVar(&o.dev, "if IFACE", "", "reads live from an interface what comes and goes there, and changes nothing on it. It needs CAP_NET_RAW. What a "+
		"node of this program sends on it, and over AF_XDP what it receives too, does not come by there: 'utipc capture' has it")
	f.BoolVar(&o.follow, "follow", false, "waits at the end of FILE for more, as tail -f does")
	f.IntVar(&o.count, "count N", 0, "ends after N frames. An interrupt ends reading live, too")
	f.Text("\n")
	f.Func("key KEY", "opens encrypted packets that this key was used for: 0x and hexadecimal digits, or characters; 16, 24 or 32 bytes for AES and 4 of "+
		"salt. It may be given several times. Packets under keys that nodes handed out to each other are opened too, if the messages with them "+
		"are in the capture and are opened. The line of such a packet begins with its header (slot of the key, and of the receiver's key; "+
		"destined, keepalive, master, no-key; number); --json gives it as \"sealed\" beside the message. Keys are never printed. The last line "+
		"gets \", N opened, N sealed\", which adds up to the encrypted ones. Everybody on the host sees the arguments", o.keys.flag(wrong))
	keyFile = f.String("keyfile FILE", "", "takes keys from a file, one a line; before KEY there may be a word as in the files of echo and ping: cluster, "+
		"master, node, or peer and an ID. Empty lines and # say nothing")
	f.Text("\n")
	return keyFile
}

// check refuses what does not go together.
func (o *decodeOptions) check(files []string) error {
	switch {
	case o.dev == "" && len(files) == 0:
		return cmdline.UsageError("too few arguments")
	case o.dev != "" && len(files) > 0:
		return cmdline.UsageError("--if and files do not go together")
	case o.follow && (len(files) != 1 || files[0] == "-"):
		return cmdline.UsageError("--follow is for one file")
	case o.ladder && o.stats:
		return cmdline.UsageError("--ladder and --stats do not go together")
	case (o.ladder || o.stats) && (o.tree || o.lint):
		return cmdline.UsageError("-v and --lint are for frames, not for --ladder and --stats")
	case o.ascii && o.utf8:
		return cmdline.UsageError("--ascii and --utf8 do not go together")
	case o.width != 0 && (o.width < leastLadder || o.width > mostLadder):
		return cmdline.UsageError(fmt.Sprintf("--width is %d to %d", leastLadder, mostLadder))
	case o.count < 0:
		return cmdline.UsageError("--count is below 0")
	case o.stats && len(o.filter.users) > 0:
		return cmdline.UsageError("--user is for frames, not for --stats")
	}
	return nil
}

// ladderWidth is the width of a ladder for which none is given.
func ladderWidth(out io.Writer) int {
	w := outputWidth(out)
	if w == 0 {
		w, _ = strconv.Atoi(os.Getenv("COLUMNS"))
	}
	if w <= 0 {
		w = defaultLadder
	}
	return min(max(w, leastLadder), mostLadder)
}

// check puts into r what the message breaks, and counts it.
func (d *decoder) check(r *result) {
	if r.sealed != nil {
		r.found = lint.Check(r.sealed)
	}
	for _, x := range lint.Check(r.message) {
		if r.sealed == nil || x.Rule != "clear-key" { // it was not clear
			r.found = append(r.found, x)
		}
	}
	for _, x := range r.found {
		if x.Habit() != "" {
			d.counts.habits++
		} else {
			d.counts.findings++
		}
	}
}
