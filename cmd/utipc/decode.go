// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
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

    utipc decode FILE...

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

TIPC is what comes with EtherType 0x88CA, behind VLAN tags if any, or from or to
UDP port 6118 in one piece. All else counts among frames alone. A bundle counts
once, whatever is in it. A file that cannot be read to its end is reported; what
comes before counts, the other files are read, and the exit status is 1.

    utipc decode capture.pcap
    tcpdump -i eth0 -U -w - ether proto 0x88ca | utipc decode -
`,
	run: func(ctx context.Context, args []string, std stdio) error {
		files, err := parse(flag.NewFlagSet("decode", flag.ContinueOnError), args, 1, -1)
		if err != nil {
			return err
		}
		return decode(ctx, files, std)
	},
}

// decodeCounts is what the last line says. A frame is in frames and in at most
// one of the others.
type decodeCounts struct {
	frames    int // all
	tipc      int // carried as TIPC, and read or encrypted
	unknown   int // carried as TIPC: frame.ErrUnknown
	malformed int // carried as TIPC: any other error
}

func (c decodeCounts) String() string {
	return fmt.Sprintf("%d frames, %d tipc, %d unknown, %d malformed", c.frames, c.tipc, c.unknown, c.malformed)
}

// errDecode means that a file was not read to its end, which was said already.
var errDecode = errors.New("not all files were read")

// decode prints the frames of files and, last, the counts.
func decode(ctx context.Context, files []string, std stdio) error {
	d := decoder{out: bufio.NewWriter(std.out)}
	var failed error
	for _, name := range files {
		if len(files) > 1 {
			d.prefix = name + ":"
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
	fmt.Fprintln(d.out, d.counts)
	return errors.Join(d.out.Flush(), failed, ctx.Err())
}

// A writeError is an error of the output, not of the file read.
type writeError struct{ err error }

func (e writeError) Error() string { return e.err.Error() }

// A decoder prints frames and counts them.
type decoder struct {
	out    *bufio.Writer
	prefix string
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
		fmt.Fprintf(d.out, "%s%5d %11.6f %s", d.prefix, n, f.Time.Sub(first).Seconds(), d.frame(f))
		if f.Cut() {
			fmt.Fprintf(d.out, " (%d bytes captured of %d)", len(f.Data), f.Len)
		}
		if _, err = fmt.Fprintln(d.out); err == nil && live {
			err = d.out.Flush()
		}
		if err != nil {
			return writeError{err}
		}
	}
	return ctx.Err()
}

// frame counts a frame and returns the rest of its line.
func (d *decoder) frame(f layers.Frame) string {
	if !f.IsEthernet() {
		return fmt.Sprintf("- not Ethernet: link type %d, %d bytes", f.LinkType, f.Len)
	}
	w, message, err := layers.Unwrap(f.Data)
	path := "- "
	if len(f.Data) >= frame.EthernetLen {
		path = w.Src.String() + ">*"
		if w.Dst != frame.BroadcastMAC {
			path = w.Src.String() + ">" + w.Dst.String()
		}
		path += " "
	}
	for _, v := range w.VLANs {
		path += fmt.Sprintf("vlan=%d ", v)
	}
	switch {
	case errors.Is(err, frame.ErrNotTIPC):
		return path + fmt.Sprintf("not TIPC: EtherType %04x, %d bytes", w.EtherType, f.Len)
	case err != nil:
		return path + fmt.Sprintf("not read: EtherType %04x: %v", w.EtherType, err)
	case w.UDP:
		path += "udp "
	}
	line, err := frame.Describe(message)
	switch {
	case err == nil, errors.Is(err, frame.ErrEncrypted):
		d.counts.tipc++
	case errors.Is(err, frame.ErrUnknown):
		d.counts.unknown++
	default:
		d.counts.malformed++
	}
	return path + line
}
