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
	"time"

	"github.com/utipc/utipc/frame/conversation"
	"github.com/utipc/utipc/frame/layers"
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
