// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

const benchKey = "this_is_a_key16_salt"

// pair is two nodes with the same key that know each other.
func pair(t testing.TB, mode frame.KeyMode) (a, b *seal.Ring, ofA, ofB *seal.Peer) {
	t.Helper()
	const addrA, addrB = 0x01001001, 0x01001002
	key := parseKey(t, mode, benchKey)
	a, b = seal.NewRing(1, true), seal.NewRing(1, true)
	ofA, ofB = seal.NewPeer(addrA), seal.NewPeer(addrB)
	a.SetSelf(addrA, frame.AddrIdentity(addrA))
	b.SetSelf(addrB, frame.AddrIdentity(addrB))
	for _, r := range []*seal.Ring{a, b} {
		if _, err := r.SetKey(0, key, 7); err != nil {
			t.Fatal(err)
		}
	}
	if mode == frame.NodeKey {
		for _, p := range []*seal.Peer{ofA, ofB} {
			if err := p.Configure(key); err != nil {
				t.Fatal(err)
			}
		}
	}
	return a, b, ofA, ofB
}

// message is a message of n bytes with its header from a to b.
func message(n int, a, b frame.NodeAddr) []byte {
	f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: a, DestNode: b}
	f.Prev = a
	return f.Append(nil, make([]byte, n-frame.BasicLen))
}

var benchSizes = []int{64, 1468, 8968, 64968}

// BenchmarkAEAD is what everything else here is to be compared with.
func BenchmarkAEAD(b *testing.B) {
	block, err := aes.NewCipher([]byte(benchKey)[:16])
	if err != nil {
		b.Fatal(err)
	}
	g, err := cipher.NewGCM(block)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range benchSizes {
		plain, out, aad, nonce := make([]byte, n), make([]byte, n+16), make([]byte, 16), make([]byte, 12)
		b.Run(fmt.Sprint("Seal/", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				g.Seal(out[:0], nonce, plain, aad)
			}
		})
		sealed := g.Seal(nil, nonce, plain, aad)
		b.Run(fmt.Sprint("Open/", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				copy(out, sealed)
				if _, err := g.Open(out[:0], nonce, out[:n+16], aad); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRing seals and opens with the choice and the rules around it.
func BenchmarkRing(b *testing.B) {
	for _, n := range benchSizes {
		x, y, ofX, ofY := pair(b, frame.ClusterKey)
		plain, out := message(n, ofX.Addr(), ofY.Addr()), make([]byte, n+seal.Overhead)
		now := time.Second
		b.Run(fmt.Sprint("Seal/", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				c := x.Choose(now, ofY, seal.KindOf(plain))
				if _, err := x.Seal(out, plain, ofY, c.Slot(0)); err != nil {
					b.Fatal(err)
				}
			}
		})
		size, err := x.Seal(out, plain, ofY, 1)
		if err != nil {
			b.Fatal(err)
		}
		in := make([]byte, len(out))
		b.Run(fmt.Sprint("Open/", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				copy(in, out)
				if _, _, err := y.Open(now, in[:size], ofX); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOverhead reports what sealing and opening by the rules costs beside the
// bare AEAD with the same bytes, from the fastest of many short rounds by turns.
func BenchmarkOverhead(b *testing.B) {
	block, err := aes.NewCipher([]byte(benchKey)[:16])
	if err != nil {
		b.Fatal(err)
	}
	g, err := cipher.NewGCM(block)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range benchSizes[:3] {
		x, y, ofX, ofY := pair(b, frame.ClusterKey)
		plain, out, in := message(n, ofX.Addr(), ofY.Addr()), make([]byte, n+seal.Overhead), make([]byte, n+seal.Overhead)
		bare, nonce := make([]byte, n+16), make([]byte, 12)
		size, err := x.Seal(out, plain, ofY, 1)
		if err != nil {
			b.Fatal(err)
		}
		now := time.Second
		sealed := g.Seal(nil, nonce, plain, out[:16])
		for name, f := range map[string][2]func(){
			"Seal": {
				func() { g.Seal(bare[:0], nonce, plain, out[:16]) },
				func() { c := x.Choose(now, ofY, seal.KindOf(plain)); x.Seal(in, plain, ofY, c.Slot(0)) },
			},
			"Open": {
				func() { copy(bare, sealed); g.Open(bare[:0], nonce, bare, out[:16]) },
				func() { copy(in, out); y.Open(now, in[:size], ofX) },
			},
		} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				best := [2]time.Duration{time.Hour, time.Hour}
				for b.Loop() {
					for i, f := range f {
						start := time.Now()
						for range 100 {
							f()
						}
						best[i] = min(best[i], time.Since(start)/100)
					}
				}
				b.ReportMetric(float64(best[0]), "bare-ns")
				b.ReportMetric(float64(best[1]), "seal-ns")
				b.ReportMetric(float64(best[1])/float64(best[0]), "ratio")
			})
		}
	}
}
