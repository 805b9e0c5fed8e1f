// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"testing"

	"github.com/utipc/utipc/frame"
)

// An Opener decrypts the encrypted captures, with the key they were made with
// and those it finds inside. Source: docs/spec/09-security.md §1.1.
type Opener struct {
	t    testing.TB
	keys [][]byte // each with 4 bytes of salt
}

// NewOpener returns an Opener that fails t when a packet cannot be opened.
func NewOpener(t testing.TB) *Opener {
	key, err := hex.DecodeString("00112233445566778899aabbccddeeffdeadbeef")
	if err != nil {
		t.Fatal(err)
	}
	return &Opener{t, [][]byte{key}}
}

// Open returns the message in e, and learns the key it hands out, if any.
func (o *Opener) Open(e frame.Encrypted) []byte {
	o.t.Helper()
	source := [4]byte(e.Header()[12:])
	for _, key := range o.keys {
		n := len(key) - 4
		block, err := aes.NewCipher(key[:n])
		if err != nil {
			o.t.Fatal(err)
		}
		gcm, err := cipher.NewGCM(block)
		if err != nil {
			o.t.Fatal(err)
		}
		for _, x := range [][4]byte{source, {}, {1, 0, 0x10, 1}, {1, 0, 0x10, 2}} { // the sender, nobody, A, B
			nonce := append([]byte{}, key[n:]...)
			for i := range nonce {
				nonce[i] ^= x[3-i]
			}
			b, err := gcm.Open(nil, append(nonce, e.Header()[4:12]...), e.Sealed(), e.Header())
			if err != nil {
				continue
			}
			if m, err := frame.Parse(b); err == nil {
				if k, err := frame.ParseKey(m); err == nil {
					o.keys = append(o.keys, k.Key())
				}
				b = m.Bytes()
			}
			return b
		}
	}
	o.t.Fatalf("%x: no key opens it", e.Header())
	return nil
}
