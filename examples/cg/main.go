// SPDX-License-Identifier: Apache-2.0

// Cg runs the kernel of package internal/kernels/cg over this stack or over TCP:
//
//	go run ./examples/cg -over utipc
//	go run ./examples/cg -over tcp
//
// docs/explanation/kernels.md says what it stands for.
package main

import (
	"github.com/utipc/utipc/internal/kernels/cg"
	"github.com/utipc/utipc/internal/kernels/launch"
)

func main() { launch.Main(cg.Kernel) }
