// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"testing"
	"time"
)

// Who gives no configuration waits as long as is the default for each, and whoever sets one
// timeout changes no other: the other tests set all of them.
//
// Mutation it catches: Config.withDefaults that leaves timeouts as they are.
func TestTimeoutsDefault(t *testing.T) {
	all := timeouts{claim: time.Second, queue: 2 * time.Second, hook: 200 * time.Millisecond, program: time.Second}
	for of, got := range map[string]timeouts{
		"Config":       (*Config)(nil).withDefaults().timeouts,
		"PacketConfig": (*PacketConfig)(nil).withDefaults().timeouts,
		"XSKConfig":    (*XSKConfig)(nil).withDefaults().timeouts,
	} {
		if got != all {
			t.Errorf("%s: got %+v, want %+v", of, got, all)
		}
	}
	one := all
	one.hook = time.Minute
	if got := (&Config{timeouts: timeouts{hook: time.Minute}}).withDefaults().timeouts; got != one {
		t.Errorf("hook alone: got %+v, want %+v", got, one)
	}
}
