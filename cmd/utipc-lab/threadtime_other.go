// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "time"

var began = time.Now()

// threadTime is the time that passes, where that of a thread is not known.
func threadTime() time.Duration { return time.Since(began) }
