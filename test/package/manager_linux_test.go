// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"context"
	"os"
	"strings"
)

// stub stands in for systemctl: it notes what it is called with, and whether the unit is enabled.
const stub = `#!/bin/sh
echo "$*" >>/tmp/systemctl
case $1 in
is-enabled) [ -e /tmp/enabled ] ;;
enable) : >/tmp/enabled ;;
disable) rm -f /tmp/enabled ;;
esac
`

// managed lets the scripts of a package believe that systemd runs on the host. rpm gives them a PATH without
// /usr/local.
func (h *host) managed(ctx context.Context) {
	h.t.Helper()
	if err := os.WriteFile(h.file("/usr/sbin/systemctl"), []byte(stub), 0o755); err != nil {
		h.t.Fatal(err)
	}
	h.must(ctx, "mkdir -p /run/systemd/system")
}

// asked returns what systemctl was called with for the unit since the last call.
func (h *host) asked(ctx context.Context) string {
	h.t.Helper()
	var calls []string
	for call := range strings.Lines(h.must(ctx, "cat /tmp/systemctl; rm /tmp/systemctl")) {
		if call != "daemon-reload\n" {
			calls = append(calls, strings.TrimSpace(strings.Replace(call, "utipc.service", "", 1)))
		}
	}
	return strings.Join(calls, ", ")
}

// put copies a file of this machine to the host, under the same name.
func (h *host) put(file, to string) {
	h.t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(h.file(to), b, 0o644)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}
