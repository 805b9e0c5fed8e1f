// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

var decodeCommand = command{
	name:  "decode",
	short: "print the TIPC messages of packet captures, a line a frame",
	usage: `utipc decode: print the TIPC messages of packet captures, a line a frame.

    utipc decode [-v] [--lint] [--json] [--key KEY]... [--keyfile FILE] FILE...

FILE is pcap or pcapng, of Ethernet frames; - is the standard input. A line has
the frame's number in its file, the seconds since the file's first frame, the
stations it goes from and to (* is all of them), and the message. With several
files each line begins with the file's name. The last line adds up all files:

    N frames, N tipc, N unknown, N malformed

frames     all frames in the files, whatever they carry
tipc       those that carry TIPC and were read; encrypted ones too, of which the
           header is printed
unknown    those that carry TIPC of a user, type or medium that must not come
           from the wire, or does not from Ethernet or UDP
malformed  those that carry TIPC and break its rules, or are cut short, be it by
           the capture

-v         prints below each line all fields of the message, those of records and
           messages inside of it too: the header word and bits, or the offset and
           length in bytes; the name; the value
--lint     prints below each line what in the message breaks a rule of the
           protocol: the rule, the place, and what is wrong. The last line gets
           ", N findings, N habits"; a habit is what kernels are known to do
           without harm. The exit status is 1 when there is a finding
--json     prints an object a line instead: of a frame "frame", "time", "src",
           "dst", "class" (tipc, unknown, malformed or other), "summary" (the
           line's message) and "message" (its fields by the names of -v: numbers,
           booleans, texts; addresses of nodes and bytes are hexadecimal texts,
           groups objects, lists arrays); where it applies "file", "vlans", "udp",
           "bytes" and "captured" (of a frame cut by the capture), and "lint", an
           array of "rule", "where", "text", and "habit", which says why. The last object is "total". -v adds
           nothing

--key KEY  opens encrypted packets that this key was used for: 0x and hexadecimal
           digits, or characters; 16, 24 or 32 bytes for AES and 4 of salt. It may
           be given several times. Packets under keys that nodes handed
           out to each other are opened too, if the messages with them are in the
           capture and are opened. The line of such a packet begins with its header
           (slot of the key, and of the receiver's key; destined, keepalive, master,
           no-key; number); --json gives it as "sealed" beside the message. Keys
           are never printed. The last line gets ", N opened, N sealed", which adds
           up to the encrypted ones. Everybody on the host sees the arguments
--keyfile FILE  takes keys from a file, one a line; before KEY there may be a word as
           in the files of echo and ping: cluster, master, node, or peer and an ID.
           Empty lines and # say nothing

TIPC is what comes with EtherType 0x88CA, behind VLAN tags if any, or from or to
UDP port 6118 in one piece. All else counts among frames alone. A bundle counts
once, whatever is in it. A file that cannot be read to its end is reported; what
comes before counts, the other files are read, and the exit status is 1.

    utipc decode capture.pcap
    utipc decode --lint capture.pcap
    utipc decode --keyfile cluster.key --lint capture.pcap
    utipc decode --json capture.pcap | jq 'select(.message.user == "link")'
    tcpdump -i eth0 -U -w - ether proto 0x88ca | utipc decode -v -
`,
	run: func(ctx context.Context, args []string, std stdio) error {
		flags := flag.NewFlagSet("decode", flag.ContinueOnError)
		var o decodeOptions
		flags.BoolVar(&o.tree, "v", false, "")
		flags.BoolVar(&o.lint, "lint", false, "")
		flags.BoolVar(&o.json, "json", false, "")
		var wrong error
		keyFile := flags.String("keyfile", "", "")
		flags.Func("key", "", o.keys.flag(&wrong))
		files, err := parse(flags, args, 1, -1)
		if err = cmp.Or(err, wrong); err != nil {
			return err
		}
		if *keyFile != "" {
			if err := o.keys.file(*keyFile); err != nil {
				return err
			}
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
}

func (c decodeCounts) String() string {
	return fmt.Sprintf("%d frames, %d tipc, %d unknown, %d malformed", c.frames, c.tipc, c.unknown, c.malformed)
}

// json is the last line of --json.
func (c decodeCounts) json(lint, keys bool) []byte {
	o := jsonObject(nil).add("frames", c.frames).add("tipc", c.tipc).add("unknown", c.unknown).add("malformed", c.malformed).
		addIf(lint, "findings", c.findings).addIf(lint, "habits", c.habits).
		addIf(keys, "opened", c.opened).addIf(keys, "sealed", c.sealed)
	return jsonObject(nil).raw("total", o.bytes()).bytes()
}

// errDecode means that a file was not read to its end, which was said already.
var errDecode = errors.New("not all files were read")

// errLint means that messages broke rules, which was said.
var errLint = errors.New("messages break the rules")

// decode prints the frames of files and, last, the counts.
func decode(ctx context.Context, files []string, o decodeOptions, std stdio) error {
	d := decoder{decodeOptions: o, out: bufio.NewWriter(std.out)}
	var failed error
	for _, name := range files {
		if len(files) > 1 {
			d.name = name
		}
		err := d.file(ctx, name, std.in)
		var write writeError
		switch {
		case errors.As(err, &write):
			return write.err // nobody reads any more
		case err != nil && ctx.Err() == nil:
			d.out.Flush() // so that both streams keep their order on a terminal
			fmt.Fprintf(std.err, "utipc decode: %s: %v\n", name, err)
			failed = errDecode
		}
	}
	keys := len(o.keys.given) > 0
	if o.json {
		fmt.Fprintf(d.out, "%s\n", d.counts.json(o.lint, keys))
	} else {
		fmt.Fprint(d.out, d.counts)
		if o.lint {
			fmt.Fprintf(d.out, ", %d findings, %d habits", d.counts.findings, d.counts.habits)
		}
		if keys {
			fmt.Fprintf(d.out, ", %d opened, %d sealed", d.counts.opened, d.counts.sealed)
		}
		fmt.Fprintln(d.out)
	}
	if d.counts.findings > 0 && failed == nil {
		failed = errLint
	}
	return errors.Join(d.out.Flush(), failed, ctx.Err())
}

// A writeError is an error of the output, not of the file read.
type writeError struct{ err error }

func (e writeError) Error() string { return e.err.Error() }

// A decoder prints frames and counts them.
type decoder struct {
	decodeOptions
	out    *bufio.Writer
	name   string // of the file, when there are several
	counts decodeCounts
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
	}
	r, err := layers.NewReader(in)
	if err != nil {
		return err
	}
	var first time.Time
	for n := 1; ctx.Err() == nil; n++ {
		f, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("behind frame %d: %w", n-1, err)
		}
		if n == 1 {
			first = f.Time
		}
		d.counts.frames++
		err = d.print(n, f.Time.Sub(first).Seconds(), f)
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
	found   []frame.Finding
}

// read reads a frame and counts it.
func (d *decoder) read(f layers.Frame) (r result) {
	r.class = "other"
	if !f.IsEthernet() {
		r.line = fmt.Sprintf("- not Ethernet: link type %d, %d bytes", f.LinkType, f.Len)
		return r
	}
	w, message, err := layers.Unwrap(f.Data)
	r.Wrapping, r.path = w, "- "
	if len(f.Data) >= frame.EthernetLen {
		r.path = w.Src.String() + ">*"
		if w.Dst != frame.BroadcastMAC {
			r.path = w.Src.String() + ">" + w.Dst.String()
		}
		r.path += " "
	}
	for _, v := range w.VLANs {
		r.path += fmt.Sprintf("vlan=%d ", v)
	}
	switch {
	case errors.Is(err, frame.ErrNotTIPC):
		r.line = fmt.Sprintf("not TIPC: EtherType %04x, %d bytes", w.EtherType, f.Len)
		return r
	case err != nil:
		r.line = fmt.Sprintf("not read: EtherType %04x: %v", w.EtherType, err)
		return r
	case w.UDP:
		r.path += "udp "
	}
	r.message = message
	if r.message == nil {
		r.message = []byte{}
	}
	r.line, err = frame.Describe(message)
	if errors.Is(err, frame.ErrEncrypted) {
		if plain, ok := d.keys.open(w, message); ok {
			d.counts.opened++
			r.message, r.sealed = plain, message
			r.line, err = frame.Describe(plain)
			r.line = sealedLine(message, r.line)
			message = plain
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
	if d.lint {
		if r.sealed != nil {
			r.found = frame.Lint(r.sealed)
		}
		for _, x := range frame.Lint(message) {
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
	return r
}
