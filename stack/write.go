// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/internal/backend"
)

// Waits returns the writes that wait now, and what each waits for; who has waited
// longest comes first.
func (n *Node) Waits(ctx context.Context) ([]Wait, error) {
	return backend.WaitsCall.Do(ctx, n.b, control.Nothing{})
}
