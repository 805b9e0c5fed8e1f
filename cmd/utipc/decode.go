// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/conversation"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/frame/lint"
	"github.com/utipc/utipc/internal/cmdline"
)

var decodeCommand = cmdline.Command{
	Name:  "decode",
	Short: "print the TIPC messages of packet captures, a line a frame",
	Usage: `utipc decode: print the TIPC messages of packet captures, a line a frame.

    utipc decode [-v] [--lint] [--json] [--ladder | --stats] [FILTER]... [KEYS]... FILE...
    utipc decode [...] --if IFACE

FILE is pcap or pcapng, of Ethernet frames; - is the standard input. A line has
the frame's number in its file, the seconds since the file's first frame, the
stations it goes from and to (* is all of them), the message, and what the capture
itself says of the frame, such as why a node dropped it. With several files each
line begins with the file's name. The last line adds up all files:

    N frames, N tipc, N unknown, N malformed

frames     all frames in the files, whatever they carry
tipc       those that carry TIPC and were read; encrypted ones too, of which the
           header is printed
unknown    those that carry TIPC of a user, type or medium that must not come
           from the wire, or does not from Ethernet or UDP
malformed  those that carry TIPC and break its rules, or are cut short, be it by
           the capture

An IP datagram in fragments is put together wherever they stand, and printed with
the fragment that makes it whole ("fragments=N"). The last line gets ", N fragments,
N joined, N refused, N incomplete": refused are those that contradict others of their
datagram or cannot be; the first 16 datagrams of which some never came are named above.

{flags}
TIPC is what comes with EtherType 0x88CA, behind VLAN tags if any, or from or to
UDP port 6118. All else counts among frames alone. A bundle counts
once, whatever is in it. A file that cannot be read to its end is reported; what
comes before counts, the other files are read, and the exit status is 1.

    utipc decode capture.pcap
    utipc decode --lint capture.pcap
    utipc decode --ladder --link 1001001-1001002 capture.pcap
    utipc decode --stats capture.pcap
    utipc decode --service 18888 --if eth1
    utipc decode --keyfile cluster.key --lint capture.pcap
    utipc decode --json capture.pcap | jq 'select(.message.user == "link")'
    tcpdump -i eth0 -U -w - ether proto 0x88ca | utipc decode -v -
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		flags := cmdline.NewFlags("decode")
		var o decodeOptions
		var wrong error
		keyFile := o.flags(flags, &wrong)
		files, err := cmdline.Parse(flags, args, 0, -1)
		if err = cmp.Or(err, wrong, o.check(files)); err != nil {
			return err
		}
		if *keyFile != "" {
			if err := o.keys.file(*keyFile); err != nil {
				return err
			}
		}
		if o.width == 0 {
			o.width = ladderWidth(std.Raw())
		}
		return decode(ctx, files, o, std)
	},
}

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
		"service and between sockets; with --json an object \"stats\". docs/decode.md explains the numbers")
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

// decodeCounts is what the last line says. A frame is in frames and in at most
// one of the others.
type decodeCounts struct {
	frames    int // all
	tipc      int // carried as TIPC, and read or encrypted
	unknown   int // carried as TIPC: frame.ErrUnknown
	malformed int // carried as TIPC: any other error
	findings  int // of the linter, in all frames
	habits    int // and those that are no errors
	opened    int // encrypted and opened
	sealed    int // encrypted and not
	shown     int // that passed the filter

	fragments  int // of IP datagrams
	joined     int // datagrams that became whole
	refused    int // fragments that cannot be, or contradict others
	incomplete int // datagrams that never became whole
}

func (c decodeCounts) String() string {
	s := fmt.Sprintf("%d frames, %d tipc, %d unknown, %d malformed", c.frames, c.tipc, c.unknown, c.malformed)
	if c.fragments > 0 {
		s += fmt.Sprintf(", %d fragments, %d joined, %d refused, %d incomplete", c.fragments, c.joined, c.refused, c.incomplete)
	}
	return s
}

// totalJSON is the last line of --json.
func (d *decoder) totalJSON(keys, filter bool) []byte {
	c, lint := d.counts, d.lint
	o := jsonObject(nil).add("frames", c.frames).add("tipc", c.tipc).add("unknown", c.unknown).add("malformed", c.malformed).
		addIf(c.fragments > 0, "fragments", c.fragments).addIf(c.fragments > 0, "joined", c.joined).
		addIf(c.fragments > 0, "refused", c.refused).addIf(c.fragments > 0, "incomplete", c.incomplete).
		addIf(lint, "findings", c.findings).addIf(lint, "habits", c.habits).
		addIf(keys, "opened", c.opened).addIf(keys, "sealed", c.sealed).addIf(filter, "shown", c.shown)
	if len(d.incomplete) > 0 {
		list := []byte{'['}
		for i, x := range d.incomplete {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, x.json()...)
		}
		o = o.raw("incomplete_datagrams", append(list, ']'))
	}
	return jsonObject(nil).raw("total", o.bytes()).bytes()
}

// errDecode means that a file was not read to its end, which was said already.
var errDecode = errors.New("not all files were read")

// errLint means that messages broke rules, which was said.
var errLint = errors.New("messages break the rules")

// decode prints the frames of files, or those of an interface, and last the counts.
func decode(ctx context.Context, files []string, o decodeOptions, std cmdline.Stdio) error {
	d := decoder{decodeOptions: o, out: bufio.NewWriter(std.Out)}
	var failed error
	if o.dev != "" {
		live, err := listenOn(ctx, o.dev)
		if err != nil {
			return err
		}
		defer live.Close()
		fmt.Fprintf(std.Err, "utipc decode: listening on %s\n", o.dev)
		if err := d.frames(ctx, live, true); err != nil && ctx.Err() == nil {
			return err
		}
		if n := live.Lost(); n > 0 {
			fmt.Fprintf(std.Err, "utipc decode: %d frames came too fast to be read\n", n)
		}
	}
	for _, name := range files {
		if len(files) > 1 {
			d.name = name
		}
		err := d.file(ctx, name, std.In)
		var write writeError
		switch {
		case errors.As(err, &write):
			return write.err // nobody reads any more
		case err != nil && ctx.Err() == nil:
			d.out.Flush() // so that both streams keep their order on a terminal
			fmt.Fprintf(std.Err, "utipc decode: %s: %v\n", name, err)
			failed = errDecode
		}
	}
	if d.counts.findings > 0 && failed == nil {
		failed = errLint
	}
	interrupted := ctx.Err()
	if o.dev != "" || o.follow {
		interrupted = nil // there is no other end
	}
	d.total()
	return errors.Join(d.out.Flush(), failed, interrupted)
}

// total prints the counts.
func (d *decoder) total() {
	keys, filter := len(d.keys.given) > 0, !d.filter.empty() && !d.stats
	if d.json {
		fmt.Fprintf(d.out, "%s\n", d.totalJSON(keys, filter))
		return
	}
	for _, x := range d.incomplete {
		fmt.Fprintln(d.out, x)
	}
	if more := d.counts.incomplete - len(d.incomplete); more > 0 {
		fmt.Fprintf(d.out, "incomplete: %d more\n", more)
	}
	fmt.Fprint(d.out, d.counts)
	if d.lint {
		fmt.Fprintf(d.out, ", %d findings, %d habits", d.counts.findings, d.counts.habits)
	}
	if keys {
		fmt.Fprintf(d.out, ", %d opened, %d sealed", d.counts.opened, d.counts.sealed)
	}
	if filter {
		fmt.Fprintf(d.out, ", %d shown", d.counts.shown)
	}
	fmt.Fprintln(d.out)
}

// A writeError is an error of the output, not of the file read.
type writeError struct{ err error }

func (e writeError) Error() string { return e.err.Error() }

// A frameSource gives frames until io.EOF.
type frameSource interface {
	Next() (layers.Frame, error)
}

// liveFrames come from an interface. Lost is how many were missed.
type liveFrames interface {
	frameSource
	Lost() uint32
	Close() error
}

// A decoder prints frames and counts them.
type decoder struct {
	decodeOptions
	out     *bufio.Writer
	name    string // of the file, when there are several
	counts  decodeCounts
	tracker *conversation.Tracker // of the file; nil when nobody asks for it
	drawing *ladder
	joiner  *layers.Joiner // of the file

	incomplete []incomplete
}

// file prints the frames of one file.
func (d *decoder) file(ctx context.Context, name string, stdin io.Reader) error {
	in, live := stdin, name == "-"
	if !live {
		f, err := os.Open(name)
		if err != nil {
			if e := (*os.PathError)(nil); errors.As(err, &e) {
				err = e.Err // the name is said anyway
			}
			return err
		}
		defer f.Close()
		in = f
		if d.follow {
			in, live = &follower{ctx: ctx, file: f}, true
		}
	}
	r, err := layers.NewReader(in)
	if err != nil {
		return err
	}
	return d.frames(ctx, r, live)
}

// frames prints the frames of one source, as they come if they come live.
func (d *decoder) frames(ctx context.Context, from frameSource, live bool) error {
	if d.ladder || d.stats || !d.filter.empty() {
		d.tracker = conversation.NewTracker(conversation.Limits{})
	}
	if d.ladder && !d.json {
		d.drawing = &ladder{out: d.out, ascii: d.ascii || !d.utf8 && !speaksUTF8(), width: d.width, live: live}
		if d.name != "" {
			d.drawing.prefix = d.name + ": "
		}
	}
	d.joiner = d.newJoiner()
	err := d.each(ctx, from, live)
	d.joiner.Flush()
	if d.drawing != nil {
		if e := d.drawing.end(); err == nil && e != nil {
			err = writeError{e}
		}
	}
	if d.stats {
		if e := d.writeStats(); err == nil && e != nil {
			err = writeError{e}
		}
	}
	return err
}

func (d *decoder) each(ctx context.Context, from frameSource, live bool) error {
	var first time.Time
	for n := 1; ctx.Err() == nil && (d.count == 0 || n <= d.count); n++ {
		f, err := from.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("behind frame %d: %w", n-1, err)
		}
		if n == 1 {
			first = f.Time
		}
		p := d.join(n, f)
		if d.dev != "" && p != nil && p.Foreign { // the filter lets fragments of all datagrams pass
			n--
			continue
		}
		d.counts.frames++
		err = d.print(n, f.Time.Sub(first), f, p)
		if err == nil && live {
			err = d.out.Flush()
		}
		if err != nil {
			return writeError{err}
		}
	}
	return ctx.Err()
}

// A result is what was read of a frame.
type result struct {
	layers.Wrapping
	path    string // stations and tags, with a space behind
	line    string // the rest
	class   string // tipc, unknown, malformed or other
	message []byte // nil in another; of an opened one what was inside
	sealed  []byte // how an opened one came
	found   []lint.Finding
}

// read reads a frame and counts it.
func (d *decoder) read(f layers.Frame, p *part) (r result) {
	r.class = "other"
	if !f.IsEthernet() {
		r.line = fmt.Sprintf("- not Ethernet: link type %d, %d bytes", f.LinkType, f.Len)
		return r
	}
	data := f.Data
	if p != nil && p.Whole != nil {
		data = p.Whole
	}
	w, message, err := layers.Unwrap(data)
	r.Wrapping, r.path = w, wayOf(f, w)
	if p != nil {
		d.counts.fragments++
		switch {
		case p.Whole != nil:
			d.counts.joined++
			r.path += fmt.Sprintf("fragments=%d ", len(p.Frames))
		case p.err != nil:
			d.counts.refused++
		}
	}
	switch {
	case p != nil && p.Whole == nil:
		r.line = p.line()
		return r
	case errors.Is(err, frame.ErrNotTIPC):
		r.line = fmt.Sprintf("not TIPC: EtherType %04x, %d bytes", w.EtherType, f.Len)
		return r
	case err != nil:
		r.line = fmt.Sprintf("not read: EtherType %04x: %v", w.EtherType, err)
		return r
	case w.UDP:
		r.path += "udp "
	}
	d.message(&r, message)
	if d.lint {
		d.check(&r)
	}
	return r
}

// wayOf says between which stations a frame went and with which tags, with a space after it.
func wayOf(f layers.Frame, w layers.Wrapping) string {
	way := "- "
	if len(f.Data) >= frame.EthernetLen {
		to := "*"
		if w.Dst != frame.BroadcastMAC {
			to = w.Dst.String()
		}
		way = w.Src.String() + ">" + to + " "
	}
	for _, v := range w.VLANs {
		way += fmt.Sprintf("vlan=%d ", v)
	}
	return way
}

// message puts a message into r, opened if there is a key for it, and counts what it is.
func (d *decoder) message(r *result, message []byte) {
	r.message = message
	if r.message == nil {
		r.message = []byte{}
	}
	var err error
	r.line, err = describe.Message(message)
	if errors.Is(err, frame.ErrEncrypted) {
		if plain, ok := d.keys.open(r.Wrapping, message); ok {
			d.counts.opened++
			r.message, r.sealed = plain, message
			r.line, err = describe.Message(plain)
			r.line = sealedLine(message, r.line)
		} else {
			d.counts.sealed++
		}
	}
	switch {
	case err == nil, errors.Is(err, frame.ErrEncrypted):
		d.counts.tipc++
		r.class = "tipc"
	case errors.Is(err, frame.ErrUnknown):
		d.counts.unknown++
		r.class = "unknown"
	default:
		d.counts.malformed++
		r.class = "malformed"
	}
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
