// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/frame"
)

var anyHeader = Header{
	Op: OpMessage, Flags: FlagReply | FlagMore, Errno: syscall.EHOSTUNREACH, ID: 7,
	Addr:  SocketSockaddr(frame.SocketAddr{Port: 17, Node: 0x1001002}),
	Addr2: RangeSockaddr(frame.Range{Type: 18888, Lower: 1, Upper: 99}, frame.NodeScope),
	Arg0:  1, Arg1: 2, Wide: 3 << 40,
}

func TestRecord(t *testing.T) {
	for _, size := range []int{0, 1, 64, MaxData} {
		h, data := anyHeader, bytes.Repeat([]byte{9}, size)
		b, err := h.Append([]byte("before"), data)
		if err != nil || len(b) != 6+HeaderLen+size {
			t.Fatalf("%d bytes: got %d, %v", size, len(b), err)
		}
		got, gotData, err := ParseRecord(b[6:])
		if err != nil || got != h || !bytes.Equal(gotData, data) {
			t.Errorf("%d bytes: got %v, %v, want %v", size, &got, err, &h)
		}
		for _, cut := range []int{0, 1, HeaderLen - 1, len(b) - 7} {
			if _, _, err := ParseRecord(b[6 : 6+cut]); !errors.Is(err, ErrRecord) {
				t.Errorf("%d of %d bytes: %v, want ErrRecord", cut, size, err)
			}
		}
		if _, _, err := ParseRecord(append(b[6:len(b):len(b)], 0)); !errors.Is(err, ErrRecord) {
			t.Errorf("one byte more than %d: %v, want ErrRecord", size, err)
		}
	}
	if _, err := anyHeader.Append(nil, make([]byte, MaxData+1)); !errors.Is(err, ErrTooLong) || !errors.Is(err, syscall.EMSGSIZE) {
		t.Errorf("too long: %v", err)
	}
}

// Proves: daemon.harmless
func FuzzRecord(f *testing.F) {
	h := anyHeader
	b, _ := h.Append(nil, []byte("data"))
	f.Add(b)
	f.Add(b[:HeaderLen])
	f.Add([]byte{})
	hello, name := HelloRequest(1, FeatureRing, "test")
	b, _ = hello.Append(nil, name)
	f.Add(b)
	h, data := HelloReply(&hello, Welcome{Features: FeatureRing, Node: 5, Program: "utipc"})
	b, _ = h.Append(nil, data)
	f.Add(b)
	f.Add((&Event{Kind: EventPublished, Range: frame.Range{Type: 1, Lower: 2, Upper: 3}}).Append(make([]byte, HeaderLen)))
	f.Add(AppendOption(make([]byte, HeaderLen), OptImportance, 3))
	f.Add(AppendCall(make([]byte, HeaderLen), "link.list", []byte("{}")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, data, err := ParseRecord(b); err == nil {
			back, err := h.Append(nil, data)
			if err != nil || !bytes.Equal(back, b) {
				t.Errorf("%x comes back as %x, %v", b, back, err)
			}
			_ = h.String()
			for _, a := range []Sockaddr{h.Addr, h.Addr2} {
				if addr, ok := a.Addr(); ok {
					if s, ok := SockaddrOf(addr, frame.Scope(a.Scope)); !ok || addr != nil && s.String() != a.String() {
						t.Errorf("%v comes back as %v", a, s)
					}
				}
			}
			_, _ = ParseHello(&h, data)
			_, _ = ParseWelcome(&h, data)
		} else if h != (Header{}) {
			t.Errorf("a header comes with %v", err)
		}
		if len(b) < HeaderLen {
			return
		}
		data := b[HeaderLen:]
		if events, err := ParseEvents(data, nil); err == nil {
			var back []byte
			for i := range events {
				back = events[i].Append(back)
			}
			if !bytes.Equal(back, data) {
				t.Errorf("events %x come back as %x", data, back)
			}
		}
		if options, err := ParseOptions(data, nil); err == nil && len(options) != len(data)/optionLen {
			t.Errorf("%d options of %d bytes", len(options), len(data))
		}
		if verb, in, err := ParseCall(data); err == nil && !bytes.Equal(AppendCall(nil, verb, in), data) {
			t.Errorf("call %x comes back as %q %x", data, verb, in)
		}
	})
}

func TestHello(t *testing.T) {
	h, data := HelloRequest(1, FeatureRing|1<<40, "a program\n")
	name, err := ParseHello(&h, data)
	if err != nil || name != `a program\n` {
		t.Errorf("got %q, %v", name, err)
	}
	want := Welcome{Version: Version, Features: FeatureRing | 1<<3, Node: 0x1001001, Identity: frame.Identity{1, 15: 9}, Program: "utipc 1"}
	r, data := HelloReply(&h, want)
	got, err := ParseWelcome(&r, data)
	if want.Features = FeatureRing; err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	refusal := h.Reply(syscall.EUSERS)
	if _, err := ParseWelcome(&refusal, nil); !errors.Is(err, syscall.EUSERS) {
		t.Errorf("a refusal: %v", err)
	}
}

