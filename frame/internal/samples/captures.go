// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"path/filepath"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// Captures are all there are, by the numbers in their names. A frame that is not TIPC is ARP, IGMP or ICMP, or a
// fragment of an IP datagram.
var Captures = []struct {
	Number            string
	Frames            int
	Encrypted, Others int
}{
	{"01", 69, 0, 0},
	{"02", 44, 0, 0},
	{"03", 37, 0, 0},
	{"04", 21, 0, 0},
	{"05", 158, 0, 0},
	{"06", 62, 0, 0},
	{"07", 177, 0, 0},
	{"08", 198, 0, 0},
	{"09", 138, 0, 0},
	{"10", 86, 0, 0},
	{"11", 72, 0, 0},
	{"12", 280, 0, 0},
	{"13", 281, 0, 0},
	{"14", 262, 0, 0},
	{"15", 343, 0, 0},
	{"16", 362, 0, 0},
	{"17", 433, 0, 0},
	{"18", 1050, 0, 0},
	{"19", 659, 0, 0},
	{"20", 124, 0, 0},
	{"21", 78, 0, 0},
	{"22", 182, 0, 0},
	{"23", 532, 0, 0},
	{"24", 47, 47, 0},
	{"25", 136, 136, 0},
	{"26", 66, 0, 14},
	{"27", 69, 0, 28},
}

// Read returns the frames of the capture whose file name begins with number. It is for tests of
// frame, and of packages in folders of it.
func Read(t testing.TB, number string) []layers.Frame {
	t.Helper()
	var names []string
	for _, up := range []string{"..", "../.."} {
		found, _ := filepath.Glob(filepath.Join(up, "test/testdata/captures", number+"-*.pcap"))
		names = append(names, found...)
	}
	if len(names) != 1 {
		t.Fatalf("capture %s: got %d files, want 1", number, len(names))
	}
	frames, err := layers.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

// Message returns the TIPC message of frame n, counted from 1, of a capture.
func Message(t testing.TB, number string, n int) []byte {
	t.Helper()
	_, b, err := layers.Unwrap(Read(t, number)[n-1].Data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Opened returns what is in encrypted frame n of a capture.
func Opened(t testing.TB, number string, n int) []byte {
	t.Helper()
	e, err := frame.ParseEncrypted(Message(t, number, n))
	if err != nil {
		t.Fatal(err)
	}
	return NewOpener(t).Open(e)
}

// Few returns messages of all captures, opened if they were encrypted: two of each
// length and user at most, and none of 700 bytes or more.
func Few(t testing.TB) (all [][]byte) {
	t.Helper()
	seen := map[int]int{}
	for _, c := range Captures {
		keys := NewOpener(t)
		for _, x := range Read(t, c.Number) {
			_, b, err := layers.Unwrap(x.Data)
			if err != nil {
				continue
			}
			if e, err := frame.ParseEncrypted(b); err == nil {
				b = keys.Open(e)
			}
			if k := len(b)<<4 | int(frame.UserOf(b)); len(b) < 700 && seen[k] < 2 {
				seen[k]++
				all = append(all, b)
			}
		}
	}
	return all
}
