// SPDX-License-Identifier: Apache-2.0

// Package daemon is the table of utipc-lab bench daemon: programs of the daemon beside nodes of
// their own, and many of them.
package daemon
