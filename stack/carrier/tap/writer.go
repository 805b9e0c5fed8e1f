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

	mu     sync.Mutex // guards what follows; held while w writes
	w      io.Writer
	buf    []byte // one block, used again
	ifaces int
	err    error // the first of w, or net.ErrClosed
}

// NewWriter begins a file with frames of the interface ifname. A frame is
// written up to the length mtu allows, with its true length beside it; mtu is in
// bytes without the Ethernet header, and 0 means frames of any length. Each
// frame, and the file's header, which is written at once, is one call of
// w.Write; after one has failed nothing more is written.
func NewWriter(w io.Writer, ifname string, mtu int) *Writer {
	c := &Writer{w: w, ifaces: 1}
	if mtu > 0 {
		c.snap = mtu + frame.EthernetLen
	}
	c.buf = appendInterface(appendSection(nil), ifname, uint32(c.snap))
	_, c.err = w.Write(c.buf)
	return c
}

// NewMultiWriter begins a file with frames of several interfaces, which Interface adds.
// Its header is written at once. WriteFrame is not for it.
func NewMultiWriter(w io.Writer) *Writer {
	c := &Writer{w: w, buf: appendSection(nil)}
	_, c.err = w.Write(c.buf)
	return c
}

// Interface adds an interface and returns its number in the file, for WriteCut. snap is
// the most bytes of a frame that there will be, 0 if any number. The error is as
// WriteFrame's.
func (c *Writer) Interface(name string, snap int) (id int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	c.buf = appendInterface(c.buf[:0], name, uint32(snap))
	if _, c.err = c.w.Write(c.buf); c.err != nil {
		return 0, c.err
	}
	c.ifaces++
	return c.ifaces - 1, nil
}

// WriteCut adds a frame of an interface that was length bytes long, of which data is the
// beginning; else as WriteFrame. It panics when there is no such interface.
func (c *Writer) WriteCut(iface int, t time.Time, dir Direction, data []byte, length int, comment string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if iface < 0 || iface >= c.ifaces {
		panic("tap: no such interface")
	}
	return c.write(iface, t, dir, data, length, comment)
}

func (c *Writer) write(iface int, t time.Time, dir Direction, data []byte, length int, comment string) error {
	if c.err != nil {
		return c.err
	}
	c.buf = appendFrame(c.buf[:0], iface, t, dir, data, length, comment)
	_, c.err = c.w.Write(c.buf)
	return c.err
}

// WriteFrame adds one frame, f, that went by at t, with a comment unless it is
// empty. It keeps neither. The error is the first any writing met, net.ErrClosed
// after Close.
func (c *Writer) WriteFrame(t time.Time, dir Direction, f []byte, comment string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	data := f
	if c.snap > 0 && len(data) > c.snap {
		data = data[:c.snap]
	}
	return c.write(0, t, dir, data, len(f), comment)
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
