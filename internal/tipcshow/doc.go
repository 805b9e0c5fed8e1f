// SPDX-License-Identifier: Apache-2.0

// Package tipcshow prints how a node stands in the layouts of tipc(8), as text and as
// JSON: pure functions from the structs of package stack to bytes. Where tipc(8) has no
// JSON the fields are our own; docs/tools.md names them.
//
// Other nodes choose some of what is printed: identities, and the names of interfaces
// within those of links. All of it goes through Clean.
//
// Source: docs/spec/10-management.md §2, §3.
package tipcshow

// MaxLinkName is the longest name of a link, in bytes. Source: docs/spec/10-management.md §2.
const MaxLinkName = 67

// Clean makes text that another node chose fit for a terminal: at most max bytes, each a
// printable character of ASCII; what is none becomes a question mark.
func Clean(s string, max int) string {
	s = s[:min(len(s), max)]
	for i := range len(s) {
		if !printable(s[i]) {
			b := []byte(s)
			for k := i; k < len(b); k++ {
				if !printable(b[k]) {
					b[k] = '?'
				}
			}
			return string(b)
		}
	}
	return s
}

func printable(c byte) bool { return c >= ' ' && c < 0x7f }
