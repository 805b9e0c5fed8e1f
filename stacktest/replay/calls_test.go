// SPDX-License-Identifier: Apache-2.0

package replay_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/stacktest/replay"
)

// Proves: replay.bytes
func TestParseCalls(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "[]"},
		{"# a remark\n\n   \t\n  # another", "[]"},
		{"0 A address 1.1.1", "[0s A address]"},
		{"0 1001001 address 1001001", "[0s 1001001 address]"},
		{"1.5 A identity node-alpha\n0.25 B identity 01020304111111112222222233333333", "[250ms B identity 1.5s A identity]"},
		{"0 B netid 4712\n0 B bearer eth0 52:54:8a:10:0b:00\n0 B bearer eth0 52:54:8a:10:0b:00 9000", "[0s B netid 0s B bearer 0s B bearer]"},
		{"0 A open 7\n0 A open 4294967295 critical returnable tipcgram echo", "[0s A open 0s A open]"},
		{"0 A bind 7 8888:17-17\n0 A bind 7 8888:0-4294967295 cluster\n0 A unbind 7 8888:17 node", "[0s A bind 0s A bind 0s A unbind]"},
		{"0 A send 7 8888:17 text:hello\n0 A send 7 8888:17@1001002 hex:00ff\n0 A send 7 <1001002:9> zero:66000\n0 A send 7 8888:17 frame:12\n0 A send 7 8888:17 frame:12/3", "[0s A send 0s A send 0s A send 0s A send 0s A send]"},
		{"0 A send 7 8888:17 text:", "[0s A send]"},
		{"0 A close 7\n0 A set tolerance 1001002 800\n0 A set priority 1.1.2 31", "[0s A close 0s A set 0s A set]"},
		{"0 A disable eth0\n0 A mtu eth0 0\n0 A cut eth0\n0 A heal eth0", "[0s A disable 0s A mtu 0s A cut 0s A heal]"},
		{"0 A listen 7\n0 A listen 7 stream\n0 A accept 7 8\n0 A accept 7 8 echo\n0 A accept 7 8 sink", "[0s A listen 0s A listen 0s A accept 0s A accept 0s A accept]"},
		{"0 A connect 7 8888:1\n0 A connect 7 8888:1@1001002 stream sink high timeout:500 frame:12\n0 A connect 7 <1001002:9> echo text:x", "[0s A connect 0s A connect 0s A connect]"},
		{"0 A send 7 text:x\n0 A read 7 66000\n0 A shutdown 7\n0 A crash", "[0s A send 0s A read 0s A shutdown 0s A crash]"},
		{"0 A send 7 frame:9+0:1\n0 A nodelay 7\n0 A nodelay 7 on\n0 A nodelay 7 off", "[0s A send 0s A nodelay 0s A nodelay 0s A nodelay]"},
		{"0 A mcast 7 8888:1-9 text:x\n0 A mcast 7 8888:1 frame:4\n0 A method 7 auto\n0 A method 7 broadcast\n0 A method 7 replicast", "[0s A mcast 0s A mcast 0s A method 0s A method 0s A method]"},
		{"0 A hidden 52:54:8a:10:0b:00\n0 A leaky\n0 A slow eth0 400\n0 A lost 7\n0 A late 7 0.5\n0 A doubled 7 0\n0 A ticks 1.3", "[0s A hidden 0s A leaky 0s A slow 0s A lost 0s A late 0s A doubled 0s A ticks]"},
		{"0 A join 7 500:1\n0 A join 7 500:1 loopback\n0 A join 7 500:1 busy:0.5 loopback\n0 A leave 7", "[0s A join 0s A join 0s A join 0s A leave]"},
		{"0 A group-send 7 all text:x\n0 A group-send 7 each 3 frame:9\n0 A group-send 7 any 3 zero:1\n0 A group-send 7 member <1001002:9> text:x", "[0s A group-send 0s A group-send 0s A group-send 0s A group-send]"},
		{"2 A subscribe 7 whatever it will take", "[2s A subscribe]"}, // refused when it is replayed
		{"1e3 A close 7", "[16m40s A close]"},
	} {
		calls, err := replay.ParseCalls(strings.NewReader(c.text))
		var got []string
		for _, x := range calls {
			got = append(got, fmt.Sprintf("%v %s %s", x.At, x.Node, x.Verb))
		}
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%q: got %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}

