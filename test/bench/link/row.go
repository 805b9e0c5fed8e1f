// SPDX-License-Identifier: Apache-2.0

package link

import "github.com/utipc/utipc/test/bench/sheet"

// A Row is one line of the table.
type Row = sheet.Row

// How a row's value and its target are read.
const (
	AtLeast = sheet.AtLeast
	AtMost  = sheet.AtMost
)
