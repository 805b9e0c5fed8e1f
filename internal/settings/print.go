// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"strings"
)

// String is the settings as a file has them, which Parse reads back.
func (s Settings) String() string {
	var b strings.Builder
	section := ""
	for f := range fields(&s) {
		in, key := cut(f.key)
		if in != section {
			section = in
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			if strings.HasPrefix(in, "bearer[") {
				b.WriteString("[[bearer]]\n")
			} else {
				fmt.Fprintf(&b, "[%s]\n", in)
			}
		}
		if strings.HasPrefix(in, "bearer[") && f.value.IsZero() {
			continue
		}
		fmt.Fprintf(&b, "%s = %s\n", key, f.text())
	}
	return b.String()
}

// Changed returns the keys whose values differ, in the order of the table; bearers count
// as one key, "bearer".
func Changed(was, is Settings) (keys []string) {
	a, b := was, is
	a.Bearers, b.Bearers = nil, nil
	before := map[string]string{}
	for f := range fields(&a) {
		before[f.key] = f.text()
	}
	for f := range fields(&b) {
		if before[f.key] != f.text() {
			keys = append(keys, f.key)
		}
	}
	if fmt.Sprint(was.Bearers) != fmt.Sprint(is.Bearers) {
		keys = append(keys, "bearer")
	}
	return keys
}

// Live reports whether a reload applies the key.
func Live(key string) bool {
	s, ok := lookup(key)
	return key == "bearer" || ok && s.Live
}
