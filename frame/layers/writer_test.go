// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/utipc/utipc/frame/layers"
)

// What is written is read again: frames, times to the nanosecond, in order, of all
// interfaces.
func TestWriterIsRead(t *testing.T) {
	var b bytes.Buffer
	w, err := layers.NewWriter(&b, "net0", "net1")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2000, 1, 1, 0, 0, 0, 123456789, time.UTC)
	sent := [][]byte{bytes.Repeat([]byte{1}, 60), bytes.Repeat([]byte{2}, 1514)}
	for i, data := range sent {
		if err := w.Write(at.Add(time.Duration(i)), i, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(b.Bytes())
	if err != nil || len(got) != len(sent) {
		t.Fatalf("got %d frames, %v, want %d, nil", len(got), err, len(sent))
	}
	for i, f := range got {
		if !bytes.Equal(f.Data, sent[i]) || !f.Time.Equal(at.Add(time.Duration(i))) {
			t.Errorf("frame %d: got %d bytes at %v, want %d at %v", i+1, len(f.Data), f.Time, len(sent[i]), at.Add(time.Duration(i)))
		}
	}
	if err := w.Write(at, 2, sent[0]); err == nil {
		t.Error("a frame of an interface that is not there: got no error")
	}
}
