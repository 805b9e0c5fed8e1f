// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The record and the event of spec 06 §3.1, as a client has them.
func TestRemoteSubscription(t *testing.T) {
	x := &Subscription{Range: frame.Range{Type: 18888, Upper: 100}, Filter: frame.FilterService}
	r, record := AskRemote(x, 0, 1)
	if want := unhex(t, "c84900000000000064000000ffffffff020000000100000000000000"); !bytes.Equal(record, want) {
		t.Errorf("got  %x\nwant %x", record, want)
	}
	if want := unhex(t, "c84900000000000064000000ffffffff060000000100000000000000"); !bytes.Equal(r.Cancel(), want) {
		t.Errorf("cancel: got  %x\nwant %x", r.Cancel(), want)
	}
	event := "01000000110000001100000001000050111111" + "11"
	ev, over, err := r.Event(append(unhex(t, event), record...))
	want := Event{Edge: true, Binding: Binding{
		Range: frame.Range{Type: 18888, Lower: 17, Upper: 17}, Socket: frame.SocketAddr{Port: 0x50000001, Node: 0x11111111},
	}}
	if ev != want || over || err != nil {
		t.Errorf("got %+v, %v, %v", ev, over, err)
	}
}

func TestRemoteTimeoutAndFilter(t *testing.T) {
	for _, c := range []struct {
		timeout time.Duration
		f       frame.Filter
		ms      uint32
		want    frame.Filter
	}{
		{0, frame.FilterPorts, frame.Forever, frame.FilterPorts},
		{1, frame.FilterPorts, 1, frame.FilterPorts},
		{time.Millisecond, 0, 1, frame.FilterService},
		{time.Millisecond + 1, frame.FilterNoStatus, 2, frame.FilterNoStatus | frame.FilterService},
		{time.Second, frame.FilterPorts | frame.FilterCancel, 1000, frame.FilterPorts},
		{1<<32*time.Millisecond - 1, frame.FilterPorts, frame.Forever - 1, frame.FilterPorts},
		{1<<63 - 1, frame.FilterPorts, frame.Forever - 1, frame.FilterPorts},
	} {
		_, b := AskRemote(&Subscription{Filter: c.f}, c.timeout, 0)
		s, err := frame.ParseSubscription(b, frame.LittleEndian)
		if err != nil || s.Order() != frame.LittleEndian || s.Timeout() != c.ms || s.Filter() != c.want {
			t.Errorf("%v, %v: got %d ms, %v, order %v", c.timeout, c.f, s.Timeout(), s.Filter(), s.Order())
		}
	}
}

// A topology service that answers what it was not asked is not believed.
func TestRemoteEventRules(t *testing.T) {
	x := &Subscription{Range: frame.Range{Type: 100, Lower: 5, Upper: 9}, Filter: frame.FilterPorts}
	r, record := AskRemote(x, 0, 7)
	s, _ := frame.ParseSubscription(record, frame.LittleEndian)
	event := func(change func(*frame.TopologyEventFields)) []byte {
		f := frame.TopologyEventFields{Type: frame.Withdrawn, Lower: 1, Upper: 5, Port: 3, Node: remote1, Subscription: s.Fields()}
		change(&f)
		return f.Append(nil)
	}
	type f = frame.TopologyEventFields
	good := event(func(*f) {})
	for _, c := range []struct {
		name string
		b    []byte
		over bool
		err  error
	}{
		{"sound", good, false, nil},
		{"over", event(func(f *f) { f.Type, f.Lower, f.Upper = frame.TimedOut, 9<<24, 5<<24 }), true, nil},
		{"cut", good[:47], false, frame.ErrTruncated},
		{"longer", append(bytes.Clone(good), 0), false, ErrEvent},
		{"another event", event(func(f *f) { f.Type = 4 }), false, frame.ErrUnknown},
		{"another handle", event(func(f *f) { f.Subscription.Handle[0]++ }), false, ErrEvent},
		{"another range", event(func(f *f) { f.Subscription.Range.Upper++ }), false, ErrEvent},
		{"other order", event(func(f *f) { f.Subscription.Order = frame.BigEndian }), false, ErrEvent},
		{"inverted", event(func(f *f) { f.Lower, f.Upper = 8, 6 }), false, ErrEvent},
		{"below", event(func(f *f) { f.Upper = 4 }), false, ErrEvent},
		{"above", event(func(f *f) { f.Lower, f.Upper = 10, 10 }), false, ErrEvent},
	} {
		ev, over, err := r.Event(c.b)
		if err != c.err || over != c.over {
			t.Errorf("%s: got %+v, %v, %v", c.name, ev, over, err)
		}
		if c.name == "sound" && (!ev.Withdrawn || ev.Edge || ev.Binding.Range.Type != 100 || ev.Binding.Range.Lower != 1) {
			t.Errorf("got %+v", ev)
		}
	}
}

// A record that asks once has no time, and its handle is found again in what comes.
func TestAskOnce(t *testing.T) {
	x := &Subscription{Range: frame.Range{Type: 18888, Upper: 100}, Filter: frame.FilterPorts | frame.FilterClusterScope}
	r, record := AskOnce(x, 0x0807060504030201)
	if want := unhex(t, "c8490000000000006400000000000000210000000102030405060708"); !bytes.Equal(record, want) {
		t.Errorf("got  %x\nwant %x", record, want)
	}
	event := append(unhex(t, "0300000000000000640000000000000000000000"), record...)
	if _, over, err := r.Event(event); !over || err != nil {
		t.Errorf("over %v, %v", over, err)
	}
	if h, err := HandleOf(event); h != 0x0807060504030201 || err != nil {
		t.Errorf("handle %x, %v", h, err)
	}
	if _, err := HandleOf(event[:47]); err == nil {
		t.Error("a short event has a handle")
	}
}
