// SPDX-License-Identifier: Apache-2.0

//go:build nozmq

package main

import (
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

func openZeroMQ(worker.Open) (load.Load, error) {
	return nil, errNoZeroMQ
}
