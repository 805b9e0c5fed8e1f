// SPDX-License-Identifier: Apache-2.0

// Package datapath is the table of utipc-lab bench datapath: what a message costs beside what
// it must cost, beside bare frames on the same device, and beside the kernel's TCP between the
// same two cores. To add a row, name its variants in sets.go and itself in rows.go.
package datapath
