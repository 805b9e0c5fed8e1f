// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
)

// Proves: tools.decode
func TestDecodeTree(t *testing.T) {
	out, errs, status := utipc(nil, "decode", "-v", capture("01-discovery-linkup"))
	if status != cmdline.Done || errs != "" || lastLine(t, out) != "69 frames, 69 tipc, 0 unknown, 0 malformed" {
		t.Errorf("got status %d, %q, %q", status, errs, lastLine(t, out))
	}
	plain, _, _ := utipc(nil, "decode", capture("01-discovery-linkup"))
	lines := map[string]bool{}
	for l := range strings.Lines(out) {
		lines[l] = true
	}
	for l := range strings.Lines(plain) {
		if !lines[l] {
			t.Errorf("got no line %q with -v", l)
		}
	}
	for _, want := range []string{
		"                  w5 31:16   session             50968\n",
		"                  +40 16     if_name             eth0\n",
		"                    +42 1      unicast_blocks      0\n",
	} {
		if !lines[want] {
			t.Errorf("got no line %q", want)
		}
	}
}

// TestDecodeJSON reads what is printed: each line an object, with the same keys
// for the same kinds.
//
// Proves: tools.decode
func TestDecodeJSON(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob(filepath.Join(captures, "[0-2][0-9]-*.pcap"))
	if err != nil || len(all) != 27 {
		t.Fatalf("got %d captures, %v, want 27", len(all), err)
	}
	for _, lint := range []bool{false, true} {
		args := append([]string{"decode", "--json", fmt.Sprintf("--lint=%v", lint)}, all...)
		out, errs, status := utipc(nil, args...)
		if status != cmdline.Done || errs != "" {
			t.Errorf("got status %d, %q, want 0, nothing", status, errs)
		}
		n := map[string]int{}
		for l := range strings.Lines(out) {
			var o struct {
				File    string
				Frame   int
				Time    float64
				Src     string
				Class   string
				Summary string
				Message map[string]any
				Lint    []struct{ Rule, Where, Text, Habit string }
			}
			if err := json.Unmarshal([]byte(l), &o); err != nil {
				t.Fatalf("got %q: %v", l, err)
			}
			if strings.HasPrefix(l, `{"total":`) {
				continue
			}
			if o.File == "" || o.Frame == 0 || o.Src == "" || o.Summary == "" || (o.Class == "tipc") != (o.Message != nil) {
				t.Errorf("got %q, want a frame of a file", l)
			}
			n[o.Class]++
			for _, x := range o.Lint {
				if x.Rule == "" || x.Where == "" || x.Text == "" || x.Habit == "" {
					t.Errorf("got %+v, want habits alone", x)
				}
				n["habit"]++
			}
		}
		want := map[string]int{"tipc": 5932, "other": 34}
		total := `{"total":{"frames":5966,"tipc":5932,"unknown":0,"malformed":0,"fragments":26,"joined":8,"refused":0,"incomplete":0}}`
		if lint {
			want["habit"] = 6
			total = `{"total":{"frames":5966,"tipc":5932,"unknown":0,"malformed":0,"fragments":26,"joined":8,"refused":0,"incomplete":0,"findings":0,"habits":6}}`
		}
		if fmt.Sprint(n) != fmt.Sprint(want) || lastLine(t, out) != total {
			t.Errorf("got %v, %s, want %v, %s", n, lastLine(t, out), want, total)
		}
	}
}

