// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

// besideShown are commands that show.
var besideShown = []string{
	"bearer list",
	"bearer get priority media eth device eth0", "bearer get tolerance media eth device eth0", "bearer get window media eth device eth0",
	"link list", "l l", "-j link list", "-j -p link list", "link list -j",
	"link get priority link $link", "l g p l $link", "link get tolerance link $link", "link get window link $link",
	"-j link get window link $link", "-j -p link get window link $link",
	"link get window link broadcast-link", "link get broadcast", "-j link get broadcast", "-j -p link get broadcast",
	"link statistics show", "link st sh", "link statistics show link all", "link statistics show link $id", "link statistics show link broadcast-link",
	"link statistics show link nope", "-j link statistics show", "-j -p link statistics show", "-j link statistics show link all", "-j link statistics show link nope",
	"link monitor get threshold", "link monitor summary", "-j link monitor summary",
	"link monitor list", "link monitor list media eth device eth0", "link monitor list media eth device nope",
	"-j link monitor list",
	"media list", "m l", "media get priority media eth", "media get tolerance media eth", "media get window media eth", "media get mtu media udp",
	"nametable show", "-j nametable show",
	"node list", "node get address", "node get identity", "node get netid", "node get clusterid",
	"socket list", "s l",
}

// besideWrong are commands that cannot be.
var besideWrong = []string{
	"foo", "n", "l s", "l s s", "link foo", "link monitor foo", "link statistics foo",
	"link get foo", "link set foo", "bearer get foo", "bearer set foo 1",
	"link monitor get foo",
	"bearer", "link", "socket", "link get", "link set", "link statistics", "link monitor", "link monitor get",
	"bearer get", "bearer add", "peer remove", "peer remove address",
	"peer remove identity", "node set address", "node set identity", "node set netid", "node set key", "link set broadcast", "link statistics reset",
	"bearer enable", "bearer enable media", "bearer enable media eth", "bearer enable media eth device nope", "bearer enable media eth device eth0",
	"bearer enable med eth dev eth0", "bearer enable media foo device eth0", "bearer enable media foo", "bearer enable media e device eth0", "bearer enable foo",
	"bearer enable media udp", "bearer enable priority 40 media eth device eth0",
	"bearer disable", "bearer disable media eth", "bearer disable media eth device nope",
	"bearer disable media udp", "bearer disable media udp name X", "bearer disable media foo device eth0", "bearer disable media eth foo",
	"bearer add media", "bearer add media udp", "bearer add media udp name U1", "bearer add media udp name U1 remoteip 10.0.0.1", "bearer add media foo",
	"bearer set priority", "bearer set priority 12", "bearer set priority 12 media eth",
	"bearer set priority 40 media eth device eth0", "bearer set priority 12 media eth device nope", "bearer set tolerance 10 media eth device eth0",
	"bearer set window 20 media eth device eth0", "bearer set mtu 2000 media eth device eth0", "bearer set mtu 2000 media udp name U1",
	"bearer get priority", "bearer get priority media eth", "bearer get priority media eth device nope",
	"bearer get priority media foo device eth0", "bearer get mtu media eth device eth0", "bearer get mtu media udp name U1",
	"bearer get media", "bearer get media udp", "bearer get media udp name U1", "bearer get media udp name U1 foo", "bearer get media udp name U1 localip",
	"bearer get media eth",
	"link get priority", "link get priority link", "link get priority link nope", "link get priority foo bar", "link get priority link a link b",
	"link set priority", "link set priority 12", "link set priority 12 link nope", "link set priority 32 link $link",
	"link set tolerance 49 link $link", "link set window 49 link $link",
	"link set window 20 link $link", "link set priority 12 link broadcast-link", "link set tolerance 1000 link broadcast-link",
	"link set broadcast foo", "link set broadcast autoselect", "link set broadcast AUTOSELECT ratio 0", "link set broadcast AUTOSELECT ratio 101",
	"link statistics show foo", "link statistics show link a b", "link statistics reset link", "link statistics reset link nope",
	"link monitor set threshold", "link monitor set threshold 4096", "link monitor list foo", "link monitor list media eth",
	"link monitor list media foo", "link monitor list media udp",
	"media get priority", "media get priority media foo", "media get mtu media eth", "media get priority eth",
	"media set priority", "media set priority 12", "media set priority 32 media eth", "media set tolerance 49 media eth", "media set window 20 media eth",
	"media set mtu 100 media udp", "media set mtu 1500 media eth", "media set priority 12 media foo",
	"node set address 1.1.9", "node set identity foo", "node set netid 4712", "node set clusterid 4712", "node set identity foo!", "node set key rekeying",
	"peer remove address $peer", "peer remove address $other", "peer remove identity $id", "peer remove identity 1001007", "peer remove identity foo!",
	// What differs.
	"-j link monitor get threshold", "link get priority link broadcast-link", "node set netid x", "bearer set priority x media eth device eth0",
	"link set broadcast AUTOSELECT ratio", "peer remove address foo", "bearer add media eth device eth0", "link statistics reset foo",
	"bearer enable media udp name U1", "bearer enable media udp name U1 localip xx", "node set address foo", "link list -h",
}

