// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"testing"
)

func FuzzFrame(f *testing.F) {
	first := Frame{Bearer: "eth0", Comment: "retransmission 2", Length: 60, Data: []byte("frame")}
	f.Add(first.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := ParseFrame(b)
		if err != nil {
			return
		}
		if again := x.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("got %x, want %x", again, b)
		}
	})
}
