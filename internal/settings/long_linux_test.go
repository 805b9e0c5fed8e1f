// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A file of nothing but mistakes takes no time that grows with its square. It is time of the
// processor: others' work, and standing still, do not count.
func TestLongFiles(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spent := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for _, doc := range []string{
		strings.Repeat("[[bearer]]\n", 6000), strings.Repeat("a=1\n", 16000), strings.Repeat("[x.y]\n", 10000),
		"a=" + strings.Repeat("{a=", 9000) + "1" + strings.Repeat("}", 9000), strings.Repeat("a.", 30000) + "a=1",
	} {
		before := spent()
		_, err := Parse("f", []byte(doc), nil)
		if err == nil || len(err.Error()) > 100*(maxProblems+1) {
			t.Errorf("%.20q…: an error of %d bytes", doc, len(err.Error()))
		}
		if took := spent() - before; took > 20*time.Second { // 0.1 s where nothing else runs
			t.Errorf("%.20q…: %v", doc, took)
		}
	}
}
