// SPDX-License-Identifier: Apache-2.0

// Store runs the kernel of package internal/kernels/store over this stack or over TCP:
//
//	go run ./examples/store -over utipc
//	go run ./examples/store -over tcp
//
// docs/explanation/kernels.md says what it stands for.
package main

import (
	"github.com/utipc/utipc/internal/kernels/launch"
	"github.com/utipc/utipc/internal/kernels/store"
)

func main() { launch.Main(store.Kernel) }
