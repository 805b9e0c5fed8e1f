// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"encoding/json"
	"testing"
)

// A castCount is what a kernel counts on its broadcast link.
type castCount struct{ sent, repeated int }

// castCounts asks the kernels.
func (f *four) castCounts(t *testing.T) map[int]castCount {
	t.Helper()
	all := map[int]castCount{}
	for _, i := range kernels {
		var links []struct {
			Link string
			TX   struct {
				Packets int `json:"tx packets"`
			} `json:"tx packets"`
			Naks struct {
				Repeated int `json:"retrans"`
			} `json:"tx naks"`
		}
		if out := f.run(t, i, "tipc -j link stat show"); json.Unmarshal([]byte(out), &links) != nil || links[0].Link != "broadcast-link" {
			t.Fatalf("statistics: %s", out)
		}
		all[i] = castCount{links[0].TX.Packets, links[0].Naks.Repeated}
	}
	return all
}

// castMethod checks that the kernels sent as they were told.
func (f *four) castMethod(t *testing.T, how method, before map[int]castCount) {
	t.Helper()
	after := f.castCounts(t)
	for i, c := range before {
		sent := after[i].sent - c.sent
		t.Logf("kernel %d: %d broadcast packets, %d repeated", i, sent, after[i].repeated-c.repeated)
		// Names of sockets that come and go are always broadcast.
		const forNames = 50
		if many := sent > forNames; many != (how != replicast) {
			t.Errorf("kernel %d broadcast %d packets", i, sent)
		}
	}
}
