// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package poll

// newNetWaker is newPollWaker where there is no epoll.
func newNetWaker(devices []int) (waker, error) { return newPollWaker(devices) }