// Proves: replay.bytes
func TestParseCallsRefuses(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"0 A", "want SECONDS NODE VERB ARGS"},
		{"x A close 7", `"x" is not a time`},
		{"-1 A close 7", `"-1" is not a time`},
		{"NaN A close 7", `"NaN" is not a time`},
		{"1e9 A close 7", `"1e9" is not a time`},
		{"0 A jump 7", `no verb "jump"`},
		{"0 A address", "address: 0 arguments, want 1 to 1"},
		{"0 A address 0", "cannot have address 0"},
		{"0 A address 1.1", "address:"},
		{"0 A identity no/slash", "identity:"},
		{"0 A key cluster", "key: 1 arguments, want 2 to 3"},
		{"0 A key house twenty-characters-ab", `"house" is none of cluster, master, node, peer`},
		{"0 A key cluster short", "a key has 16, 24 or 32 bytes"},
		{"0 A key peer twenty-characters-ab", "it is key KIND KEY, or key peer ID KEY"},
		{"0 A key node 1.1.1 twenty-characters-ab", "it is key KIND KEY, or key peer ID KEY"},
		{"0 A key peer no/slash twenty-characters-ab", "identity"},
		{"0 A rekey now", "rekey: 1 arguments, want 0 to 0"},
		{"0 A netid 10000", "not a number from 1 to 9999"},
		{"0 A bearer eth0", "bearer: 1 arguments, want 2 to 3"},
		{"0 A bearer eth0 52:54", "not the address of a station"},
		{"0 A bearer eth0 52:54:8a:10:0b:00 99", "not a number from 100"},
		{"0 A bearer averylonginterface 52:54:8a:10:0b:00", "longer than 15"},
		{"0 A open 0", `"0" is not a port`},
		{"0 A open 7 loud", `"loud" is none of`},
		{"0 A bind 7 8888:9-1", "bind:"},
		{"0 A bind 7 <1001002:9>", "is not TYPE:LOWER-UPPER"},
		{"0 A bind 7 8888:1-2 zone", `"zone" is none of cluster, node`},
		{"0 A send 7 8888:1-9 text:x", "send: send to 8888:1-9: to a range it is mcast"},
		{"0 A mcast 7 <1001002:9> text:x", "mcast: \"<1001002:9>\" is not TYPE:LOWER-UPPER"},
		{"0 A mcast 7 8888:9-1 text:x", "mcast:"},
		{"0 A mcast 0 8888:1-9 text:x", `"0" is not a port`},
		{"0 A mcast 7 8888:1-9", "mcast: 2 arguments, want 3 to 3"},
		{"0 A mcast 7 8888:1-9 x", `"x" is none of`},
		{"0 A method 7 unicast", `"unicast" is none of auto, broadcast, replicast`},
		{"0 A method 7", "method: 1 arguments, want 2 to 2"},
		{"0 A send 7 8888:1 x", `"x" is none of`},
		{"0 A send 7 8888:1 hex:f", "send:"},
		{"0 A send 7 8888:1 zero:66001", "not a number from 0 to 66000"},
		{"0 A send 7 8888:1 frame:0", "not a number from 1"},
		{"0 A send 7 8888:1 frame:1/0", "not a number from 1"},
		{"0 A send 7 8888:1 frame:1/", "not a number from 1"},
		{"0 A set mtu 1001002 100", `"mtu" is none of tolerance, priority, window`},
		{"0 A set window 1001002 49", "not a number from 50 to 8191"},
		{"0 A disable", "disable: 0 arguments, want 1 to 1"},
		{"0 A mtu eth0 -1", "not a number from 0 to 65535"},
		{"0 A listen 7 packets", `listen: "packets" is not stream`},
		{"0 A listen", "listen: 0 arguments, want 1 to 2"},
		{"0 A accept 7", "accept: 1 arguments, want 2 to 3"},
		{"0 A accept 7 0", `"0" is not a port`},
		{"0 A accept 7 8 stream", `"stream" is none of echo, sink`},
		{"0 A connect 7", "connect: 1 arguments, want 2 to 7"},
		{"0 A connect 7 8888:1-9", "connect to 8888:1-9: to a range it is mcast"},
		{"0 A connect 7 8888:1 loud", `"loud" is none of low, medium, high, critical, stream, echo, sink, timeout:MILLISECONDS, DATA`},
		{"0 A connect 7 8888:1 word:x", `"word:x" is none of`},
		{"0 A connect 7 8888:1 timeout:-1", `"-1" is not a number of milliseconds`},
		{"0 A send 7", "send: 1 arguments, want 2 to 3"},
		{"0 A read 7 0", "not a number from 1"},
		{"0 A nodelay 7 no", `"no" is none of on, off`},
		{"0 A send 7 frame:9+1", "not a number from 1"},
		{"0 A send 7 frame:9+-1:1", "not a number from 0"},
		{"0 A send 7 frame:9+0:66001", "not a number from 1 to 66000"},
		{"0 A shutdown 7 8", "shutdown: 2 arguments, want 1 to 1"},
		{"0 A crash 7", "crash: 1 arguments, want 0 to 0"},
		{"0 A hidden 1001002", "not the address of a station"},
		{"0 A leaky 1", "leaky: 1 arguments, want 0 to 0"},
		{"0 A slow eth0", "slow: 1 arguments, want 2 to 2"},
		{"0 A slow eth0 -1", `"-1" is not a number of milliseconds, 0 to 10000`},
		{"0 A lost x", "not a number from 1"},
		{"0 A late 5", "late: 1 arguments, want 2 to 2"},
		{"0 A doubled 5 -1", `"-1" is not a number of milliseconds, 0 to 10000`},
		{"0 A ticks 5", `"5" is not a number of milliseconds, 0 to 4`},
		{"0 A join 7", "join: 1 arguments, want 2 to 4"},
		{"0 A join 7 500:1-9", "join: join to 500:1-9: to a range it is mcast"},
		{"0 A join 7 <1001002:9>", `"<1001002:9>" is not TYPE:INSTANCE`},
		{"0 A join 7 500:1 events", `"events" is none of loopback, busy:MILLISECONDS`},
		{"0 A join 7 500:1 busy:251", `"251" is not a number of milliseconds, 0 to 250`},
		{"0 A leave 7 8", "leave: 2 arguments, want 1 to 1"},
		{"0 A group-send 7 text:x", "group-send: 2 arguments, want 3 to 4"},
		{"0 A group-send 7 each text:x", `"each" is none of all, each INSTANCE, any INSTANCE, member <NODE:PORT>`},
		{"0 A group-send 7 any x text:x", `"x" is not a number from 0`},
		{"0 A group-send 7 member 500:1 text:x", `"500:1" is not <NODE:PORT>`},
		{"0 A set priority 1001002 32", "not a number from 1 to 31"},
	} {
		_, err := replay.ParseCalls(strings.NewReader("\n" + c.line + "\n"))
		if !errors.Is(err, replay.ErrCalls) || !strings.Contains(err.Error(), "line 2: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want ErrCalls, line 2, %q", c.line, err, c.want)
		}
	}
}

