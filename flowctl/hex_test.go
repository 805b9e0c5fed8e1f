// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"encoding/hex"
	"strings"
)

// hexWords prints bytes in groups of four, as the specification does.
func hexWords(b []byte) string {
	var w []string
	for ; len(b) > 4; b = b[4:] {
		w = append(w, hex.EncodeToString(b[:4]))
	}
	return strings.Join(append(w, hex.EncodeToString(b)), " ")
}
