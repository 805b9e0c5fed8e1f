// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
)

// newEncoder makes an encoder of JSON for terminals and scripts, in which the address of a
// socket, <1001001:7>, stands as it is.
func newEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}
