// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package stack

import "time"

// A processorTime is not known here.
type processorTime struct{}

func threadTime() processorTime { return processorTime{} }

func (processorTime) since(processorTime) (d time.Duration, ok bool) { return 0, false }
