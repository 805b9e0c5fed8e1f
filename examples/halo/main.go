// SPDX-License-Identifier: Apache-2.0

// Halo runs the kernel of package internal/kernels/halo over this stack or over TCP:
//
//	go run ./examples/halo -over utipc
//	go run ./examples/halo -over tcp
//
// docs/explanation/kernels.md says what it stands for.
package main

import (
	"github.com/utipc/utipc/internal/kernels/halo"
	"github.com/utipc/utipc/internal/kernels/launch"
)

func main() { launch.Main(halo.Kernel) }
