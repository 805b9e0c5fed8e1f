// SPDX-License-Identifier: Apache-2.0

//go:build nonng

package main

import (
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

func openNNG(worker.Open) (load.Load, error) { return nil, errNoNNG }
