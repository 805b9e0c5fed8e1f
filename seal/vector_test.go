// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parseKey(t testing.TB, mode frame.KeyMode, text string) *seal.Key {
	t.Helper()
	k, err := seal.ParseKey(mode, text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The vector of docs/spec/09-security.md §1.2.
const (
	vectorInner = `40 c0 00 1d 00 00 00 07 00 05 00 06 0a 0b 0c 0d
		c0 00 00 01 50 00 00 02 68 65 6c 6c 6f`
	vectorPacket = `e1 50 00 00 00 00 00 00 00 00 00 01 0a 0b 0c 0d
		a4 99 3f b2 06 f1 e0 2d 50 35 58 6e 63 8c f4 97
		ab c4 08 8e a7 16 fc c2 7e 52 53 ed b2 35 23 43
		05 00 ad b9 39 22 b3 a3 73 75 b3 a2 a4 85 e2 59`
)

// Proves: seal.vectors
func TestVector(t *testing.T) {
	key := parseKey(t, frame.ClusterKey, "this_is_a_key16_salt")
	inner, want := unhex(t, vectorInner), unhex(t, vectorPacket)
	h := &seal.Header{TX: 1, RX: 1, Destined: true}
	for _, inPlace := range []bool{false, true} {
		s, err := seal.NewSender(key, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := bytes.Repeat([]byte{0xff}, len(want))
		plain := inner
		if inPlace {
			plain = got[frame.SealedLen:][:copy(got[frame.SealedLen:], inner)]
		}
		n, err := s.Seal(got, plain, h)
		if err != nil || !bytes.Equal(got[:n], want) {
			t.Errorf("in place %v: got %x, %v, want %x", inPlace, got[:n], err, want)
		}
		if n != seal.SealedSize(inner) {
			t.Errorf("got %d bytes, SealedSize %d", n, seal.SealedSize(inner))
		}
		e, err := frame.ParseEncrypted(got)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Open(e, 0x01001002); err != nil || !bytes.Equal(got, append(bytes.Clone(inner), 0, 0, 0)) {
			t.Errorf("opened %x, %v, want %x and 3 zeros", got, err, inner)
		}
	}
}
