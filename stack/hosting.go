// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/internal/hosting"

func init() {
	hosting.Keep = func(n any) hosting.Keeper { return n.(*Node).b }
	hosting.NewAccount = func(n any, c hosting.AccountConfig) *hosting.Account { return n.(*Node).b.NewAccount(c) }
	hosting.Count = count
	hosting.Enter = func(p any) { p.(*Poller).enter() }
	hosting.Leave = func(p any) { p.(*Poller).leave() }
	hosting.Hold = func(s any, k int) { s.(Pollable).hold(k) }
	hosting.Return = func(c any, b []byte, why ErrorCode) error { return c.(*PacketConn).b.ReturnMsg(b, why) }
}
