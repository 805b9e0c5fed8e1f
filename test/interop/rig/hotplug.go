// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"
	"fmt"
	"os"
)

// helper is the program that user-mode-linux would have started at each of the
// several hundred devices and modules it finds, had the guest one of that name.
// Each attempt costs it a process.
var helper = []byte("/sbin/hotplug\x00")

// noHelper changes the kernel at path so that it does not try: an empty name is its
// word for that. One that has no such name is left alone.
func noHelper(path string) error {
	kernel, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch bytes.Count(kernel, helper) {
	case 0:
		return nil
	case 1:
	default:
		return fmt.Errorf("rig: %s names its helper in several places", path)
	}
	kernel[bytes.Index(kernel, helper)] = 0
	return replace(path, kernel)
}

// replace writes a program anew. Not in place: the file may be hard-linked.
func replace(path string, program []byte) error {
	if err := os.WriteFile(path+".new", program, 0o755); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
