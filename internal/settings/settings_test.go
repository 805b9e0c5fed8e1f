// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/printable"
)

const whole = `
[node]
address = "1.1.1"
netid = 4712 # another
wait = "spin"
tolerance = "200ms"
max_window = 100

[keys]
file = "/etc/utipc/keys"
rekey = "0s"

[[bearer]]
device = "eth1"
driver = "af_packet"
priority = 5

[[bearer]]
medium = "udp"
local = "10.0.0.1:6118"
remotes = ["10.0.0.2", "[fd00::1]:6118"]
mtu = 1472

[socket]
mode = "0600"

[access]
manage = ["joe", "@admins"]

[metrics]
listen = "127.0.0.1:0"
pprof = true
`

// Proves: daemon.settings
func TestWholeFile(t *testing.T) {
	s, err := Parse("f", []byte(whole), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Node.Address, want.Node.NetID, want.Node.Wait, want.Node.Tolerance, want.Node.MaxWindow = "1.1.1", 4712, "spin", Duration(200*time.Millisecond), 100
	want.Keys.File, want.Keys.Rekey = "/etc/utipc/keys", 0
	want.Bearers = []Bearer{
		{Medium: "eth", Device: "eth1", Driver: "af_packet", Priority: 5},
		{Medium: "udp", Name: "UDP1", Local: "10.0.0.1:6118", Remotes: []string{"10.0.0.2", "[fd00::1]:6118"}, MTU: 1472},
	}
	want.Socket.Mode, want.Access.Manage = 0o600, []string{"joe", "@admins"}
	want.Metrics = Metrics{Listen: "127.0.0.1:0", Pprof: true}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	if again, err := Parse("g", []byte(s.String()), nil); err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("%v\n%s\nreads back as %+v", err, s, again)
	}
}

