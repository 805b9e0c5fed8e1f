// SPDX-License-Identifier: Apache-2.0

package goroutine

import "testing"

// Each way to tell a goroutine from others gives the same in one, however its stack grows
// and moves, and something else in another. Mutation: ID is the address of a
// variable; or number reads one digit.
func TestID(t *testing.T) {
	for name, who := range map[string]func() uintptr{"record": ID, "number": number} {
		own := who()
		if own == 0 {
			t.Fatalf("%s: 0", name)
		}
		var deep func(k int, room [256]byte) uintptr
		deep = func(k int, room [256]byte) uintptr {
			if k == 0 {
				return who()
			}
			return deep(k-1, room)
		}
		if got := deep(1000, [256]byte{}); got != own {
			t.Errorf("%s: %x after the stack has grown, before %x", name, got, own)
		}
		hold, all := make(chan bool), make(chan uintptr)
		for range 20 {
			go func() {
				all <- who()
				<-hold
			}()
		}
		seen := map[uintptr]bool{own: true}
		for range 20 {
			x := <-all
			if seen[x] {
				t.Errorf("%s: two goroutines that live have %x", name, x)
			}
			seen[x] = true
		}
		close(hold)
	}
}
