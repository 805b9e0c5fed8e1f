// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"time"
)

// A CaptureConfig says what a Capture takes. The zero value takes all frames of all
// bearers, whole.
type CaptureConfig struct {
	Bearers []string `json:"bearers,omitempty"` // by name, "eth0" or "eth:eth0"; none: all, those too that are enabled later
	Snap    int      `json:"snap,omitempty"`    // bytes kept of a frame, its Ethernet header among them, 14 or more; 0: all
	Frames  int      `json:"frames,omitempty"`  // that may wait to be read, 1 to 65536; 0: 4096
	Memory  int      `json:"memory,omitempty"`  // bytes for them, 65536 to 64 MiB; 0: 4 MiB
}

// A CapturedFrame is a frame that came in or went out.
type CapturedFrame struct {
	Time    time.Time `json:"time"`
	Bearer  string    `json:"bearer"`
	Out     bool      `json:"out"`               // else in
	Length  int       `json:"length"`            // bytes it had, of which Data may be fewer
	Data    []byte    `json:"data"`              // from its Ethernet header on
	Comment string    `json:"comment,omitempty"` // what happened to it: "dropped: …" with the reasons that the node counted, "retransmission 2", "refused: …" by the device
}

// A Capture is the frames that pass through the bearers of a node, sealed as they are on
// the wire, from when it was begun until it is closed. Its queue is limited: frames
// beyond are lost, and counted. Its methods may be called by any number of goroutines.
type Capture interface {
	// Next returns the next frame; it waits for one until ctx is done. The frame's Data is
	// the caller's. Errors: net.ErrClosed after Close and, once all frames are read, after
	// the node's end; the context's.
	Next(ctx context.Context) (CapturedFrame, error)
	// Lost is the number of frames for which there was no room, so far.
	Lost() uint64
	// Close ends the capture; frames that wait are gone. It always returns nil.
	Close() error
}

// Capture begins a capture on the running node. It ends with Close, or when ctx is done,
// or with the node. Without any it costs the node nothing. Errors: a *Refusal with EINVAL for
// settings that cannot be, or a bearer that is not there, with EUSERS for more than eight
// captures; net.ErrClosed; the context's.
func (a *Admin) Capture(ctx context.Context, cfg CaptureConfig) (Capture, error) {
	return a.b.Capture(ctx, cfg)
}