// besideSet are commands that change something, and show it; contact is waited for after
// each group.
var besideSet = [][]string{
	{
		"link set tolerance 20000 link $link", "link get tolerance link $link", "link set window 60 link $link", "link get window link $link",
		"link set window 100 link broadcast-link", "link get window link broadcast-link", "link set window 50 link broadcast-link",
		"link set broadcast BROADCAST", "link get broadcast", "-j link get broadcast", "link set broadcast REPLICAST", "link get broadcast",
		"link set broadcast AUTOSELECT", "link get broadcast", "link set broadcast AUTOSELECT ratio 25", "link get broadcast", "-j link get broadcast",
		"link set broadcast ratio 20", "link get broadcast", "link set broadcast AUTOSELECT ratio 10",
		"link monitor set threshold 20", "link monitor get threshold", "link monitor set threshold 0", "link monitor get thresh",
		"link monitor set threshold 4095", "link monitor get threshold", "link monitor set threshold 32",
		"media set priority 12 media eth", "media get priority media eth", "media set priority 31 media eth", "media set priority 10 media eth",
		"media set mtu 1400 media udp", "media get mtu media udp", "media set mtu 14000 media udp",
		"bearer set window 100 media eth device eth0", "bearer get window media eth device eth0", "bearer set window 8191 media eth device eth0",
		"bearer set tolerance 15000 media eth device eth0", "bearer get tolerance media eth device eth0", "link get tolerance link $link",
		"link statistics reset link $link", "link statistics reset link broadcast-link", "node flush key",
	},
	{"bearer set priority 12 media eth device eth0", "bearer get priority media eth device eth0", "link get prio link $link"},
	{"link set priority 14 link $link", "link get priority link $link"},
	{"link set tolerance 300 link $link"},
}

// besideDown are commands while there is no contact.
var besideDown = []string{
	"link list", "-j link list", "node list", "nametable show", "link monitor list", "link monitor summary", "link get tolerance link $link",
	"link stat show link $id",
	"peer remove identity 1001007", "peer remove address $peer", "node list", "link list", "peer remove address $peer", "link get priority link $link",
	"peer remove identity $id",
}

// besideDisabled are commands that end with a node without a bearer.
var besideDisabled = []string{
	"bearer disable media eth device eth0", "bearer list", "link list", "-j link list", "node list", "nametable show",
	"link monitor summary", "-j link monitor summary", "link monitor list", "-j link monitor list", "bearer disable media eth device eth0",
	"bearer get priority media eth device eth0", "link statistics show", "node get address", "bearer enable media eth device nope",
}

// besidePrinted are the commands whose output docs/reference/tools.md shows.
var besidePrinted = map[string]bool{
	"bearer list": true, "link list": true, "link get window link $link": true, "link get broadcast": true, "link statistics show": true,
	"link monitor summary": true, "link monitor list": true, "media list": true, "nametable show": true, "node list": true,
	"node get identity": true, "socket list": true, "-j -p link list": true, "-j link get broadcast": true,
}

// besideDiffers are the commands that are answered otherwise, and why.
var besideDiffers = map[string]string{
	"-j link monitor get threshold":               "is valid JSON here",
	"link get priority link broadcast-link":       "there is none; as when it is set",
	"node set netid x":                            "what is no number is no 0 here",
	"bearer set priority x media eth device eth0": "likewise",
	"link set broadcast AUTOSELECT ratio":         "a value is missing",
	"bearer enable media udp name U1 localip xx":  "only addresses: what a host's name stands for changes",
	"link list -h":                                "help that was asked for is no error",
	"link monitor set threshold 0":                "1 to 4095 here",
	"link monitor get thresh":                     "as 0 was refused",
	"link get prio link $link":                    "priority and window of a bearer change its links at once here, in kernels those to come",
	"link stat show link $id":                     "a link that is down is DEFUNCT here, and nothing comes from such a peer",
}
