// SPDX-License-Identifier: Apache-2.0

// Migrate runs the kernel of package internal/kernels/migrate over this stack or over TCP:
//
//	go run ./examples/migrate -over utipc
//	go run ./examples/migrate -over tcp
//
// docs/explanation/kernels.md says what it stands for.
package main

import (
	"github.com/utipc/utipc/internal/kernels/launch"
	"github.com/utipc/utipc/internal/kernels/migrate"
)

func main() { launch.Main(migrate.Kernel) }
