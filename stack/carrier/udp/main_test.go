// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"os"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// Most of the tests wait until nodes meet.
func TestMain(m *testing.M) {
	tier.AtOnce()
	os.Exit(m.Run())
}
