// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package main

// A program with cgo is linked with the C library, and makes its calls without it all the same.

// #include <unistd.h>
import "C"

var _ = C.getpid()
