// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"encoding/binary"
)

// KeyAlgorithm is the only algorithm there is.
const KeyAlgorithm = "gcm(aes)"

// keyHead is the part of a key message's data before the key.
const keyHead = 36

// KeyMessageLen is the length of a key message without the key and its salt, in bytes.
const KeyMessageLen = IntLen + keyHead

// A KeyMode says whose a key is.
type KeyMode uint8

const (
	ClusterKey KeyMode = 1 // the same at all nodes
	NodeKey    KeyMode = 2 // of one node
)

// A KeyMessage is a view of a message that hands out a key. One that did not
// arrive encrypted is to be dropped, which the parser cannot know. Nothing in
// this package prints the key.
//
//	|  generation                 |                       |  mode   | word 4
//	|  the network's number, on the broadcast link                  | word 5
//	|  originating node                                             | word 6
//	|  destination node                                             | word 7
//	|  algorithm, 32 bytes, zero padded                             | data
//	|  length of the key with its salt, bytes                       |
//	|  key, then 4 bytes of salt                                    |
//
// Source: docs/spec/09-security.md §5.
type KeyMessage struct{ Message }

// KeyFields is what a key message says but for the key, for writing.
type KeyFields struct {
	Common
	Generation Seq
	Mode       KeyMode  // 0 to 15
	NetID      uint32   // on the broadcast link
	Orig, Dest NodeAddr // Dest is 0 on the broadcast link
}

// ParseKey checks m as a key message: the algorithm is KeyAlgorithm, the key has
// a length it may have, and the message ends with it. Errors: ErrUnknown,
// ErrMalformed. Source: docs/spec/01-wire.md §8.7.
func ParseKey(m Message) (KeyMessage, error) {
	if m.User() != UserCrypto || m.RawType() != 0 {
		return KeyMessage{}, ErrUnknown
	}
	d := m.Data()
	if m.hlen != IntLen || len(d) < keyHead {
		return KeyMessage{}, ErrMalformed
	}
	n := binary.BigEndian.Uint32(d[32:])
	switch {
	case n != 20 && n != 28 && n != 36, int(n) != len(d)-keyHead:
		return KeyMessage{}, ErrMalformed
	case string(d[:len(KeyAlgorithm)]) != KeyAlgorithm || len(bytes.Trim(d[len(KeyAlgorithm):32], "\x00")) != 0:
		return KeyMessage{}, ErrMalformed
	}
	return KeyMessage{m}, nil
}

// Generation numbers the sender's keys.
func (k KeyMessage) Generation() Seq { return Seq(k.Word(4) >> 16) }

// Mode says whose the key is.
func (k KeyMessage) Mode() KeyMode { return KeyMode(k.Word(4) & 0xf) }

// Key returns key and salt, in the frame's memory: 20, 28 or 36 bytes.
func (k KeyMessage) Key() []byte { return k.Data()[keyHead:] }

// Fields returns what the message says but for the key.
func (k KeyMessage) Fields() KeyFields {
	f := KeyFields{
		Common: k.common(), Generation: k.Generation(), Mode: k.Mode(),
		Orig: NodeAddr(k.Word(6)), Dest: NodeAddr(k.Word(7)),
	}
	if k.NonSeq() {
		f.NetID = k.NetID()
	}
	return f
}

// Append adds the message with the key, which has 20, 28 or 36 bytes with its
// salt, to b.
func (f *KeyFields) Append(b, key []byte) []byte {
	b, h := grow(b, IntLen+keyHead)
	f.put(h, UserCrypto, IntLen, len(h)+len(key), 0, 0)
	putWord(h, 4, uint32(f.Generation)<<16|uint32(f.Mode&0xf))
	if f.NonSeq {
		putWord(h, 5, f.NetID)
	}
	putWord(h, 6, uint32(f.Orig))
	putWord(h, 7, uint32(f.Dest))
	copy(h[IntLen:], KeyAlgorithm)
	binary.BigEndian.PutUint32(h[IntLen+32:], uint32(len(key)))
	return append(b, key...)
}
