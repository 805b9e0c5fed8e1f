// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// Proves: seal.rules
func TestNewKeyLengths(t *testing.T) {
	for n := range 80 {
		for mode := range frame.KeyMode(4) {
			k, err := seal.NewKey(mode, make([]byte, n))
			want := (n == 20 || n == 28 || n == 36) && (mode == frame.ClusterKey || mode == frame.NodeKey)
			if (err == nil) != want || !want && !errors.Is(err, seal.ErrKey) || want && k.Len() != n {
				t.Errorf("%d bytes, mode %d: got %v, %v", n, mode, k, err)
			}
		}
	}
}

// Proves: seal.rules
func TestParseKey(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"this_is_a_key16_salt", "746869735f69735f615f6b657931365f73616c74"},
		{"0x00112233445566778899aabbccddeeffdeadbeef", "00112233445566778899aabbccddeeffdeadbeef"},
		{"0x00112233445566778899AABBCCDDEEFFDEADBEEF", "00112233445566778899aabbccddeeffdeadbeef"},
		{strings.Repeat("k", 28), strings.Repeat("6b", 28)},
		{"0x" + strings.Repeat("5a", 36), strings.Repeat("5a", 36)},
		{"0x" + strings.Repeat("k", 18), "3078" + strings.Repeat("6b", 18)[:0]}, // an error: not hexadecimal
		{"0x123", ""},
		{"0x1234", ""},
		{"0x" + strings.Repeat("5a", 37), ""},
		{"0x" + strings.Repeat("5a", 20) + "5", ""},
		{"0X" + strings.Repeat("5a", 20), ""}, // 42 characters
		{strings.Repeat("k", 37), ""},
		{"", ""},
		{"0x", ""},
	} {
		k, err := seal.ParseKey(frame.ClusterKey, c.text)
		if len(c.want) < 40 {
			if !errors.Is(err, seal.ErrKey) {
				t.Errorf("%d characters: got %v, %v, want ErrKey", len(c.text), k, err)
			} else if len(c.text) > 2 && strings.Contains(err.Error(), c.text[2:]) {
				t.Errorf("the error %q has the key in it", err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%d characters: %v", len(c.text), err)
		} else if got := hex.EncodeToString(k.Append(nil)); got != c.want {
			t.Errorf("%d characters: got %s, want %s", len(c.text), got, c.want)
		}
	}
}

// TestKeyIsNeverShown prints, logs and encodes a key in every way at hand, by
// itself and inside of other values.
//
// Proves: seal.secrets
func TestKeyIsNeverShown(t *testing.T) {
	const text = "SECRETsecretSE98salt"
	k := parseKey(t, frame.ClusterKey, text)
	type outer struct {
		Shown  *seal.Key
		Value  seal.Key
		hidden *seal.Key
		inside seal.Key
	}
	r := seal.NewRing(0, true)
	if _, err := r.SetKey(0, k, 1); err != nil {
		t.Fatal(err)
	}
	c, err := seal.NewCipher(k)
	if err != nil {
		t.Fatal(err)
	}
	o := outer{k, *k, k, *k}
	var out bytes.Buffer
	for _, v := range []any{k, *k, o, &o, []*seal.Key{k}, map[string]seal.Key{"a": *k}, r, *r, c} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%T", "%p", "%c"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("key", "key", v)
		}
		if b, err := json.Marshal(v); err == nil {
			out.Write(b)
		}
		if b, err := xml.Marshal(v); err == nil {
			out.Write(b)
		}
		gob.NewEncoder(&out).Encode(v)
	}
	if out.Len() < 1000 {
		t.Fatalf("got %d bytes of output: nothing was printed", out.Len())
	}
	dec := make([]string, 6)
	for i := range dec {
		dec[i] = fmt.Sprint(text[i])
	}
	for _, secret := range []string{
		text[:4], text[6:10], text[10:16], "salt", hex.EncodeToString([]byte(text[:4])),
		strings.ToUpper(hex.EncodeToString([]byte(text[:4]))), strings.Join(dec, " "), strings.Join(dec, ", "),
		fmt.Sprintf("% x", text[:4]), fmt.Sprintf("%#v", []byte(text[:4]))[7:20],
	} {
		if i := strings.Index(out.String(), secret); i >= 0 {
			t.Errorf("got %q in the output: …%s…", secret, out.String()[max(0, i-60):min(out.Len(), i+60)])
		}
	}
	for _, c := range []struct {
		n    int
		mode frame.KeyMode
		want string
	}{{20, frame.ClusterKey, "aes-128 cluster key"}, {28, frame.NodeKey, "aes-192 node key"}, {36, frame.NodeKey, "aes-256 node key"}} {
		k, err := seal.NewKey(c.mode, make([]byte, c.n))
		if err != nil || k.String() != c.want {
			t.Errorf("got %v, %v, want %s", k, err, c.want)
		}
	}
}

// Proves: seal.secrets
func TestKeyWipe(t *testing.T) {
	k := parseKey(t, frame.ClusterKey, benchKey)
	same, clone := parseKey(t, frame.NodeKey, benchKey), k.Clone()
	if !k.Equal(same) || !k.Equal(clone) || k.Equal(parseKey(t, frame.ClusterKey, "this_is_a_key16_sal_")) {
		t.Error("Equal is wrong")
	}
	k.Wipe()
	if k.Len() != 0 || len(k.Append(nil)) != 0 || k.String() != "wiped key" || k.Equal(clone) {
		t.Errorf("got %v of %d bytes, want nothing", k, k.Len())
	}
	if _, err := seal.NewCipher(k); err != seal.ErrKey {
		t.Errorf("a wiped key: got %v, want ErrKey", err)
	}
	if string(clone.Append(nil)) != benchKey {
		t.Error("the clone was wiped too")
	}
}
