// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"cmp"

	"github.com/utipc/utipc/netdev"
)

func init() { netdev.Register("eth", openText) }

// openText opens "eth:IFACE" with the option driver: auto, af_xdp or af_packet.
func openText(t *netdev.Text) (netdev.Device, error) {
	d, err := ParseDriver(cmp.Or(t.Option("driver"), Auto.String()))
	if err != nil {
		return nil, err
	}
	if err := t.Unknown(); err != nil {
		return nil, err
	}
	return Open(t.Place, &Config{Driver: d})
}
