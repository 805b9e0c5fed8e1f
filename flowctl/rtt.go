// SPDX-License-Identifier: Apache-2.0

package flowctl

import "time"

// A roundTrip estimates how long an answer of the peer takes. Three things tell: the
// answer to a probe, a missing packet that comes after it was reported, and an
// acknowledgement. What was asked twice tells nothing, as nobody knows which question
// is answered (Karn's rule). Acknowledgements come late when the peer has nothing to
// say: those that were not due at once can only make the estimate smaller.
type roundTrip struct {
	estimate time.Duration // 0 while unknown
	probed   time.Duration // when the probe that is not answered was sent
	reported time.Duration // when the packet expected was reported missing
	probes   uint8         // sent and not answered, up to 2
	reports  uint8         // of the packet expected, up to 2
}

// askProbe notes that a probe was sent.
func (r *roundTrip) askProbe(now time.Duration) {
	r.probed = now
	r.probes = min(r.probes+1, 2)
}

// answerProbe notes that the peer answered a probe.
func (r *roundTrip) answerProbe(now time.Duration) {
	if r.probes == 1 {
		r.measure(now - r.probed)
	}
	r.probes = 0
}

// askMissing notes that the packet expected was reported missing.
func (r *roundTrip) askMissing(now time.Duration) {
	r.reported = now
	r.reports = min(r.reports+1, 2)
}

// answerMissing notes that the packet expected has come.
func (r *roundTrip) answerMissing(now time.Duration) {
	if r.reports == 1 {
		r.measure(now - r.reported)
	}
	r.reports = 0
}

// acknowledged notes that a packet sent once, at sent, was acknowledged; prompt says
// that the peer did so as soon as it came.
func (r *roundTrip) acknowledged(now, sent time.Duration, prompt bool) {
	if d := now - sent; prompt || r.estimate == 0 && d <= fullWait || d < r.estimate {
		r.measure(d)
	}
}

// measure moves the estimate an eighth of the way to d; the first is taken as it is.
func (r *roundTrip) measure(d time.Duration) {
	if r.estimate == 0 {
		r.estimate = max(d, 1)
	} else {
		r.estimate = max(r.estimate+(d-r.estimate)/8, 1)
	}
}
