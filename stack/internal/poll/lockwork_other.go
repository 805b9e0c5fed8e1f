// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package poll

import "time"

// threadTime is not known here.
func threadTime() time.Duration { return 0 }
