// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"reflect"
	"strings"
)

// bearerFlags are the flags that give a bearer.
var bearerFlags = []struct{ name, value, doc string }{
	{"if", "IFACE", "an Ethernet interface to speak TIPC on; with the next two, up to three bearers, none of the file's"},
	{"udp", "IP[,TO...]", "speak TIPC over UDP from this address of the host, to these hosts or the multicast group; alone: the cluster's group"},
	{"bearer", "WORDS", `a bearer in the words of the file, as "medium eth device eth1 priority 5"`},
}

// bearer reads the bearer that the flag gives, number i.
func (g given) bearer(i int) (b Bearer, wrong *Problem) {
	switch g.name {
	case "if":
		return Bearer{Medium: "eth", Device: g.text}, nil
	case "udp":
		ends := strings.Split(g.text, ",")
		b = Bearer{Medium: "udp", Name: fmt.Sprintf("UDP%d", i+1), Local: ends[0]}
		if a, ok := Endpoint(ends[len(ends)-1]); ok && a.Addr().IsMulticast() && len(ends) == 2 {
			b.Multicast = ends[1]
		} else if len(ends) > 1 {
			b.Remotes = ends[1:]
		}
		return b, nil
	}
	words := strings.Fields(g.text)
	if len(words) == 0 || len(words)%2 != 0 {
		return b, &Problem{"--" + g.name, "", fmt.Sprintf("%q is not pairs of a key and its value", g.text), "medium eth device IFACE ..."}
	}
	for k := 0; k < len(words); k += 2 {
		if wrong = b.set(fmt.Sprintf("bearer[%d]", i), words[k], words[k+1]); wrong != nil {
			wrong.Where = "--" + g.name
			return b, wrong
		}
	}
	return b, nil
}

// set sets one of the bearer's settings by its key.
func (b *Bearer) set(name, key, text string) *Problem {
	for f := range fieldsOf(reflect.ValueOf(b).Elem(), name) {
		if f.key != name+"."+key {
			continue
		}
		if !f.parse(text) {
			return &Problem{"", f.key, fmt.Sprintf("= %q", text), f.allowed()}
		}
		return nil
	}
	return &Problem{"", name + "." + key, unknown("bearer." + key), siblings("bearer." + key)}
}
