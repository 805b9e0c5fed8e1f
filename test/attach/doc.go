// SPDX-License-Identifier: Apache-2.0

// Package attach compares the two ways to live on a host: its test runs the tests of the
// API, those of package stack, on nodes from stack.Open, and on nodes from stack.Attach
// with a daemon in front of each. The rows that differ are in docs/reference/attach.md. Those that do
// not it runs once more while calls of the system fail.
package attach
