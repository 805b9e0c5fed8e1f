// SPDX-License-Identifier: Apache-2.0

// Package preload runs programs that know AF_TIPC of the kernel, and nothing of us, with the
// preload library.
package preload
