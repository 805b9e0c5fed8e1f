// SPDX-License-Identifier: Apache-2.0

package attach_test

import (
	"strings"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
)

// A name is read as it was written, and nothing else is a name. Mutations it catches: Text swaps port and
// node, or writes a service that does not count; ParsePlainName takes a field of any length, or one field
// more, or another prefix.
//
// Proves: plain.connections
func TestPlainName(t *testing.T) {
	for _, n := range []attach.PlainName{
		{},
		{Kind: attach.KindStream, Addr: frame.SocketAddr{Port: 1<<32 - 1, Node: 0x1001001}, Cookie: 1<<64 - 1},
		{Kind: attach.KindRDM, Addr: frame.SocketAddr{Port: 2, Node: 3}, Cookie: 4, Service: frame.Service{Type: 5, Instance: 6}, Named: true},
	} {
		text := n.Text()
		got, signed, check, ok := attach.ParsePlainName(text + "0a")
		if !ok || got != n || signed != text || check != "0a" {
			t.Errorf("%s: got %+v, %q, %q, %v", text, got, signed, check, ok)
		}
	}
	const good = "@utipc1/1/0000000100000002/0000000000000003/0000000400000005/06"
	n, _, _, ok := attach.ParsePlainName(good)
	want := attach.PlainName{Kind: attach.KindStream, Addr: frame.SocketAddr{Port: 1, Node: 2}, Cookie: 3, Service: frame.Service{Type: 4, Instance: 5}, Named: true}
	if !ok || n != want {
		t.Errorf("got %+v, %v, want %+v", n, ok, want)
	}
	for _, bad := range []string{
		"", "@utipc1/", good[1:], "@utipc2" + good[7:], good + "/07", good[:len(good)-3],
		strings.Replace(good, "/1/", "/11/", 1), strings.Replace(good, "/1/", "/x/", 1),
		strings.Replace(good, "/00000001", "/000000001", 1), strings.Replace(good, "00000003", "0000003", 1),
		strings.Replace(good, "00000003", "0000000x", 1), strings.Replace(good, "00000005", "+0000005", 1), strings.Replace(good, "00000004", "", 1),
	} {
		if n, _, _, ok := attach.ParsePlainName(bad); ok || n != (attach.PlainName{}) {
			t.Errorf("%q is %+v", bad, n)
		}
	}
}
