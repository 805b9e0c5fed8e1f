// SPDX-License-Identifier: Apache-2.0

// Package nearest finds the word that was meant by one that was mistyped.
package nearest

// Word returns the one of all that word is nearest to, or "" where none is near: at most one
// letter in three may be left out, added, changed, or swapped with the next one. The first of
// several that are as near is it.
func Word(word string, all []string) (found string) {
	least := max(1, len(word)/3) + 1
	for _, w := range all {
		if d := distance(word, w); d < least {
			found, least = w, d
		}
	}
	return found
}

// Hint asks whether the nearest word was meant, as " (did you mean WORD?)". It is empty where
// no word is near.
func Hint(word string, all []string) string {
	if w := Word(word, all); w != "" {
		return " (did you mean " + w + "?)"
	}
	return ""
}

// distance is the number of letters to leave out, add, change or swap with the next one that
// make b of a, where no letter is touched twice (optimal string alignment).
func distance(a, b string) int {
	before, last, this := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range this {
		this[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, this = last, this, before
		this[0] = i
		for j := 1; j <= len(b); j++ {
			changed := last[j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			this[j] = min(changed, last[j]+1, this[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				this[j] = min(this[j], before[j-2]+1)
			}
		}
	}
	return this[len(b)]
}
