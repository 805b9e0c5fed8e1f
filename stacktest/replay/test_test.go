// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/utipc/utipc/stacktest/replay"
)

// A capture and its calls are a test of a few lines. The calls stand beside it, in 06-rdm.calls.
//
// Proves: replay.test
func TestRecordedBug(t *testing.T) {
	replay.Test(t, "../../test/testdata/captures/06-rdm.pcap", replay.Options{Node: "A"})
}

// Replay says in its Verdict what was compared, and the first difference.
//
// Proves: house.docs
func ExampleReplay() {
	c, err := replay.ReadFile("../../test/testdata/captures/01-discovery-linkup.pcap")
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := replay.Replay(c, replay.Options{Node: "1.1.1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("agrees:", v.OK())
	fmt.Println("frames compared:", v.Sent, "of", v.Of)
	// Output:
	// agrees: true
	// frames compared: 36 of 36
}

// A judged is a test whose errors are looked at by another.
type judged struct {
	testing.TB
	said  []string
	fatal bool
}

func (j *judged) Errorf(format string, of ...any) {
	j.said = append(j.said, fmt.Sprintf(format, of...))
}
func (j *judged) Logf(format string, of ...any) { j.Errorf(format, of...) }
func (j *judged) Fatalf(format string, of ...any) {
	j.Errorf(format, of...)
	j.fatal = true
	runtime.Goexit()
}

// Test fails for what differs, and ends for what cannot be replayed, with the file's name.
//
// Mutations it catches: a difference is logged alone; the calls beside the capture are not read, or
// read although there are others; damaged calls are ignored.
//
// Proves: replay.test
func TestTest(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(captures, "06-rdm.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	calls, err := os.ReadFile(filepath.Join(captures, "06-rdm.calls"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name, calls string
		o           replay.Options
		want        string // "": it passes
		fatal       bool
	}{
		{"as it is", string(calls), replay.Options{Node: "A"}, "", false},
		{"without calls", "", replay.Options{Node: "1.1.1"}, "it was sent, and we send nothing", false},
		{"other calls", string(calls), replay.Options{Node: "1.1.1", Calls: []replay.Call{}}, "it was sent, and we send nothing", false},
		{"damaged calls", "0 A dance", replay.Options{Node: "1.1.1"}, "talk.calls: ", true},
		{"no such node", string(calls), replay.Options{Node: "1.1.9"}, "talk.pcap: ", true},
	} {
		file := filepath.Join(t.TempDir(), "talk.pcap")
		if err := os.WriteFile(file, whole, 0o644); err != nil {
			t.Fatal(err)
		}
		if x.calls != "" {
			if err := os.WriteFile(strings.TrimSuffix(file, ".pcap")+".calls", []byte(x.calls), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		j := &judged{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			replay.Test(j, file, x.o)
		}()
		<-done
		if got := strings.Join(j.said, "; "); (x.want == "") != (got == "") || !strings.Contains(got, x.want) || j.fatal != x.fatal {
			t.Errorf("%s: got %.300q, fatal %v, want %q, %v", x.name, got, j.fatal, x.want, x.fatal)
		}
	}
}
