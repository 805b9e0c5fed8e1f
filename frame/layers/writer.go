// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"io"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

// A Writer writes Ethernet frames of one or more interfaces as a pcapng file, with
// times in nanoseconds. Flush it at the end.
type Writer struct{ ng *pcapgo.NgWriter }

// NewWriter begins a file with interfaces of the given names, at least one.
func NewWriter(w io.Writer, names ...string) (*Writer, error) {
	var ng *pcapgo.NgWriter
	for i, name := range names {
		n := pcapgo.NgInterface{Name: name, LinkType: layers.LinkTypeEthernet, TimestampResolution: 9}
		var err error
		if i == 0 {
			ng, err = pcapgo.NewNgWriterInterface(w, n, pcapgo.DefaultNgWriterOptions)
		} else {
			_, err = ng.AddInterface(n)
		}
		if err != nil {
			return nil, err
		}
	}
	return &Writer{ng}, nil
}

// Write adds a frame of the interface of a number, counted from 0.
func (w *Writer) Write(t time.Time, iface int, b []byte) error {
	return w.ng.WritePacket(gopacket.CaptureInfo{Timestamp: t, CaptureLength: len(b), Length: len(b), InterfaceIndex: iface}, b)
}

// Flush writes what is left.
func (w *Writer) Flush() error { return w.ng.Flush() }
