// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

var versionCommand = command{
	name:  "version",
	short: "what this program was built from",
	usage: `utipc version: what this program was built from, on one line: its own version,
the one of Go, and what it runs on.

    utipc version
`,
	run: plain("version", func(_ context.Context, out io.Writer) error {
		version := "(unknown)"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
			version = info.Main.Version
		}
		_, err := fmt.Fprintf(out, "utipc %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}),
}
