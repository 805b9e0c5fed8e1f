// SPDX-License-Identifier: Apache-2.0

// Package tshark compares what frame reads with what another reader, tshark, says
// of the same captures.
package tshark

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/test/tier"
)

// A column is one of tshark's fields and what we say in its place, a value for
// each message of a frame that has it: the packet's, then those in its bundle.
type column struct {
	field string
	value func(m frame.Message) (values []string)
}

func one[T any](v T) []string { return []string{fmt.Sprint(v)} }

// zcn writes a node's address the way tshark does.
func zcn(a frame.NodeAddr) string { return fmt.Sprintf("%d.%d.%d", a>>24, a>>12&0xfff, a&0xfff) }

// of gives a value for messages of one kind.
func of[V any](parse func(frame.Message) (V, error), value func(v V) []string) func(frame.Message) []string {
	return func(m frame.Message) []string {
		if v, err := parse(m); err == nil {
			return value(v)
		}
		return nil
	}
}

// unless leaves out messages of some users, for which tshark does not have the field.
func unless(f func(frame.Message) []string, users ...frame.User) func(frame.Message) []string {
	return func(m frame.Message) []string {
		for _, u := range users {
			if m.User() == u {
				return nil
			}
		}
		return f(m)
	}
}

func payload(value func(p frame.Payload) []string) func(frame.Message) []string {
	return of(frame.ParsePayload, value)
}

func items(value func(it frame.NameItem) uint32) func(frame.Message) []string {
	return of(frame.ParseNames, func(n frame.Names) (v []string) {
		for it := range n.Items() {
			v = append(v, fmt.Sprint(value(it)))
		}
		return v
	})
}

// either gives the first that has a value.
func either(a, b func(frame.Message) []string) func(frame.Message) []string {
	return func(m frame.Message) []string {
		if v := a(m); v != nil {
			return v
		}
		return b(m)
	}
}

// connZero is a field that the connection manager has and never uses.
var connZero = of(frame.ParseConn, func(frame.Conn) []string { return one(0) })

func discovery(value func(d frame.Discovery) []string) func(frame.Message) []string {
	return of(frame.ParseMediaDiscovery, value)
}

func link(value func(l frame.LinkMessage) []string) func(frame.Message) []string {
	return of(frame.ParseLink, value)
}

var columns = []column{
	{"tipc.usr", func(m frame.Message) []string { return one(uint8(m.User())) }},
	{"tipc.hdr_size", func(m frame.Message) []string { return one(m.HeaderLen() / 4) }},
	{"tipc.non_sequenced", func(m frame.Message) []string { return one(map[bool]int{true: 1}[m.NonSeq()]) }},
	{"tipc.msg_size", func(m frame.Message) []string { return one(len(m.Bytes())) }},
	{"tipc.data_type", payload(func(p frame.Payload) []string { return one(uint8(p.Type())) })},
	{"tipcv2.errorcode", either(payload(func(p frame.Payload) []string { return one(uint8(p.Error())) }),
		of(frame.ParseConn, func(c frame.Conn) []string { return one(uint8(c.Error())) }))},
	{"tipcv2.rer_cnt", either(payload(func(p frame.Payload) []string { return one(p.Reroute()) }), connZero)},
	{"tipcv2.lookup_scope", either(payload(func(p frame.Payload) []string { return one(uint8(p.Scope())) }), connZero)},
	{"tipc.org_port", either(payload(func(p frame.Payload) []string { return one(p.OrigPort()) }),
		of(frame.ParseConn, func(c frame.Conn) []string { return one(c.Fields().OrigPort) }))},
	{"tipc.dst_port", either(payload(func(p frame.Payload) []string { return one(p.DestPort()) }),
		of(frame.ParseConn, func(c frame.Conn) []string { return one(c.Fields().DestPort) }))},
	{"tipcv2.port_name_type", payload(func(p frame.Payload) []string {
		if r, ok := p.Range(); ok || p.HeaderLen() == frame.McastLen {
			return one(r.Type)
		}
		return nil
	})},
	{"tipcv2.port_name_instance", payload(func(p frame.Payload) []string {
		if r, ok := p.Range(); ok && p.Type() == frame.NamedMsg {
			return one(r.Lower)
		}
		return nil
	})},
	{"tipcv2.multicast_lower", payload(func(p frame.Payload) []string {
		if r, _ := p.Range(); p.HeaderLen() == frame.McastLen { // in a group: other words
			return one(r.Lower)
		}
		return nil
	})},
	{"tipcv2.multicast_upper", payload(func(p frame.Payload) []string {
		if r, _ := p.Range(); p.HeaderLen() == frame.McastLen { // in a group: other words
			return one(r.Upper)
		}
		return nil
	})},
	{"tipcv2.broadcast_ack_no", unless(func(m frame.Message) []string { return one(uint16(m.BcastAck())) }, frame.UserDiscovery)},
	{"tipcv2.link_level_ack_no", unless(func(m frame.Message) []string { return one(uint16(m.Ack())) }, frame.UserDiscovery)},
	{"tipcv2.link_level_seq_no", unless(func(m frame.Message) []string { return one(uint16(m.Seq())) }, frame.UserDiscovery)},
	{"tipcv2.prev_node", func(m frame.Message) []string { return one(zcn(m.Prev())) }},
	{"tipcv2.dest_node", func(m frame.Message) []string {
		if d, ok := m.DestNode(); ok {
			return one(zcn(d))
		}
		return nil
	}},
	{"tipcv2.link_msg_type", link(func(l frame.LinkMessage) []string { return one(l.RawType()) })},
	{"tipcv2.session_no", link(func(l frame.LinkMessage) []string { return one(uint16(l.Session())) })},
	{"tipcv2.link_tolerance", link(func(l frame.LinkMessage) []string { return one(l.Info().Tolerance) })},
	{"tipcv2.link_prio", link(func(l frame.LinkMessage) []string { return one(l.Info().Priority) })},
	{"tipcv2.seq_gap", link(func(l frame.LinkMessage) []string {
		if s, ok := l.State(); ok {
			return one(s.Gap())
		}
		// tshark reads the same bits in the others, where the lowest says that an
		// ACTIVATE names a session.
		r, _ := l.Reset()
		_, named := r.DestSession()
		return one(map[bool]int{true: 1}[named])
	})},
	{"tipcv2.naming_msg_type", of(frame.ParseNames, func(n frame.Names) []string { return one(n.RawType()) })},
	{"tipc.name_dist_type", items(func(it frame.NameItem) uint32 { return it.Range.Type })},
	{"tipc.name_dist_lower", items(func(it frame.NameItem) uint32 { return it.Range.Lower })},
	{"tipc.name_dist_upper", items(func(it frame.NameItem) uint32 { return it.Range.Upper })},
	{"tipc.dist_port", items(func(it frame.NameItem) uint32 { return it.Port })},
	{"tipc.dist_key", items(func(it frame.NameItem) uint32 { return it.Key })},
	{"tipcv2.data_msg_type", discovery(func(d frame.Discovery) []string { return one(uint8(d.Type())) })},
	{"tipcv2.network_id", discovery(func(d frame.Discovery) []string { return one(d.NetID()) })},
	{"tipcv2.destination_domain", discovery(func(d frame.Discovery) []string { return one(zcn(d.Dest())) })},
	{"tipcv2.fragmenter_msg_type", of(frame.ParseFragment, func(f frame.Fragment) []string { return one(uint8(f.Type())) })},
	{"tipcv2.fragment_number", of(frame.ParseFragment, func(f frame.Fragment) []string { return one(f.Number()) })},
	{"tipcv2.connmgr_msg_type", of(frame.ParseConn, func(c frame.Conn) []string { return one(c.RawType()) })},
}

