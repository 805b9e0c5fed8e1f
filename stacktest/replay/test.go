// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Test replays one node of the capture in a file, and makes the first answer that differs an error
// of the test, with both frames. Where o.Calls is nil the calls are those of CallsOf. What of
// the capture was left out is logged. A file that cannot be read or replayed ends the test.
func Test(t testing.TB, file string, o Options) *Verdict {
	t.Helper()
	c, err := ReadFile(file)
	if err == nil && o.Calls == nil {
		o.Calls, err = CallsOf(file)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	v, err := Replay(c, o)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, n := range v.Notes {
		t.Logf("%s: %s", file, n)
	}
	switch {
	case v.Diff != nil:
		t.Errorf("%s: %v\n%v", file, v, v.Diff)
	case !v.OK():
		t.Errorf("%s: %v", file, v)
	}
	return v
}

// CallsOf reads the calls that stand beside a capture: of talk.pcap in talk.calls. Without such a
// file there are none. Errors: ErrCalls with the name and the line; of reading the file.
func CallsOf(capture string) ([]Call, error) {
	calls, err := ReadCalls(strings.TrimSuffix(capture, filepath.Ext(capture)) + ".calls")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return calls, err
}

// ReadCalls reads calls from a file. Errors as CallsOf, and os.ErrNotExist.
func ReadCalls(name string) ([]Call, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	calls, err := ParseCalls(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return calls, nil
}