// Every mistake is told with its file, line, key, and what is allowed.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{"[node]\nnetid = 10000", `^f:2: node.netid = 10000; allowed: 1 to 9999$`},
		{"[node]\nadress = \"1.1.1\"", `^f:2: node.adress is unknown \(did you mean address\?\); allowed: in \[node\] address, identity, netid, `},
		{"[nod]\n", `^f:1: nod is unknown \(did you mean node\?\); allowed: sections \[node\], \[keys\], .*\[\[bearer\]\]$`},
		{"x = 1", `^f:1: x is unknown; allowed: sections \[node\]`},
		{"[node]\nnetid = \"many\"", `^f:2: node.netid is of another type; allowed: 1 to 9999, written as netid = 4711$`},
		{"[node]\n\ntolerance = \"soon\"", `^f:3: node.tolerance is of another type; allowed: 50ms to 30s, written as tolerance = "1.5s"$`},
		{"[node]\ntolerance = \"1ms\"", `^f:2: node.tolerance = "1ms"; allowed: 50ms to 30s$`},
		{"[node]\naddress = \"zz\"", `^f:2: node.address = "zz"; allowed: 1\.1\.1, or hexadecimal`},
		{"[node]\nwait = \"dance\"", `^f:2: node.wait = "dance"; allowed: adaptive, sleep or spin$`},
		{"[node]\nwindow = 100\nmax_window = 50", `^f:3: node.max_window = 50; allowed: node.window, 100, and more`},
		{"[node]\ntolerAnce = \"1s\"", `^f:2: node.tolerAnce is unknown \(did you mean tolerance\?\); allowed: in \[node\] `},
		{"[node]\ntolerance = true", `^f:2: node.tolerance is of another type; `},
		{"[node]\ntolerance = \"never\"", `^f:2: node.tolerance is of another type; `},
		{"node = 1", `^f:1: node is of another type; allowed: \[node\] on a line of its own$`},
		{"bearer = [1]", `^f:1: bearer is of another type; allowed: \[\[bearer\]\] on`},
		{"[bearer]\ndevice = \"a\"", `^f:1: bearer is of another type; allowed: \[\[bearer\]\] on`},
		{"[access]\nuse = [1, \"a\"]", `^f:2: access.use is of another type; allowed: users`},
		{"[x]\ny = {z = 1}\n[node]\nnetid=0", `^f:1: x is unknown; allowed: sections .*$`},
		{"[node\n", `^f:1: .+`},
		{"[node]\nnetid = 1\nnetid = 2", `^f:3: .+`},
		{"[[bearer]]\nmedium = \"ib\"", `^f:2: bearer\[0\].medium = "ib"; allowed: eth or udp$`},
		{"[[bearer]]\n[[bearer]]\ndevice=\"a\"", `^f:1: bearer\[0\].device is missing; allowed: an interface's name`},
		{"[[bearer]]\nmedium=\"udp\"", `^f:1: bearer\[0\].local is missing`},
		{"[[bearer]]\nmedium=\"udp\"\nlocal=\"224.0.0.1\"", `^f:3: bearer\[0\].local = "224.0.0.1"; allowed: IP addresses`},
		{"[[bearer]]\nmedium=\"udp\"\nlocal=\"10.0.0.1\"\ndriver=\"auto\"", `^f:4: bearer\[0\].driver is not of bearers of medium udp; allowed: with medium eth alone$`},
		{"[[bearer]]\ndevice=\"a\"\nmtu=1000", `^f:3: bearer\[0\].mtu is not of bearers of medium eth`},
		{"[[bearer]]\ndevice=\"a\"\n[[bearer]]\ndevice=\"a\"", `^f:3: bearer\[1\] has the name of another, "a"`},
		{"bearer=[{device=\"a\"},{device=\"b\"},\n{device=\"c\"},\n{device=\"d\"}]", `^f:\d: bearer\[3\] is bearer 4; allowed: 3 of them$`},
		{"bearer=[{device=\"a\"},\n{device=\"b b\"}]", `^f:2: bearer\[1\].device = "b b"`},
		{"[[bearer]]\nmedium=\"udp\"\nlocal=\"10.0.0.1\"\nremotes=[\"10.0.0.2\", \"x\"]", `^f:4: bearer\[0\].remotes = \["10.0.0.2", "x"\]; allowed: IP addresses`},
		{"[socket]\nmode = \"0999\"", `^f:2: socket.mode is of another type; allowed: octal digits up to 0777, written as mode = "0660"`},
		{"[socket]\nmode = \"7777\"", `^f:2: socket.mode = "7777"; allowed: octal digits up to 0777$`},
		{"[socket]\npath = \"utipc.sock\"", `^f:2: socket.path = "utipc.sock"; allowed: an absolute path`},
		{"[access]\nuse = [\"a b\"]", `^f:2: access.use = \["a b"\]; allowed: users, after @ groups`},
		{"[metrics]\nlisten = \"0.0.0.0:9118\"", `^f:2: metrics.listen = "0.0.0.0:9118", which other hosts may reach; allowed: .* metrics.public = true$`},
		{"[metrics]\nlisten = \"9118\"", `^f:2: metrics.listen = "9118"; allowed: ADDRESS:PORT`},
		{"[metrics]\npprof = true", `^f:2: metrics.pprof = true without a port`},
		// Mutation it catches: check without this rule. Public or not, profiles stay on the host.
		{"[metrics]\nlisten = \"0.0.0.0:9118\"\npublic = true\npprof = true", `^f:4: metrics.pprof = true beside metrics.listen = "0.0.0.0:9118", which other hosts may reach; allowed: with an address of the loopback$`},
		{"[metrics]\nlisten = \"[::]:9118\"\npublic = true\npprof = true", `^f:4: metrics.pprof = true beside`},
		// Mutations these catch: checkTCP without a rule of its; a prefix of IPv6, of no bits, or that has bits behind it, is a network.
		{"[tcp]\nprefix = \"10.99.0.0/16\"", `^f:\d: tcp.ip = "" beside tcp.prefix = "10.99.0.0/16"; allowed: both, or none$`},
		{"[tcp]\nip = \"10.99.0.1\"", `^f:2: tcp.ip = "10.99.0.1" beside tcp.prefix = ""; allowed: both, or none$`},
		{"[tcp]\nprefix = \"10.99.0.0/16\"\nip = \"10.98.0.1\"", `^f:3: tcp.ip = "10.98.0.1"; allowed: one of tcp.prefix, 10.99.0.0/16$`},
		{"[tcp]\nprefix = \"10.99.0.1/16\"\nip = \"10.99.0.1\"", `^f:2: tcp.prefix = "10.99.0.1/16"; allowed: a network of IPv4, as 10.99.0.0/16; `},
		{"[tcp]\nprefix = \"fd00::/16\"\nip = \"10.99.0.1\"", `^f:2: tcp.prefix = "fd00::/16"; allowed: a network of IPv4`},
		{"[tcp]\nprefix = \"0.0.0.0/0\"\nip = \"10.99.0.1\"", `^f:2: tcp.prefix = "0.0.0.0/0"; allowed: a network of IPv4`},
		{"[tcp]\nprefix = \"fd00::/16\"\nip = \"fd00::1\"", `f:3: tcp.ip = "fd00::1"; allowed: an address of IPv4; `},
		{"[limits.user]\nnames = 0", `^f:2: limits.user.names = 0; allowed: 1 to`},
		{"[limits]\nuser = {names = 0}", `^f:2: limits.user.names = 0; allowed: 1 to`},
		{"[limits]\nuser.names = 0", `^f:2: limits.user.names = 0; allowed: 1 to`},
		{"[limits]\nnames = 7", `^f:2: limits.names is unknown; allowed: in \[limits\] records$`},
		{"[limits.people]\nnames = 7", `^f:1: limits.people is unknown; allowed: .*`},
		{"[log]\nlevel = \"loud\"\nformat = \"xml\"", `^f:2: log.level = "loud"; allowed: debug, info, warn or error\nf:3: log.format = "xml"; allowed: text or json$`},
	} {
		_, err := Parse("f", []byte(c.doc), nil)
		var p *Problem
		if err == nil || !errors.As(err, &p) || !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%q: %v\nwant %s", c.doc, err, c.want)
		}
	}
}

