// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import "fmt"

// emulator is the program that runs kernels other than user-mode-linux.
const emulator = "qemu-system-x86_64"

// commandLine returns the program that runs the kernel, and its arguments.
func (im *Image) commandLine(initrd string, mem int, o Options) []string {
	if im.Flavour.emulated() {
		return qemu(im.Kernel, initrd, mem, o)
	}
	return uml(im.Kernel, initrd, mem, o)
}

// uml returns the words for user-mode-linux, which is its own program.
func uml(kernel, initrd string, mem int, o Options) []string {
	// It leaves files in the directory it runs in.
	args := []string{
		kernel, fmt.Sprintf("mem=%dM", mem), "initrd=" + initrd, "umid=guest", "uml_dir=./",
		"con=null", "con0=null,fd:1", "ssl=null", fmt.Sprintf("ssl1=fd:%d,fd:%[1]d", firstLink-1), "quiet", "panic=-1",
		// It would try for most of a second which way to compute check blocks of disks is best.
		"initcall_blacklist=raid6_select_algo,calibrate_xor_blocks",
	}
	for i, l := range o.Links {
		vec := fmt.Sprintf("vec%d:transport=fd,fd=%d,mac=%s,gro=0", i, firstLink+i, l.MAC)
		if l.MTU > 0 {
			vec += fmt.Sprintf(",mtu=%d", l.MTU)
		}
		args = append(args, vec)
	}
	return append(append(args, "rig.line=/dev/ttyS1"), o.words()...)
}

// qemu returns the words for a kernel under the emulator.
func qemu(kernel, initrd string, mem int, o Options) []string {
	line := "console=ttyS0 quiet panic=-1 net.ifnames=0 ipv6.disable_ipv6=1 rig.line=/dev/vport0p1"
	for _, w := range o.words() {
		line += " " + w
	}
	args := []string{
		emulator, "-M", "pc", "-accel", "tcg,tb-size=32", "-cpu", "max", "-m", fmt.Sprint(mem),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", kernel, "-initrd", initrd, "-append", line,
		"-chardev", "file,id=console,path=/dev/stdout", "-serial", "chardev:console",
		"-device", "virtio-serial-pci", "-chardev", fmt.Sprintf("socket,id=line,fd=%d", firstLink-1),
		"-device", "virtserialport,chardev=line,name=rig",
	}
	for i, l := range o.Links {
		// With the offloads on, frames would leave without a valid checksum.
		device := fmt.Sprintf("virtio-net-pci,netdev=n%d,mac=%s,romfile=,csum=off,gso=off,guest_csum=off", i, l.MAC)
		if l.MTU > 0 {
			device += fmt.Sprintf(",host_mtu=%d", l.MTU)
		}
		args = append(args, "-netdev", fmt.Sprintf("dgram,id=n%d,local.type=fd,local.str=%d", i, firstLink+i), "-device", device)
	}
	return args
}

// words are what the guest's program reads in the kernel's command line, and the
// caller's own.
func (o Options) words() (words []string) {
	set := func(key, value string) {
		if value != "" {
			words = append(words, "rig."+key+"="+value)
		}
	}
	set("name", o.Name)
	set("identity", o.Identity)
	set("address", o.Address)
	if o.NetID != 0 {
		set("netid", fmt.Sprint(o.NetID))
	}
	if o.Tolerance != 0 {
		set("tolerance", fmt.Sprint(o.Tolerance.Milliseconds()))
	}
	if o.Enable {
		set("bearers", fmt.Sprint(len(o.Links)))
	}
	if o.Pluggable {
		set("pluggable", "1")
	}
	return append(words, o.Kernel...)
}
