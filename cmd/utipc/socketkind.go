// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack"
)

// A socketKind is the flags of echo and ping that say what they speak over.
type socketKind struct {
	network string
	group   bool
	given   bool // --network was
}

// flags declares the flags; network and group say what they do.
func (k *socketKind) flags(f *cmdline.Flags, network, group string) {
	k.network = "tipcrdm"
	f.Func("network tipc|tipcpacket|tipcrdm|tipcgram", network, func(s string) error {
		k.network, k.given = s, true
		return nil
	})
	f.BoolVar(&k.group, "group", false, group)
}

// check reports flags that cannot be, as a cmdline.UsageError.
func (k socketKind) check() error {
	switch k.network {
	case "tipc", "tipcpacket", "tipcrdm", "tipcgram":
	default:
		return cmdline.UsageError(fmt.Sprintf("--network %q is not tipc, tipcpacket, tipcrdm or tipcgram", k.network))
	}
	if k.group && k.given {
		return cmdline.UsageError("--group and --network do not go together")
	}
	return nil
}

// connected reports whether it is connections.
func (k socketKind) connected() bool { return k.network == "tipc" || k.network == "tipcpacket" }

// note tells in what a command prints of anything but the default.
func (k socketKind) note() string {
	switch {
	case k.group:
		return ", in a group"
	case k.network != "tipcrdm":
		return ", " + k.network
	}
	return ""
}

// target checks what ping is to send to.
func (k socketKind) target(to stack.Service) error {
	if k.group && to.Node != 0 {
		return cmdline.UsageError("--group wants TYPE:INSTANCE, without a node")
	}
	return nil
}