// A program and a daemon of different versions each learn of both, and what to do, whichever
// answers. A daemon of before VersionReply does not say its own.
//
// Mutations: VersionReply without Arg1; VersionError.Error with the two sentences exchanged.
//
// Proves: daemon.versions
func TestHelloOfAnotherVersion(t *testing.T) {
	for _, c := range []struct {
		program uint32 // as it says in its hello
		want    string
	}{
		{Version - 1, "the program speaks another version of the socket protocol, the daemon version 1; use the same release of utipc for both"},
		{Version + 1, "the program speaks version 2 of the socket protocol, the daemon version 1; update utipc on this host"},
	} {
		h, data := HelloRequest(1, 0, "program")
		h.Arg1 = c.program
		var e *VersionError
		_, err := ParseHello(&h, data)
		if !errors.As(err, &e) || !errors.Is(err, ErrVersion) || e.Program != c.program || e.Daemon != Version || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("the daemon: got %v, want %q", err, c.want)
		}
		r, text := VersionReply(&h)
		if r.Errno != syscall.EPROTONOSUPPORT || r.ID != h.ID || r.Arg0 != Magic || r.Arg1 != Version || !strings.HasPrefix(string(text), c.want) {
			t.Errorf("the answer: got %v %q", &r, text)
		}
	}
	for _, c := range []struct {
		magic, daemon uint32 // as its answer says
		errno         syscall.Errno
		want          string
	}{
		{Magic, Version + 1, syscall.EPROTONOSUPPORT, "the program speaks version 1 of the socket protocol, the daemon version 2; update the program"},
		{Magic, Version + 1, 0, "the program speaks version 1 of the socket protocol, the daemon version 2; update the program"},
		{0, 0, syscall.EPROTONOSUPPORT, "the program speaks version 1 of the socket protocol, the daemon another version; use the same release"},
	} {
		r := Header{Op: OpHello, Flags: FlagReply, Errno: c.errno, Arg0: c.magic, Arg1: c.daemon}
		var e *VersionError
		if _, err := ParseWelcome(&r, make([]byte, 16)); !errors.As(err, &e) || e.Program != Version || e.Daemon != c.daemon || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("the program: got %v, want %q", err, c.want)
		}
	}
}

func TestJoinAndSplit(t *testing.T) {
	for _, size := range []int{0, 1, MaxData, MaxData + 1, 3*MaxData - 5} {
		data := bytes.Repeat([]byte("0123456789a"), size/11+1)[:size]
		var j Join
		var got []byte
		records, finished := 0, false
		err := Split(Header{Op: OpCall, ID: 3}, data, func(h *Header, part []byte) error {
			records++
			all, done, err := j.Add(h, part, size)
			if err != nil || finished {
				t.Errorf("size %d, record %d: %v, finished %v", size, records, err, finished)
			}
			if done {
				got, finished = all, true
			}
			return nil
		})
		if err != nil || !finished || !bytes.Equal(got, data) || records != max(1, (size+MaxData-1)/MaxData) {
			t.Errorf("size %d: %d bytes in %d records, finished %v, %v", size, len(got), records, finished, err)
		}
	}
	var j Join
	more := Header{Flags: FlagMore}
	var errs []error
	for range 4 {
		_, done, err := j.Add(&more, make([]byte, 10), 25)
		if done {
			t.Error("done before the last record")
		}
		errs = append(errs, err)
	}
	if errs[1] != nil || !errors.Is(errs[2], ErrTooLong) || !errors.Is(errs[3], ErrTooLong) || cap(j.data) > 25 {
		t.Errorf("beyond the limit: %v, %d bytes kept", errs, cap(j.data))
	}
	if _, done, err := j.Add(&Header{}, nil, 25); !done || !errors.Is(err, ErrTooLong) {
		t.Errorf("the last: done %v, %v", done, err)
	}
	if all, done, err := j.Add(&Header{}, []byte("next"), 25); !done || err != nil || string(all) != "next" {
		t.Errorf("the next: %q, done %v, %v", all, done, err)
	}
}

func TestParseCall(t *testing.T) {
	for data, want := range map[string]string{
		"link.list\x00{}": "link.list", "a\x00": "a",
		"": "", "a": "", "\x00{}": "", "A\x00": "", "a b\x00": "", "a/b\x00": "",
		string(bytes.Repeat([]byte("a"), MaxVerb)) + "\x00":   string(bytes.Repeat([]byte("a"), MaxVerb)),
		string(bytes.Repeat([]byte("a"), MaxVerb+1)) + "\x00": "",
	} {
		verb, _, err := ParseCall([]byte(data))
		if verb != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", data, verb, err, want)
		}
	}
}
