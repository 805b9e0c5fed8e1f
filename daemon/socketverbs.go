// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"encoding/json"
	"syscall"

	"github.com/utipc/utipc/stack"
)

// socketVerbs are the calls about the socket of the connection that they come on.
//
//	socket.stats         -                stack.SocketStats
//	socket.bindings      -                []stack.Binding
//	socket.members       -                []stack.GroupMember
//	socket.counters      -                stack.GroupCounters
//	socket.wait-members  {"members": 3}   null, once so many have joined
var socketVerbs = map[string]struct {
	class stack.ControlClass
	serve func(ctx context.Context, e end, in []byte) ([]byte, error)
}{
	"socket.stats": {stack.UseControl, func(_ context.Context, e end, _ []byte) ([]byte, error) {
		return json.Marshal(e.stats())
	}},
	"socket.bindings": {stack.UseControl, func(_ context.Context, e end, _ []byte) ([]byte, error) {
		if e.packet == nil {
			return nil, syscall.EOPNOTSUPP
		}
		return json.Marshal(e.packet.Bindings())
	}},
	"socket.members": {stack.UseControl, func(_ context.Context, e end, _ []byte) ([]byte, error) {
		if e.group == nil {
			return nil, syscall.EOPNOTSUPP
		}
		return json.Marshal(e.group.Members())
	}},
	"socket.counters": {stack.UseControl, func(_ context.Context, e end, _ []byte) ([]byte, error) {
		if e.group == nil {
			return nil, syscall.EOPNOTSUPP
		}
		return json.Marshal(e.group.Counters())
	}},
	"socket.wait-members": {stack.UseControl, func(ctx context.Context, e end, in []byte) ([]byte, error) {
		var words struct {
			Members int `json:"members"`
		}
		if e.group == nil {
			return nil, syscall.EOPNOTSUPP
		}
		if err := json.Unmarshal(in, &words); err != nil {
			return nil, syscall.EINVAL
		}
		if err := e.group.WaitMembers(ctx, words.Members); err != nil {
			return nil, err
		}
		return []byte("null"), nil
	}},
}
