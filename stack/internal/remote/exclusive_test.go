// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack/internal/backend"
)

// A daemon that does not grant the feature is said to know no exclusive names.
//
// Mutation it catches: the feature is not asked, or another.
func TestExclusiveOfAnOlderDaemon(t *testing.T) {
	f := newRemoteNode("", Config{})
	defer f.stop()
	f.welcome.Features = socketFeatures &^ attach.FeatureExclusive
	if err := f.mayBeExclusive(backend.SocketOptions{Exclusive: true}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	f.welcome.Features = socketFeatures
	for _, exclusive := range []bool{true, false} {
		if err := f.mayBeExclusive(backend.SocketOptions{Exclusive: exclusive}); err != nil {
			t.Errorf("got %v", err)
		}
		f.welcome.Features = 0
	}
}
