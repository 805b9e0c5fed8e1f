// SPDX-License-Identifier: Apache-2.0

package feed

// Signal wakes who waits for c, of one place: a signal that nobody waits for yet is kept.
func Signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
