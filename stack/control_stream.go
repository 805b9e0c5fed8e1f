// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"syscall"
	"time"
)

// A StreamItem is one of what a management call tells item by item.
type StreamItem struct {
	Kind uint32
	Lost uint32 // items just before
	Time time.Time
	Data []byte
}

// A controlStream is a management call that tells until ctx is done.
type controlStream struct {
	class ControlClass
	serve func(ctx context.Context, n *Node, in []byte, started func() error, give func(StreamItem) error) error
}

// controlStreams are Node.Capture, whose items are frames, and Node.Watch, whose items are
// JSON, a NodeEvent each.
var controlStreams = map[string]controlStream{
	"capture": {CaptureControl, serveCapture},
	"watch":   {ShowControl, serveWatch},
}

// StreamClassOf is ControlClassOf for calls that tell item by item.
func StreamClassOf(verb string) (class ControlClass, ok bool) {
	c, ok := controlStreams[verb]
	return c.class, ok
}

// ServeStream is ServeControl for such calls: it calls started once there will be items,
// and give for each, which may wait, until ctx is done or one of the two fails. give's
// data is its own. Errors as of ServeControl, and theirs.
func ServeStream(ctx context.Context, n *Node, verb string, in []byte, started func() error, give func(StreamItem) error) error {
	c, ok := controlStreams[verb]
	if !ok {
		return fmt.Errorf("%w: no stream %.32q", syscall.ENOSYS, verb)
	}
	return c.serve(ctx, n, in, started, give)
}

func serveCapture(ctx context.Context, n *Node, in []byte, started func() error, give func(StreamItem) error) error {
	var cfg CaptureConfig
	if err := words(in, &cfg); err != nil {
		return err
	}
	c, err := n.Capture(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := started(); err != nil {
		return err
	}
	told := uint64(0)
	for {
		f, err := c.Next(ctx)
		if err != nil {
			return err
		}
		lost := c.Lost()
		item := StreamItem{Lost: uint32(lost - told), Time: f.Time, Data: appendCaptured(nil, &f)}
		told = lost
		if f.Out {
			item.Kind = 1
		}
		if err := give(item); err != nil {
			return err
		}
	}
}

// appendCaptured appends what the data of an item has of a frame: u32 length on the wire,
// u16 length of the bearer's name and of the comment, these two, the frame.
func appendCaptured(b []byte, f *CapturedFrame) []byte {
	bearer, comment := f.Bearer[:min(len(f.Bearer), 1<<16-1)], f.Comment[:min(len(f.Comment), 1<<16-1)]
	b = binary.NativeEndian.AppendUint32(b, uint32(f.Length))
	b = binary.NativeEndian.AppendUint16(b, uint16(len(bearer)))
	b = binary.NativeEndian.AppendUint16(b, uint16(len(comment)))
	return append(append(append(b, bearer...), comment...), f.Data...)
}

// parseCaptured reads such data, whose frame shares memory with it; ok is false where it
// is none.
func parseCaptured(b []byte) (f CapturedFrame, ok bool) {
	if len(b) < 8 {
		return f, false
	}
	name, comment := int(binary.NativeEndian.Uint16(b[4:])), int(binary.NativeEndian.Uint16(b[6:]))
	if len(b) < 8+name+comment {
		return f, false
	}
	f.Length = int(binary.NativeEndian.Uint32(b))
	b = b[8:]
	f.Bearer, f.Comment, f.Data = string(b[:name]), string(b[name:name+comment]), b[name+comment:]
	return f, true
}

func serveWatch(ctx context.Context, n *Node, in []byte, started func() error, give func(StreamItem) error) error {
	if err := words(in, &none{}); err != nil {
		return err
	}
	w, err := n.Watch()
	if err != nil {
		return err
	}
	defer w.Close()
	if err := started(); err != nil {
		return err
	}
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			return err
		}
		data, err := json.Marshal(ev)
		if err != nil {
			return err
		}
		if err := give(StreamItem{Lost: uint32(ev.Lost), Time: ev.Time, Data: data}); err != nil {
			return err
		}
	}
}
