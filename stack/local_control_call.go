// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
)

// Control implements nodeBackend.
func (n *localNode) Control(ctx context.Context, verb string, in, out any) error {
	var words []byte
	var err error
	if in != nil {
		if words, err = json.Marshal(in); err != nil {
			return err
		}
	}
	told, err := ServeControl(ctx, &Node{n}, verb, words)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(told, out)
}
