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
		_, err := fmt.Fprintf(out, "utipc %s %s %s/%s\n", ownVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}),
}

// builtVersion is set by who builds a package: -ldflags "-X main.builtVersion=1.0.0".
var builtVersion string

// ownVersion is the program's.
func ownVersion() string {
	if builtVersion != "" {
		return builtVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
