// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// written lists what was written on a host, from the root of its files.
func (h *host) written(ctx context.Context) []string {
	h.t.Helper()
	out, err := exec.CommandContext(ctx, "nsenter", "--target", h.pid, "--mount", "find", h.dir+"/up", "-mindepth", "1", "!", "-type", "d", "-printf", "/%P\n").Output()
	if err != nil {
		h.t.Fatalf("find: %v", err)
	}
	return strings.Fields(string(out))
}

// left lists what is there now, was not before, and is no business of dpkg's. Accounts
// must be as they were: useradd(8) and userdel(8) write them anew.
func (h *host) left(ctx context.Context, before []string) (left []string) {
	h.t.Helper()
	for _, f := range h.written(ctx) {
		switch {
		case slices.Contains(before, f):
		case strings.HasPrefix(f, "/var/lib/dpkg/"), strings.HasPrefix(f, "/var/log/"), strings.HasPrefix(f, "/var/cache/"):
		case strings.HasPrefix(f, "/etc/") && strings.HasSuffix(f, "-"), f == "/etc/.pwd.lock": // copies of accounts
		case h.same(f):
		default:
			left = append(left, f)
		}
	}
	return left
}

// same reports whether a file of the host is as it is on this machine, its lines in
// whatever order.
func (h *host) same(f string) bool {
	there, err := os.ReadFile(h.file(f))
	if err != nil {
		return false
	}
	here, err := os.ReadFile(f)
	a, b := strings.Split(string(there), "\n"), strings.Split(string(here), "\n")
	slices.Sort(a)
	slices.Sort(b)
	return err == nil && slices.Equal(a, b)
}
