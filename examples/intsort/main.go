// SPDX-License-Identifier: Apache-2.0

// Intsort runs the kernel of package internal/kernels/intsort over this stack or over TCP:
//
//	go run ./examples/intsort -over utipc
//	go run ./examples/intsort -over tcp
//
// docs/explanation/kernels.md says what it stands for.
package main

import (
	"github.com/utipc/utipc/internal/kernels/intsort"
	"github.com/utipc/utipc/internal/kernels/launch"
)

func main() { launch.Main(intsort.Kernel) }
