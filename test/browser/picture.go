// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// Keep checks that b is a picture that shows something, as PNG, and writes it into docs/images if
// UTIPC_IMAGES is set. root is the way to the repository's root.
func Keep(t *testing.T, b []byte, root, name string) {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[any]bool{}
	for x := 0; x < p.Bounds().Dx(); x += 3 {
		for y := 0; y < p.Bounds().Dy(); y += 3 {
			colours[p.At(x, y)] = true
		}
	}
	if len(colours) < 8 {
		t.Errorf("%s: a picture of %d colours", name, len(colours))
	}
	if os.Getenv("UTIPC_IMAGES") != "" {
		if err := os.WriteFile(filepath.Join(root, "docs", "images", name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