// Verbs of what is not built yet are refused by name, when they are this node's.
//
// Proves: replay.bytes
func TestCallsOfWhatIsNotBuilt(t *testing.T) {
	c, _ := read(t, "01-discovery-linkup")
	for _, verb := range []string{"cancel", "subscribe"} {
		calls, err := replay.ParseCalls(strings.NewReader(fmt.Sprintf("2 1001001 %s 7 8888:1", verb)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = replay.Replay(c, replay.Options{Node: "1001001", Calls: calls})
		if !errors.Is(err, replay.ErrNotBuilt) || !strings.Contains(err.Error(), fmt.Sprintf("%q, line 1", verb)) {
			t.Errorf("%s: got %v, want ErrNotBuilt with the verb and the line", verb, err)
		}
		if v, err := replay.Replay(c, replay.Options{Node: "1001002", Calls: calls}); err != nil || !v.OK() {
			t.Errorf("%s of another node: got %v, %v, want agreement", verb, v, err)
		}
	}
}

// A call that fails is a difference, which says so.
//
// Proves: replay.bytes
func TestCallsThatFail(t *testing.T) {
	c, _ := read(t, "01-discovery-linkup")
	for _, x := range []struct{ text, want string }{
		{"2 A close 7", "line 2 of the calls, close: port 7 is not open"},
		{"2 A open 7\n2 A open 7", "open: port 7 is open"},
		{"2 A open 7\n2 A bind 7 5:1-1", "reserved"},
		{"2 A open 7\n2 A unbind 7 500:1-1", "not bound"},
		{"2 A open 7\n2 A send 7 500:1 text:x", "no socket is bound to the service"},
		{"2 A open 7\n2 A send 7 <1001002:3> frame:1000", "frame 1000 has no message"},
		{"2 A open 7\n2 A send 7 <1001002:3> frame:12/1", "frame 12 is no bundle"},
		{"2 A set priority 1001003 4", "no link to the node is up"},
		{"2 A disable eth1", "bearer eth1 is not up"},
		{"2 A listen 7\n2 A connect 7 <1001002:9>", "connect: port 7 is open"},
		{"2 A listen 7\n2 A accept 7 8", "accept: no request waits at port 7"},
		{"2 A open 7\n2 A accept 7 8", "accept: port 7 does not listen"},
		{"2 A listen 7\n2 A accept 7 7", "accept: port 7 is open"},
		{"2 A open 7\n2 A read 7 8", "read: port 7 has no connection"},
		{"2 A open 7\n2 A send 7 text:x", "send: port 7 is no socket for that"},
		{"2 A listen 7\n2 A send 7 500:1 text:x", "send: port 7 is no socket for that"},
		{"2 A open 7\n2 A nodelay 7", "nodelay: port 7 has no connection"},
		{"2 A connect 7 <1001001:9>\n2 A send 7 frame:1+0:9", "from frame 1 on no connection sends 9 bytes"},
		{"2 A open 7\n2 A shutdown 7", "shutdown: it has no connection"},
		{"2 A connect 7 <1001001:9>\n2 A send 7 <1001002:9> text:x", "send: port 7 is no socket for that"},
		{"2 A connect 7 <1001001:9>\n2 A bind 7 500:1", "bind: port 7 can have no names"},
		{"2 A connect 7 500:1", "no socket is bound to the service"},
		{"2 A join 7 500:1\n2 A join 7 500:1", "join: port 7 is open"},
		{"2 A join 7 5:1", "reserved"},
		{"2 A open 7\n2 A leave 7", "leave: port 7 is in no group"},
		{"2 A open 7\n2 A group-send 7 all text:x", "group-send: port 7 is in no group"},
		{"2 A join 7 500:1\n2 A group-send 7 all text:x", "the group has no such member"},
		{"2 A join 7 500:1\n2 A send 7 text:x", "send: port 7 is no socket for that"},
		{"2 A join 7 500:1\n2 A bind 7 500:1", "bind: port 7 can have no names"},
	} {
		calls, err := replay.ParseCalls(strings.NewReader("0 A bearer eth0 52:54:61:4f:d8:00\n" + x.text))
		if err != nil {
			t.Fatal(err)
		}
		v, err := replay.Replay(c, replay.Options{Node: "A", Calls: calls})
		if err != nil || v.Diff == nil || !strings.Contains(v.Diff.Why, x.want) || v.Diff.At != 2*time.Second {
			t.Errorf("%q: got %v, %v, want a difference at 2 s: %q", x.text, v, err, x.want)
		}
	}
}

// A wrong configuration shows in the first frame.
//
// Proves: replay.bytes
func TestCallsConfigure(t *testing.T) {
	c, _ := read(t, "01-discovery-linkup")
	const bearer = "0 A bearer eth0 52:54:61:4f:d8:00\n"
	for _, x := range []struct {
		text string
		want bool
	}{
		{bearer, true},
		{bearer + "0 A address 1.1.1\n0 A netid 4711", true},
		{bearer + "0 A address 1.1.3", false},
		{bearer + "0 A netid 4712", false},
		{bearer + "0 A identity other", false},
		{"0 A bearer eth1 52:54:61:4f:d8:00", false},
		{"0 A bearer eth0 52:54:61:4f:d8:00 1496", false},
		{"0 A bearer eth0 52:54:61:4f:d8:00 9000", false},
	} {
		calls, err := replay.ParseCalls(strings.NewReader(x.text))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := replay.Replay(c, replay.Options{Node: "A", Calls: calls}); err != nil || v.OK() != x.want {
			t.Errorf("%q: got %v, %v, want agreement %v", x.text, v, err, x.want)
		}
	}
}

// Proves: replay.bytes
func FuzzParseCalls(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(captures, "*.calls"))
	if err != nil || len(files) == 0 {
		f.Fatalf("got %d lists of calls, %v", len(files), err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("1 A connect 7 8:9 text:x\n2 A send 7 text:y\n3 A read 7 1\n0 A listen 8 stream\n1 A accept 8 9 echo\n2 A crash\n0 A set priority 1.1.2 4\n# x")
	f.Add("1e-9 A send 1 1:1@1 hex:00\r\n0 A\x00 close 1")
	c, _ := read(f, "01-discovery-linkup")
	f.Fuzz(func(t *testing.T, text string) {
		calls, err := replay.ParseCalls(strings.NewReader(text))
		if err != nil {
			if !errors.Is(err, replay.ErrCalls) {
				t.Errorf("got %v, want ErrCalls", err)
			}
			return
		}
		for i, x := range calls {
			if i > 0 && x.At < calls[i-1].At || x.At < 0 {
				t.Errorf("call %d is at %v", i, x.At)
			}
			calls[i].Node = "1001001"
		}
		if len(calls) < 20 {
			replay.Replay(c, replay.Options{Node: "1001001", Calls: calls, Until: 20}) // must not panic
		}
	})
}
