// SPDX-License-Identifier: Apache-2.0

package gcm

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

const (
	measured = 24                     // lengths that are measured; others cost as the next longer one
	batches  = 9                      // of which the quickest counts: others on the machine are no part of the price
	batch    = 200 * time.Microsecond // or one frame, if that takes longer
	memory   = 1 << 20                // bytes that the frames measured lie in, one behind the other
)

// A Cipher is the standard library's AES-GCM with a key, and memory to use it on.
type Cipher struct {
	aead     cipher.AEAD
	src, dst []byte
	nonce    [12]byte
	header   [frame.SealedLen]byte
}

// New takes AES keys of 16, 24 or 32 bytes.
func New(keyLen int) (*Cipher, error) {
	key := make([]byte, keyLen)
	for i := range key {
		key[i] = byte(i)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("AES keys have 16, 24 or 32 bytes: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &Cipher{aead: aead, src: make([]byte, 2*memory), dst: make([]byte, 2*memory)}, nil
}

// Price is what it takes, in ns, to seal and to open a packet of n bytes with its header
// and tag: from one place to another, and in place. It takes about 4 ms.
func (c *Cipher) Price(n int) (seal, open float64) {
	plain := n - frame.SealedLen - frame.TagLen
	if plain < 0 || n > memory {
		return 0, 0
	}
	var seals, opens []float64
	room := max(1, memory/n) // packets in the memory
	for range batches {
		k := 0
		begin := time.Now()
		for k == 0 || k < room && time.Since(begin) < batch {
			for i := 0; i < 8 && k < room; i++ {
				at := k * n
				c.nonce[4], c.nonce[5] = byte(k), byte(k>>8)
				c.aead.Seal(c.dst[at:at:at+n], c.nonce[:], c.src[at:at+plain], c.header[:])
				k++
			}
		}
		seals = append(seals, float64(time.Since(begin))/float64(k))
		begin = time.Now()
		for i := range k {
			at := i * n
			c.nonce[4], c.nonce[5] = byte(i), byte(i>>8)
			b := c.dst[at : at+plain+frame.TagLen]
			if _, err := c.aead.Open(b[:0], c.nonce[:], b, c.header[:]); err != nil {
				panic(err) // what was sealed above
			}
		}
		opens = append(opens, float64(time.Since(begin))/float64(k))
	}
	return slices.Min(seals), slices.Min(opens)
}

// Cost is what AES alone takes of the frames of a tally, in ns: a seal for each that left, an
// open for each that came. The most frequent lengths are measured, each on the spot.
func (c *Cipher) Cost(t Tally) float64 { return t.cost(c.Price) }

// cost is that by any prices of a seal and an open of a packet of n bytes.
func (t Tally) cost(of func(n int) (seal, open float64)) (sum float64) {
	lengths := map[int]uint64{}
	for _, way := range []map[int]uint64{t.In, t.Out} {
		for n, k := range way {
			lengths[n] += k
		}
	}
	most := slices.SortedFunc(maps.Keys(lengths), func(a, b int) int {
		if lengths[a] != lengths[b] {
			return int(min(lengths[b], 1<<30)) - int(min(lengths[a], 1<<30))
		}
		return b - a
	})
	most = most[:min(len(most), measured)]
	type price struct{ seal, open float64 }
	prices := map[int]price{}
	for _, n := range most {
		s, o := of(n)
		prices[n] = price{s, o}
	}
	slices.Sort(most)
	near := func(n int) price {
		i, _ := slices.BinarySearch(most, n)
		return prices[most[min(i, len(most)-1)]]
	}
	for n, k := range t.Out {
		sum += float64(k) * near(n).seal
	}
	for n, k := range t.In {
		sum += float64(k) * near(n).open
	}
	return sum
}

// Material is a key with n bytes for AES and its salt, as tipc(8) takes it; nil for 0.
// It protects nothing: all ends of a measurement make the same.
func Material(n int) []byte {
	if n == 0 {
		return nil
	}
	b := make([]byte, n+4)
	for i := range b {
		b[i] = byte(3*i + n)
	}
	return b
}
