// SPDX-License-Identifier: Apache-2.0

// Package datapath measures what a message costs beside what it must cost: beside bare
// frames on the same device, and beside the kernel's TCP between the same two cores. It
// makes the table of utipc-lab bench datapath.
//
//	Row      a line of the table: what of which variant, beside which, and the target
//	Set      variants that are measured in turn, round by round
//	Variant  two worker processes with a cable of their own (a bed), and a job for each
//
// All figures of a row come from one run. In each round of a set every variant has its
// turn, so that what the machine does meanwhile hits all of them; the ratio of a row is
// the median of the rounds' ratios. To add a row, name its variants in sets.go and
// itself in rows.go.
package datapath