func over(t *testing.T, args ...string) *Flags {
	t.Helper()
	var o Flags
	set := cmdline.NewFlags("")
	o.Register(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &o
}

// Proves: daemon.settings
func TestFlagsGoOverTheFile(t *testing.T) {
	s, err := Parse("f", []byte(whole), over(t, "--netid", "7", "--wait=sleep", "--name-park", "0", "--pprof=false", "--migrate", "--access-keys", "a,@b",
		"--socket-mode", "0666", "--udp", "10.0.0.9,239.1.2.3", "--bearer", "medium eth device eth7 tolerance 100ms"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Node.NetID != 7 || s.Node.Wait != "sleep" || s.Node.NamePark != 0 || s.Metrics.Pprof || !s.Keys.Migrate || s.Node.Address != "1.1.1" ||
		!reflect.DeepEqual(s.Access.Keys, []string{"a", "@b"}) || s.Socket.Mode != 0o666 {
		t.Errorf("got %+v", s)
	}
	want := []Bearer{{Medium: "udp", Name: "UDP1", Local: "10.0.0.9", Multicast: "239.1.2.3"}, {Medium: "eth", Device: "eth7", Tolerance: Duration(100 * time.Millisecond)}}
	if !reflect.DeepEqual(s.Bearers, want) {
		t.Errorf("got %+v, want %+v", s.Bearers, want)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--netid", "x"}, `^--netid: node.netid = "x"; allowed: 1 to 9999$`},
		{[]string{"--netid", "0"}, `^--netid: node.netid = 0; allowed: 1 to 9999$`},
		{[]string{"--if", "a b"}, `^--if: bearer\[0\].device = "a b"; allowed: `},
		{[]string{"--bearer", "medium eth device"}, `^--bearer: "medium eth device" is not pairs`},
		{[]string{"--bearer", "medium eth devise a"}, `^--bearer: bearer\[0\].devise is unknown \(did you mean device\?\); allowed: in \[bearer\] medium, device`},
		{[]string{"--bearer", "medium eth device a priority high"}, `^--bearer: bearer\[0\].priority = "high"; allowed: 1 to 31`},
		{[]string{"--bearer", "medium eth"}, `^--bearer: bearer\[0\].device is missing`},
	} {
		if _, err := Parse("f", nil, over(t, c.args...)); err == nil || !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "utipc.toml")
	if _, err := Load(file, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	os.WriteFile(file, []byte(strings.Repeat("#", MaxFile+1)), 0o600)
	if _, err := Load(file, nil); err == nil || !strings.Contains(err.Error(), "longer") {
		t.Errorf("a long file: %v", err)
	}
	os.WriteFile(file, []byte("[node]\nnetid = 0"), 0o600)
	if _, err := Load(file, nil); err == nil || !strings.HasPrefix(err.Error(), file+":2: ") {
		t.Errorf("a wrong file: %v", err)
	}
	if s, err := Load("", nil); err != nil || !reflect.DeepEqual(s, Default()) {
		t.Errorf("no file: %v, %v", s, err)
	}
}

// A key in quotes may hold anything, and begins no line of its own.
//
// Mutations it catches: Problem's text without Printable, of the key or of what is wrong.
func TestProblemsArePrintable(t *testing.T) {
	for _, doc := range []string{
		"\"x\\nf:1: forged\u202e\" = 1", "[node]\n\"x\\nforged\" = 1", "[\"x\\nforged\"]\n", "[node]\naddress = \"a\\n\u009b\"",
		"[node]\n\"a\\nb\" = 1\n\"a\\nb\" = 1",
	} {
		_, err := Parse("f", []byte(doc), nil)
		if err == nil {
			t.Errorf("%q: no error", doc)
			continue
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !strings.HasPrefix(line, "f:") || strings.HasPrefix(line, "f:1: forged") || line != printable.Text(line) {
				t.Errorf("%q: got the line %q", doc, line)
			}
		}
	}
	if p := (&Problem{Where: "f:1", What: "what a parser\nsays"}); p.Error() != printable.Text(p.Error()) {
		t.Errorf("got %q", p.Error())
	}
}

// The example is a file, and says what holds without it; so does what is uncommented.
//
// Proves: daemon.settings
func TestExample(t *testing.T) {
	s, err := Parse("example", []byte(Example()), nil)
	if err != nil || !reflect.DeepEqual(s, Default()) {
		t.Errorf("%v, %+v", err, s)
	}
	set := regexp.MustCompile(`(?m)^#(\w+ = )`).ReplaceAllString(Example(), "$1")
	set = set[:strings.Index(set, "#[[bearer]]")]
	if s, err = Parse("example", []byte(set), nil); err != nil || !reflect.DeepEqual(s, Default()) {
		t.Errorf("%v, %+v\n%s", err, s, set)
	}
}

// Every setting has words for people, a flag of its own, and a rule.
//
// Proves: daemon.settings
func TestTable(t *testing.T) {
	flags := map[string]bool{}
	for _, s := range Table() {
		if s.Doc == "" || s.Allowed == "" {
			t.Errorf("%s is not described", s.Key)
		}
		if !strings.HasPrefix(s.Key, "bearer.") && (s.Flag == "" || flags[s.Flag]) {
			t.Errorf("%s has the flag %q", s.Key, s.Flag)
		}
		flags[s.Flag] = true
	}
	if len(flags) < 30 {
		t.Errorf("only %d flags", len(flags))
	}
}

func TestChanged(t *testing.T) {
	a := Default()
	b := a
	b.Node.NetID, b.Log.Level, b.Bearers = 1, "debug", []Bearer{{Medium: "eth", Device: "a"}}
	got := Changed(a, b)
	if !reflect.DeepEqual(got, []string{"node.netid", "log.level", "bearer"}) {
		t.Errorf("got %q", got)
	}
	for i, live := range []bool{false, true, true} {
		if Live(got[i]) != live {
			t.Errorf("%s is live: %v", got[i], !live)
		}
	}
}

// Whatever stands in a file, it is read or refused with problems that have a place; what
// is read reads back.
//
// Proves: daemon.settings
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(Example()))
	f.Add([]byte("bearer=[{device=\"a\"},\n{device=\"b\"}]\nnode={netid=1}"))
	f.Add([]byte("[node]\nnetid = 1\n[node]"))
	f.Add([]byte("[[bearer]]\n[bearer.x]\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		s, err := Parse("f", doc, nil)
		if err != nil {
			var p *Problem
			if !errors.As(err, &p) || p.Where == "" {
				t.Fatalf("%q: %v", doc, err)
			}
			return
		}
		if again, err := Parse("g", []byte(s.String()), nil); err != nil || again.String() != s.String() {
			t.Fatalf("%q: %v\n%s\n%s", doc, err, s, again)
		}
	})
}
