// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package systemd

import "time"

var begin = time.Now()

// monotonic is a clock that never goes back: there is no systemd to compare it.
func monotonic() time.Duration { return time.Since(begin) }
