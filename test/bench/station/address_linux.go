// SPDX-License-Identifier: Apache-2.0

package station

import (
	"fmt"
	"net/netip"
)

// addresses gives both ends of the cable their IPv4 address where IP runs on it, and takes
// their offloads away if the variant is to go without.
func (st *Station) addresses() error {
	o := st.v.Ends[0]
	if !o.IP() && st.v.Program == nil {
		return nil
	}
	for end := range st.ends {
		name := st.bed.Name(end)
		if !st.v.Offloads {
			if err := st.bed.Do(end, func() error { return withoutOffloads(name) }); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := st.bed.Namespace(end).SetAddress(name, netip.MustParseAddr(addresses[end])); err != nil {
			return err
		}
	}
	return nil
}
