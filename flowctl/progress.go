// SPDX-License-Identifier: Apache-2.0

package flowctl

import "github.com/utipc/utipc/frame"

// Queued is the number of the last packet that was taken: the one it has, or that it
// will have when those before it are sent.
func (l *Link) Queued() frame.Seq { return l.sndNxt - 1 + frame.Seq(l.Backlog()) }

// HasAcked reports whether packet s and all before it are acknowledged. s must not be
// older than half the numbers there are.
func (l *Link) HasAcked(s frame.Seq) bool {
	return s.Before(l.sndNxt - frame.Seq(l.transmit.Len()))
}