// Proves: tools.decode
func TestDecodeJSONGolden(t *testing.T) {
	f := frame.TunnelFields{Common: frame.Common{Seq: 1, BcastAck: 2, Prev: 0x01001001}, Bearer: 1, Orig: 0x01001001, Dest: 0x01001002, Count: 175}
	names := frame.NamesFields{Common: frame.Common{Prev: 1, NonSeq: true}, NonLegacy: true, NetID: 4711, Orig: 1}
	item := frame.NameItem{Range: frame.Range{Type: 100, Lower: 1, Upper: 2}, Port: 3, Key: 4}
	bad := frame.ConnFields{Common: frame.Common{Prev: 1}, OrigPort: 1, DestPort: 2, Orig: 1, Dest: 1}
	in := pcap(1, 999, ethernet(f.Append(nil, nil)), ethernet(names.Append(nil, item), 0x81, 0, 0, 7), ethernet(bad.Append(nil)), ethernet([]byte{0x41}))
	out, errs, status := utipc(bytes.NewReader(in), "decode", "--json", "--lint", "-")
	want := `{"frame":1,"time":0.000000,"src":"02:00:00:00:00:01","dst":"ff:ff:ff:ff:ff:ff","class":"tipc","summary":"1001001>1001002 tunnel/synch bearer=1 point=175 seq=1 ack=0 bcast-ack=2","message":{"version":2,"user":"tunnel","header_words":10,"non_seq":false,"size":40,"type":"synch","bcast_ack":2,"ack":0,"seq":1,"prev_node":"1001001","piece":0,"pieces":0,"bearer":1,"orig_node":"1001001","dest_node":"1001002","sync_point":175}}
{"frame":2,"time":0.000000,"src":"02:00:00:00:00:01","dst":"ff:ff:ff:ff:ff:ff","vlans":[7],"class":"tipc","summary":"1>* name/publish update=0 100:1-2=3/4 bcast-seq=0","message":{"version":2,"user":"name","header_words":10,"non_seq":true,"size":60,"type":"publish","bulk":false,"last_bulk":false,"non_legacy":true,"bcast_ack":0,"ack":0,"seq":0,"prev_node":"1","update_seq":0,"net_id":4711,"orig_node":"1","dest_node":"0","items":[{"service_type":100,"lower":1,"upper":2,"port":3,"key":4}]}}
{"frame":3,"time":0.000000,"src":"02:00:00:00:00:01","dst":"ff:ff:ff:ff:ff:ff","class":"tipc","summary":"1>1 conn/probe 1>2 seq=0 ack=0 bcast-ack=0","message":{"version":2,"user":"conn","header_words":10,"non_seq":false,"size":40,"type":"probe","error_code":"ok","bcast_ack":0,"ack":0,"seq":0,"prev_node":"1","orig_port":1,"dest_port":2,"orig_node":"1","dest_node":"1"},"lint":[{"rule":"dest-node","where":"w7","text":"for its own sender 1"}]}
{"frame":4,"time":0.000000,"src":"02:00:00:00:00:01","dst":"ff:ff:ff:ff:ff:ff","class":"malformed","summary":"frame: truncated (1 bytes)","message":{"error":"truncated","data":"41"},"lint":[{"rule":"base","where":"w0","text":"frame: truncated"}]}
{"total":{"frames":4,"tipc":3,"unknown":0,"malformed":1,"findings":2,"habits":0}}
`
	if status != cmdline.Failed || errs != "utipc decode: messages break the rules\n" {
		t.Errorf("got status %d, %q, want %d, that rules are broken", status, errs, cmdline.Failed)
	}
	g, w := strings.Split(out, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Fatalf("got %d lines, want %d: %s", len(g), len(w), out)
	}
	for i := range w {
		if g[i] != w[i] {
			t.Errorf("line %d: got %s, want %s", i+1, g[i], w[i])
		}
	}
}

// Proves: wire.lint
func TestDecodeLint(t *testing.T) {
	out, errs, status := utipc(nil, "decode", "--lint", capture("22-groups"))
	if got, want := lastLine(t, out), "182 frames, 182 tipc, 0 unknown, 0 malformed, 0 findings, 6 habits"; got != want || status != cmdline.Done || errs != "" {
		t.Errorf("got %q, status %d, %q, want %q, 0, nothing", got, status, errs, want)
	}
	if want := "\n                  habit group-ucast-ack: w10 0: a unicast asks for acknowledgement\n"; !strings.Contains(out, want) {
		t.Errorf("got no %q", want)
	}
	f := frame.PayloadFields{Type: frame.DirectMsg}
	out, errs, status = utipc(bytes.NewReader(pcap(1, 999, ethernet(f.Append(nil, nil)))), "decode", "--lint", "-")
	if got, want := lastLine(t, out), "1 frames, 1 tipc, 0 unknown, 0 malformed, 4 findings, 0 habits"; got != want || status != cmdline.Failed || errs == "" {
		t.Errorf("got %q, status %d, %q, want %q, %d, why", got, status, errs, want, cmdline.Failed)
	}
	if want := "\n                  lint prev-node: w3: no sender\n"; !strings.Contains(out, want) {
		t.Errorf("got no %q in %q", want, out)
	}
}