// read returns what tshark says: a list of values for each field, by frame.
func read(t *testing.T, file string) [][]string {
	t.Helper()
	args := []string{"-r", file, "-o", "tipc.defragment:FALSE", "-T", "fields", "-E", "separator=|", "-E", "aggregator=,"}
	for _, c := range columns {
		args = append(args, "-e", c.field)
	}
	out, err := exec.CommandContext(t.Context(), "tshark", args...).Output()
	if err != nil {
		t.Fatalf("tshark %s: %v", file, err)
	}
	var frames [][]string
	for line := range strings.Lines(string(out)) {
		frames = append(frames, strings.Split(strings.TrimRight(line, "\n"), "|"))
	}
	return frames
}

// concatenate makes one capture of several, as each start of tshark takes longer than it
// needs to read all of them, and returns its path.
func concatenate(t *testing.T, files []string) string {
	t.Helper()
	const head = 24 // bytes: magic number, version, time zone, accuracy, longest frame, link type
	var all []byte
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if all == nil {
			all = b
			continue
		}
		if len(b) < head || !bytes.Equal(b[:head], all[:head]) {
			t.Fatalf("%s begins with % x, %s with % x", file, b[:min(head, len(b))], files[0], all[:head])
		}
		all = append(all, b[head:]...)
	}
	path := filepath.Join(t.TempDir(), "all.pcap")
	if err := os.WriteFile(path, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// messages are the packet and what is in its bundle.
func messages(m frame.Message) []frame.Message {
	all := []frame.Message{m}
	if u, err := frame.ParseBundle(m); err == nil {
		for in, err := range u.Messages() {
			if err != nil {
				break
			}
			all = append(all, in)
		}
	}
	return all
}

// Proves: wire.tshark
func TestSameAsTshark(t *testing.T) {
	tier.SkipShort(t, "tshark")
	if _, err := exec.LookPath("tshark"); err != nil {
		tier.Missing(t, err)
	}
	files, err := filepath.Glob("../testdata/captures/*.pcap")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	all := read(t, concatenate(t, files))
	used := map[*difference]int{}
	compared, values := 0, 0
	for _, file := range files {
		ours, err := layers.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < len(ours) {
			t.Fatalf("%s: %d frames, tshark has %d", file, len(ours), len(all))
		}
		theirs := all[:len(ours)]
		all = all[len(ours):]
		shown := 0
		for i, f := range ours {
			b, ok := tipc(f)
			if !ok {
				continue
			}
			compared++
			m, err := frame.Parse(b)
			for k, c := range columns {
				var want []string
				if err == nil {
					for _, in := range messages(m) {
						want = append(want, c.value(in)...)
					}
				}
				got := theirs[i][k]
				values++
				if got == strings.Join(want, ",") {
					continue
				}
				if d := explain(b, c.field, want, got); d != nil {
					used[d]++
				} else if shown++; shown < 6 {
					line, _ := describe.Message(b)
					t.Errorf("%s, frame %d, %s: tshark says %q, we %q\n%s", filepath.Base(file), i+1, c.field, got, strings.Join(want, ","), line)
				}
			}
		}
	}
	if len(all) != 0 {
		t.Errorf("tshark has %d frames that we have not", len(all))
	}
	for i := range differences {
		d := &differences[i]
		t.Logf("%5d values: %s", used[d], d.why)
		if used[d] == 0 {
			t.Errorf("no value differs any more because %s", d.why)
		}
	}
	t.Logf("%d frames of %d captures, %d values compared", compared, len(files), values)
}
