// SPDX-License-Identifier: Apache-2.0

package channel_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/interop/channel"
)

// Proves: link.gaps
func TestRoundTrip(t *testing.T) {
	var b bytes.Buffer
	sent := []channel.Message{
		{N: 1, Op: channel.Hello, Args: []string{"6.1"}},
		{N: 2, Op: channel.Line, ID: 7, Text: "a\nb\x00\"c\" \u00e9"},
		{N: 3, Op: channel.Exit, ID: 7, Code: 137},
	}
	w := channel.NewWriter(&b)
	for _, m := range sent {
		if err := w.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	r := channel.NewReader(&b)
	for _, want := range sent {
		got, err := r.Receive()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestReceiveNoticesLoss(t *testing.T) {
	for _, in := range []string{
		`{"n":2,"op":"line"}` + "\n",
		`{"n":1,"op":"li{"n":2}` + "\n",
		"\n",
	} {
		if m, err := channel.NewReader(strings.NewReader(in)).Receive(); err == nil {
			t.Errorf("%q: got %+v, want an error", in, m)
		}
	}
}
