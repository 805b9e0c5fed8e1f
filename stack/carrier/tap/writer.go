// SPDX-License-Identifier: Apache-2.0

package tap

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Writer writes one capture file. It is safe for concurrent use.
type Writer struct {
	snap int // the most bytes written of a frame; 0 is all

	mu  sync.Mutex // guards what follows; held while w writes
	w   io.Writer
	buf []byte // one block, used again
	err error  // the first of w, or net.ErrClosed
}

// NewWriter begins a file with frames of the interface ifname. A frame is
// written up to the length mtu allows, with its true length beside it; mtu is in
// bytes without the Ethernet header, and 0 means frames of any length. Each
// frame, and the file's header, which is written at once, is one call of
// w.Write; after one has failed nothing more is written.
func NewWriter(w io.Writer, ifname string, mtu int) *Writer {
	c := &Writer{w: w}
	if mtu > 0 {
		c.snap = mtu + frame.EthernetLen
	}
	c.buf = appendHeader(nil, ifname, uint32(c.snap))
	_, c.err = w.Write(c.buf)
	return c
}

// WriteFrame adds one frame, f, that went by at t, with a comment unless it is
// empty. It keeps neither. The error is the first any writing met, net.ErrClosed
// after Close.
func (c *Writer) WriteFrame(t time.Time, dir Direction, f []byte, comment string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	data := f
	if c.snap > 0 && len(data) > c.snap {
		data = data[:c.snap]
	}
	c.buf = appendFrame(c.buf[:0], t, dir, data, len(f), comment)
	_, c.err = c.w.Write(c.buf)
	return c.err
}

// Close ends the file: nothing is written once it has returned. It returns the
// first error any writing met, and nil when it is called again. The io.Writer
// stays open.
func (c *Writer) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.err
	c.err = net.ErrClosed
	if err == net.ErrClosed {
		return nil
	}
	return err
}
