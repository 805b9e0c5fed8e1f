// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strconv"
	"time"

	"github.com/utipc/utipc/frame/layers"
)

// captureEpoch is when the virtual clock began, in captures.
var captureEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// openCapture begins the capture asked for, with an interface for each network.
func (w *world) openCapture() {
	if w.cfg.Capture == nil {
		return
	}
	var names []string
	for i := range w.nets {
		names = append(names, "net"+strconv.Itoa(i))
	}
	var err error
	if w.capture, err = layers.NewWriter(w.cfg.Capture, names...); err != nil {
		w.report.CaptureError = err
	}
}

// record puts a frame into the capture, at the time it is sent.
func (w *world) record(net int, b []byte) {
	if w.capture == nil || w.report.CaptureError != nil {
		return
	}
	w.report.CaptureError = w.capture.Write(captureEpoch.Add(w.clock.now), net, b)
}

// closeCapture writes what is left of the capture.
func (w *world) closeCapture() {
	if w.capture != nil && w.report.CaptureError == nil {
		w.report.CaptureError = w.capture.Flush()
	}
}
