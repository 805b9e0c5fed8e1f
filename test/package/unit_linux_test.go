// SPDX-License-Identifier: Apache-2.0

package packaged

import (
	"context"
	"os"
	"os/exec"
)

// exposure is what systemd-analyze may find the unit exposed at most, in tenths.
const exposure = "30"

// checkUnit has systemd read the unit and judge its sandbox, where systemd is installed.
func (c *cluster) checkUnit(ctx context.Context) {
	c.t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		if os.Getenv("UTIPC_TEST_REQUIRE") == "all" {
			c.t.Errorf("systemd-analyze is required: %v", err)
		}
		c.t.Logf("the unit is not read by systemd: %v", err)
		return
	}
	const unit = "/lib/systemd/system/utipc.service"
	if out, err := c.north.run(ctx, "systemd-analyze verify --man=no "+unit); err != nil || out != "" {
		c.t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if out, err := c.north.run(ctx, "systemd-analyze security --no-pager --offline=true --threshold="+exposure+" "+unit); err != nil {
		c.t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}
