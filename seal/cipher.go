// SPDX-License-Identifier: Apache-2.0

package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"fmt"

	"github.com/utipc/utipc/frame"
)

// A Cipher is a key ready for use: the expanded AES key and the salt. It seals and
// opens with the number that the header has; whoever seals sees to it that no
// number comes twice (see Sender). Several may share one, one at a time.
type Cipher struct {
	aead  cipher.AEAD
	salt  uint32 // little-endian, as X is taken
	mode  frame.KeyMode
	nonce [12]byte // of the packet at hand
}

// NewCipher expands a key. The key may be wiped afterwards. Errors: ErrKey.
func NewCipher(k *Key) (*Cipher, error) {
	n := int(k.m.n)
	if !keyLen(n) {
		return nil, ErrKey
	}
	block, err := aes.NewCipher(k.m.bytes()[:n-SaltLen])
	if err != nil {
		return nil, ErrKey
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, ErrKey
	}
	return &Cipher{aead: aead, mode: k.m.mode, salt: binary.LittleEndian.Uint32(k.m.bytes()[n-SaltLen:])}, nil
}

// Format prints nothing of the key, for every verb.
func (c *Cipher) Format(f fmt.State, _ rune) { f.Write([]byte("cipher")) }

// Mode says whose the key is.
func (c *Cipher) Mode() frame.KeyMode { return c.mode }

// same reports whether two ciphers are of the same key and salt, for which it compares
// what nobody else comes to see: the tag of nothing.
func (c *Cipher) same(o *Cipher) bool {
	var nonce [12]byte
	return c.salt == o.salt && c.mode == o.mode &&
		subtle.ConstantTimeCompare(c.aead.Seal(nil, nonce[:], nil, nil), o.aead.Seal(nil, nonce[:], nil, nil)) == 1
}

// setNonce prepares the nonce of the packet with this header, sent to dest. S is the
// salt with an address, whose bytes count from the least significant one.
// Source: docs/spec/09-security.md §1.1.
func (c *Cipher) setNonce(header []byte, dest frame.NodeAddr) {
	var x uint32
	switch {
	case c.mode == frame.ClusterKey:
		x = binary.BigEndian.Uint32(header[12:])
	case header[0]&1 != 0:
		x = uint32(dest)
	}
	binary.LittleEndian.PutUint32(c.nonce[:], c.salt^x)
	*(*[8]byte)(c.nonce[4:]) = [8]byte(header[4:])
}

// Nonce returns the nonce of a sealed packet to dest, for those who look for one
// that comes twice.
func (c *Cipher) Nonce(header []byte, dest frame.NodeAddr) [12]byte {
	c.setNonce(header, dest)
	return c.nonce
}

// open decrypts what is sealed in e to dst, which is the beginning of e's own
// memory, for opening in place, or memory of the caller's. A failure leaves zeros there.
func (c *Cipher) open(dst []byte, e frame.Encrypted, dest frame.NodeAddr) ([]byte, error) {
	h := e.Header()
	c.setNonce(h, dest)
	plain, err := c.aead.Open(dst[:0], c.nonce[:], e.Sealed(), h)
	if err != nil {
		return nil, ErrTag
	}
	return plain, nil
}

// Open opens a packet for a node with the address dest, in place, and returns what
// was sealed, with its padding. A failure leaves zeros in place of what was sealed.
// Errors: ErrTag.
func (c *Cipher) Open(e frame.Encrypted, dest frame.NodeAddr) ([]byte, error) {
	return c.open(e.Sealed(), e, dest)
}
