// SPDX-License-Identifier: Apache-2.0

// Package rounds is how loads are measured that stand in processes of their own: variants take
// turns, round by round, and what is compared is the median of the rounds' own ratios.
//
//	Turns       variants that take turns, and what they exchange
//	Outcome     all that was measured of a variant
//	Comparison  a row of a table: what of which variant, beside which, and the target
//	Single      a row that is one figure, measured in this process
//	Set         variants of a table that take turns
//	Table       Sets, and the rows that are made of them: what Measure measures
//
// In each round every variant has its turn, so that what the machine does meanwhile hits all
// of them. Rounds in which other programs used the cores are left out where enough are left.
// A station.Variant is two worker processes with a cable of their own.
package rounds
