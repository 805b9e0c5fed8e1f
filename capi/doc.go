// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Libutipc is package stack for programs in C, and in languages that call C: a shared library,
// libutipc.so.0, and its header, utipc.h. docs/reference/c-api.md is its manual.
//
// It is the only package with cgo. Without a C compiler, or with CGO_ENABLED=0, the go command
// leaves it out of ./..., and all else of the module is built as ever. The file build makes the
// library:
//
//	capi/build DIR
//
// What the functions do is in package calls, which has no C in it.
package main
