// SPDX-License-Identifier: Apache-2.0

package genetlink_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/utipc/utipc/daemon/genetlink"
	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// longestAnswer bounds a datagram of an answer: a page, or an error with the whole request behind it.
const longestAnswer = 4096

// Whatever a program writes, the answers are whole messages, at most a page a datagram or as
// long as the request and a page, and there are no more datagrams than the requests can have.
//
// Mutation it catches: an address whose length is not compared with what is there.
//
// Proves: plain.netlink
func FuzzServe(f *testing.F) {
	family := func(flags uint16, c byte, attrs []byte) []byte { return request(16, flags, c, attrs) }
	f.Add(family(ack, 3, text(2, "TIPCv2")), true, true)
	f.Add(family(ack, 3, attr(1, []byte{0xff, 3})), true, false)
	f.Add(family(list, 3, nil), false, false)
	for c := byte(0); c < 26; c++ {
		f.Add(request(genetlink.FamilyID, list, c, nil), true, true)
		f.Add(request(genetlink.FamilyID, ack, c, nest(uint16(c)%10+1, text(1, "eth:eth0"), nest(2, word(1, 5), word(2, 1000)))), c&1 != 0, c&2 != 0)
	}
	f.Add(request(genetlink.FamilyID, ack, 3, nest(1, text(1, "udp:U"), nest(4, attr(1, loopback(9, 0)[:9]), attr(2, loopback(9, 1))))), true, true)
	f.Add(request(genetlink.FamilyID, ack, 23, nest(6, attr(4, key("gcm(aes)", "0123456789abcdefsalt")))), true, true)
	f.Add(request(genetlink.FamilyID, ack, 23, nest(6, attr(4, []byte("gcm(aes)")))), true, true)
	deep := word(1, 1)
	for range 500 {
		deep = nest(7, deep)
	}
	f.Add(request(genetlink.FamilyID, ack, 9, deep), false, false)
	f.Add(request(genetlink.FamilyID, ack, 9, deep)[:100], false, false)
	f.Add(bytes.Repeat(request(genetlink.FamilyID, ack, 18, nil), 100), true, true)
	n := open(f, hub.New(hub.Config{}), own)
	f.Fuzz(func(t *testing.T, b []byte, capped, texts bool) {
		if len(b) > 65536 {
			return
		}
		datagrams := 0
		s := genetlink.Socket{Port: port, Capped: capped, Texts: texts, Write: func(a []byte) error {
			datagrams++
			if len(a) > longestAnswer+len(b) || len(a) == 0 {
				t.Fatalf("a datagram of %d bytes", len(a))
			}
			for len(a) > 0 {
				m, rest, ok := netlink.Next(a)
				if !ok || m.Cut || binary.NativeEndian.Uint32(a[12:]) != port {
					t.Fatalf("no message: %x", a)
				}
				a = rest
			}
			return nil
		}}
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := s.Serve(ctx, n, b); err != nil {
			t.Fatal(err)
		}
		if most := (len(b)/netlink.HeaderLen + 1) * 4; datagrams > most {
			t.Errorf("%d datagrams", datagrams)
		}
	})
}

// A program that reads no more ends the work for it, in the middle of a list.
//
// Mutation it catches: a list that goes on after a write that failed.
//
// Proves: plain.netlink
func TestWriteFails(t *testing.T) {
	n := open(t, hub.New(hub.Config{}), own)
	gone := errors.New("gone")
	for _, b := range [][]byte{
		request(genetlink.FamilyID, list, 16, nil), request(genetlink.FamilyID, ack, 18, nil), request(16, 0, 3, text(2, "TIPCv2")),
	} {
		writes := 0
		s := genetlink.Socket{Port: port, Write: func([]byte) error { writes++; return gone }}
		if err := s.Serve(t.Context(), n, append(b, b...)); err != gone || writes != 1 {
			t.Errorf("got %v after %d writes, want %v after one", err, writes, gone)
		}
	}
}

// A message that is not whole is not answered, as a kernel does not.
//
// Mutation it catches: Serve without a look at Cut.
//
// Proves: plain.netlink
func TestCutRequests(t *testing.T) {
	n := open(t, hub.New(hub.Config{}), own)
	whole := request(genetlink.FamilyID, ack, 18, word(1, 1))
	for i := range len(whole) {
		s := genetlink.Socket{Port: port, Write: func(b []byte) error {
			t.Errorf("%d of %d bytes: got %x", i, len(whole), b)
			return nil
		}}
		if err := s.Serve(t.Context(), n, whole[:i]); err != nil {
			t.Error(err)
		}
	}
}
