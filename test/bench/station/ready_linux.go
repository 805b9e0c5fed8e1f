// SPDX-License-Identifier: Apache-2.0

package station

import "github.com/utipc/utipc/internal/bed"

// Ready returns why no network namespace can be made here; nil: they can.
func Ready() error {
	n, err := bed.NewNamespace()
	if err == nil {
		n.Close()
	}
	return err
}
