// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"fmt"
	"path/filepath"
)

// A Flavour is a kernel that a guest may run.
type Flavour string

const (
	// UML is Linux 6.1 as an ordinary program. It has no gcm(aes), and so no keys.
	UML Flavour = "uml"
	// Linux61 is Debian 12's kernel, emulated.
	Linux61 Flavour = "6.1"
	// Linux612 is the newer kernel for Debian 12, emulated.
	Linux612 Flavour = "6.12"
	// Linux612Devices is Linux612 with bonds, VLANs and WireGuard. It has an image of its own,
	// as modules make the other guests slower to boot.
	Linux612Devices Flavour = "6.12-devices"
)

// Emulated are the flavours that run in qemu, without its accelerator: a machine
// that has /dev/kvm need not have a KVM that works.
var Emulated = []Flavour{Linux61, Linux612}

func (f Flavour) emulated() bool { return f == Linux61 || f == Linux612 || f == Linux612Devices }

// meta is the package that depends on the newest kernel of a flavour.
var meta = map[Flavour]string{
	Linux61:  "linux-image-cloud-amd64",
	Linux612: "linux-image-6.12-cloud-amd64",

	Linux612Devices: "linux-image-6.12-cloud-amd64",
}

const umlPackage = "user-mode-linux"

// modules are loaded at boot, after what they depend on; a name that the
// package does not have is built into the kernel.
func (f Flavour) modules() []string {
	common := []string{"tipc", "macvlan", "sch_netem", "sch_ingress", "cls_u32", "act_gact", "act_mirred"}
	if !f.emulated() {
		return common
	}
	// The guest has no modprobe: what TIPC's encryption asks the kernel for must be
	// there, and drbg is where new keys come from when it changes them by itself.
	if f == Linux612Devices {
		common = append(common, "bonding", "8021q", "wireguard")
	}
	return append([]string{"virtio_pci", "virtio_net", "virtio_console", "gcm", "ghash-generic", "ctr", "drbg"}, common...)
}

// files finds the kernel and the folder of its modules in an unpacked package.
func (f Flavour) files(root string) (kernel, modules string, err error) {
	patterns := [2]string{"usr/bin/linux.uml", "usr/lib/uml/modules/*"}
	if f.emulated() {
		patterns = [2]string{"boot/vmlinuz-*", "lib/modules/*"}
	}
	var found [2]string
	for i, p := range patterns {
		all, _ := filepath.Glob(filepath.Join(root, p))
		if len(all) != 1 {
			return "", "", fmt.Errorf("rig: the package of kernel %s has %d of %s, want 1", f, len(all), p)
		}
		found[i] = all[0]
	}
	return found[0], found[1], nil
}
