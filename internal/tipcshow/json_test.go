// SPDX-License-Identifier: Apache-2.0

package tipcshow_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/internal/tipcshow"
)

// What a kernel 6.1.176's tool printed with -j -p.
//
// Proves: tools.tipc
func TestPrettyJSON(t *testing.T) {
	array := func(v ...any) tipcshow.Array { return tipcshow.Array(v) }
	for _, c := range []struct {
		v    any
		want string
	}{
		{array(tipcshow.Object{{"method", "AUTOSELECT"}}, tipcshow.Object{{"ratio", 10}}), `[ {
        "method": "AUTOSELECT"
    },{
        "ratio": 10
    } ]
`},
		{array(tipcshow.Object{{"bearer", "eth:eth0"}, {"eth:eth0", array(
			tipcshow.Object{{"node", "1.1.2"}, {"applied_node_status", array("U")}, {"[non_applied_node:status]", array()}},
			tipcshow.Object{{"node", "1.1.1"}},
		)}}), `[ {
        "bearer": "eth:eth0",
        "eth:eth0": [ {
                "node": "1.1.2",
                "applied_node_status": [ "U" ],
                "[non_applied_node:status]": [ ]
            },{
                "node": "1.1.1"
            } ]
    } ]
`},
		{array(tipcshow.Object{{"rx naks", tipcshow.Object{{"rx naks", 0}, {"defs", 1}}}, {"up", true}}), `[ {
        "rx naks": {
            "rx naks": 0,
            "defs": 1
        },
        "up": true
    } ]
`},
	} {
		var b bytes.Buffer
		if err := tipcshow.WriteJSON(&b, c.v, true); err != nil || b.String() != c.want || !json.Valid(b.Bytes()) {
			t.Errorf("%v: got\n%s\nwant\n%s", err, b.String(), c.want)
		}
	}
}

// Whatever another node chose as a name, the JSON is valid and holds it.
func FuzzJSON(f *testing.F) {
	f.Add("eth0", 16)
	f.Add("\x1b[2J\r\n\x00é\xff", 67)
	f.Add(strings.Repeat("x", 200), 67)
	f.Fuzz(func(t *testing.T, s string, max int) {
		got := printable.Prefix(s, max&0xff)
		var b bytes.Buffer
		if err := tipcshow.WriteJSON(&b, tipcshow.Array{tipcshow.Object{{got, s}}}, max&1 != 0); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("%q: %v, %s is no JSON", s, err, b.String())
		}
	})
}
