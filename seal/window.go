// SPDX-License-Identifier: Apache-2.0

package seal

// A window remembers which of a key's newest numbers have come, so that a packet
// that somebody recorded and sends again is dropped. It tolerates the disorder of
// two bearers. It serves a node that has proven where its numbers are, for all its keys;
// and of others the keys that their sender made for itself and begins but once: with
// a configured key, or the cluster's, numbers begin again at every start, those of a
// kernel at 1.
type window struct {
	top  uint64              // the highest number that came
	seen [windowWords]uint64 // bit n%windowSize: number n came
}

const (
	windowWords = 64
	windowSize  = 64 * windowWords
)

// take notes the number, and reports whether it is new.
func (w *window) take(n uint64) bool {
	word, bit := n/64%windowWords, uint64(1)<<(n%64)
	switch {
	case n > w.top:
		// Words behind the top's, up to n's, are of numbers long past.
		for i := w.top/64 + 1; i <= n/64 && i <= w.top/64+windowWords; i++ {
			w.seen[i%windowWords] = 0
		}
		w.top = n
	case w.top/64-n/64 >= windowWords || w.seen[word]&bit != 0:
		return false
	}
	w.seen[word] |= bit
	return true
}
