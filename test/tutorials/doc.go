// SPDX-License-Identifier: Apache-2.0

// Package tutorials runs the commands of the tutorials in docs, as a reader types them, and compares
// what they print.
package tutorials
