// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"fmt"
	"strconv"
	"strings"
)

// zcn writes a node address as the tipc tool reads it: zone, cluster and node
// in decimal. It may be given so or as one hexadecimal number.
func zcn(address string) (string, error) {
	if address == "" || strings.Contains(address, ".") {
		return address, nil
	}
	n, err := strconv.ParseUint(address, 16, 32)
	if err != nil {
		return "", fmt.Errorf("rig: node address %q: %w", address, err)
	}
	return fmt.Sprintf("%d.%d.%d", n>>24, n>>12&0xfff, n&0xfff), nil
}
