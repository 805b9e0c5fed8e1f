// SPDX-License-Identifier: Apache-2.0

package bearers

import "strings"

// The ends of reasons, by which Remedy knows them.
const (
	isMissing   = " does not exist"
	isDown      = " is down"
	noCarrier   = " has no carrier"
	flapping    = "the carrier comes and goes"
	noAddress   = "no interface has the address "
	isPort      = " is a port of "
	hasSmallMTU = " has an MTU of "
)

// Remedy is what an operator can do about the Reason of a Status: a command, or what to look
// at. It is empty where the bearer needs nobody.
func Remedy(reason string) string {
	name := "IFACE"
	if f := strings.Fields(reason); len(f) > 1 && f[0] == "interface" {
		name = f[1]
	}
	switch {
	case strings.HasPrefix(reason, noAddress):
		return "ip addr add " + strings.TrimPrefix(reason, noAddress) + "/PREFIX dev IFACE"
	case strings.HasSuffix(reason, isMissing):
		return "ip link show, and the driver's lines in dmesg"
	case strings.Contains(reason, isPort):
		_, master, _ := strings.Cut(reason, ": use ")
		return "utipc bearer enable media eth device " + master + ", or: ip link set dev " + name + " nomaster"
	case strings.Contains(reason, hasSmallMTU):
		return "ip link set dev " + name + " mtu 1500"
	case strings.HasSuffix(reason, isDown):
		return "ip link set dev " + name + " up"
	case strings.HasSuffix(reason, noCarrier), reason == flapping:
		return "check the cable and the switch"
	}
	return ""
}
