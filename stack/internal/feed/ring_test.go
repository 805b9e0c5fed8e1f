// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"testing"

	"github.com/utipc/utipc/stack/admin"
)

// A frame of more than half of the memory finds room when nothing waits, wherever the one
// before it ended.
func TestCaptureRingTakesLongFrames(t *testing.T) {
	var r ring
	r.init(4, 1<<16)
	for i, size := range []int{40000, 50000, 1, 65536, 33000, 33000} {
		r.put(admin.CapturedFrame{Data: make([]byte, size)})
		f, err := r.next(t.Context())
		if err != nil || len(f.Data) != size || r.dropped() != 0 {
			t.Fatalf("frame %d: got %d bytes of %d, %v, lost %d", i, len(f.Data), size, err, r.dropped())
		}
		if r.used != 0 {
			t.Fatalf("%d bytes are used, of nothing", r.used)
		}
	}
}
