// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"encoding/json"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/admin"
)

var _ admin.Node = (*Node)(nil)

// Admin implements backend.Node.
func (n *Node) Admin() *admin.Admin { return admin.New(n) }

// Do implements control.Backend.
func (n *Node) Do(ctx context.Context, x control.Exchange) error { return x.Run(ctx, n) }

// Control makes a call that is known by its verb alone, as a program that is attached does.
func (n *Node) Control(ctx context.Context, verb string, in, out any) error {
	params, ok := in.(json.RawMessage)
	if !ok && in != nil {
		var err error
		if params, err = json.Marshal(in); err != nil {
			return err
		}
	}
	reply, err := control.Serve(ctx, n, verb, params)
	switch {
	case err != nil || out == nil:
		return err
	}
	if raw, ok := out.(*json.RawMessage); ok {
		*raw = reply
		return nil
	}
	return json.Unmarshal(reply, out)
}
