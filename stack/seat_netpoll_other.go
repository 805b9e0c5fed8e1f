// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package stack

// newNetBell is newPollBell where there is no epoll.
func newNetBell(devices []int) (bell, error) { return newPollBell(devices) }
