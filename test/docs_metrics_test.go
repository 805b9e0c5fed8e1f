// SPDX-License-Identifier: Apache-2.0

package test

import (
	"regexp"
	"strings"
	"testing"
)

// Every metric that documentation names is in the table of docs/reference/daemon.md, which the
// program writes.
//
// Proves: daemon.metrics
func TestDocumentationMetrics(t *testing.T) {
	all := texts(t)
	_, table, found := strings.Cut(all["docs/reference/daemon.md"], "<!-- metrics:")
	table, _, ended := strings.Cut(table, "<!-- end of metrics -->")
	if !found || !ended {
		t.Fatal("docs/reference/daemon.md has no table of metrics")
	}
	named := 0
	for name, text := range all {
		for _, m := range regexp.MustCompile(`\butipc_[a-z_]+(?:_total|_bytes|_frames|_packets|_writes|_up|_free)\b`).FindAllString(text, -1) {
			named++
			if !strings.Contains(table, "`"+m+"`") {
				t.Errorf("%s: %s is in no table", name, m)
			}
		}
	}
	if named < 60 {
		t.Errorf("found %d names", named)
	}
}
