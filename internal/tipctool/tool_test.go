// SPDX-License-Identifier: Apache-2.0

package tipctool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/internal/tipctool"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

const timeout = 2 * time.Minute

// tolerance is that of links: this process may stand still for seconds where others want the
// machine too.
const tolerance = 20 * time.Second

// open opens a node on a hub.
func open(t *testing.T, h *hub.Hub, iface string, number byte) *stack.Node {
	t.Helper()
	port, err := h.Port(iface, frame.MAC{2, 0, 0, 0, 0, number})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(t.Context(), stack.Config{Bearers: []stack.Bearer{port}, Address: 0x1001000 + stack.NodeAddr(number), Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(context.Background()) })
	return n
}

// do has a tool carry out a command on a node; -j is the one option.
func do(t *testing.T, n *stack.Node, in, command string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	tool := tipctool.Tool{Name: "utipc", In: strings.NewReader(in), Out: &o, Err: &e, Node: func(context.Context) (*stack.Node, error) {
		if n == nil {
			return nil, errors.New("no node is needed for this")
		}
		return n, nil
	}}
	words := strings.Fields(command)
	if words[0] == "-j" {
		tool.JSON, words = true, words[1:]
	}
	if words[len(words)-1] == "-h" {
		tool.Help, words = true, words[:len(words)-1]
	}
	status = tool.Run(t.Context(), words)
	return o.String(), e.String(), status
}

// A peer's interface may be called anything. What is printed of it is one line of
// printable characters; as JSON it is valid; and the link can be named by it.
//
// Proves: hostile.docs
func TestHostileName(t *testing.T) {
	h := hub.New(hub.Config{})
	n, peer := open(t, h, "eth0", 1), open(t, h, "e\x1b[2J\"\n%s\x7f", 2)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := n.WaitFor(ctx, stack.Service{Type: stack.NodeState, Instance: uint32(peer.Addr())}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"link list", "link statistics show link all", "link monitor list", "node list", "nametable show", "bearer list", "socket list"} {
		out, errs, status := do(t, n, "", c)
		if status != tipctool.Done || errs != "" || out == "" {
			t.Errorf("%s: status %d, %q, %q", c, status, out, errs)
		}
		if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~' && r != 'µ') }); i >= 0 {
			t.Errorf("%s: %q at %d of %q", c, out[i:i+1], i, out)
		}
		if out, _, _ := do(t, n, "", "-j "+c); !json.Valid([]byte(out)) {
			t.Errorf("%s: %s is no JSON", c, out)
		}
	}
	if name := must.Get(n.Admin().Links(context.Background()))[0].Name; !strings.Contains(name, "[2J") {
		t.Errorf("the link is called %q: this tests nothing", name)
	}
	if out, _, _ := do(t, n, "", "link list"); strings.Count(out, "\n") != 2 {
		t.Errorf("got %q, want two lines", out)
	}
}

// Every command that shows something has JSON, text on one output alone, and a usage.
//
// Proves: tools.tipc
func TestEveryCommand(t *testing.T) {
	n := open(t, hub.New(hub.Config{}), "eth0", 1)
	fill := strings.NewReplacer("media MEDIA", "media eth", "{device DEV|name NAME}", "device eth0", "link LINK", "link broadcast-link", "[", "", "]", "")
	for _, noun := range tipctool.Nouns() {
		for _, form := range tipctool.Words(noun) {
			out, errs, status := do(t, nil, "", noun+" "+strings.Split(form, " [")[0]+" -h")
			if status != tipctool.Done || errs != "" || !strings.HasPrefix(out, "Usage: utipc [-j [-p]] "+noun) {
				t.Errorf("%s %s -h: status %d, %q, %q", noun, form, status, out, errs)
			}
			if !strings.Contains(form, "list") && !strings.Contains(form, "show") && !strings.Contains(form, "get") && !strings.Contains(form, "summary") ||
				strings.Contains(form, "mtu") || strings.Contains(form, "udp") || noun == "link" && (strings.HasPrefix(form, "get priority") || strings.HasPrefix(form, "get tolerance")) {
				continue
			}
			command := noun + " " + fill.Replace(strings.Split(form, " [")[0])
			if out, errs, status := do(t, n, "", command); status != tipctool.Done || errs != "" || out == "" {
				t.Errorf("%s: status %d, %q, %q", command, status, out, errs)
			}
			if out, errs, status := do(t, n, "", "-j "+command); status != tipctool.Done || errs != "" || !json.Valid([]byte(out)) || strings.Count(out, "\n") != 1 {
				t.Errorf("-j %s: status %d, %q, %q", command, status, out, errs)
			}
		}
	}
}

// What is wrong with the words is told without a node.
//
// Proves: tools.tipc
func TestWrongWords(t *testing.T) {
	for command, want := range map[string]string{
		"link foo":                         "error, invalid command \"foo\"\nuse --help for command help\n",
		"l s":                              "error, invalid command \"s\"\nuse --help for command help\n",
		"bearer enable media foo":          "error, invalid media type foo\n",
		"bearer set priority x media eth":  "error, invalid value \"x\"\n",
		"bearer set priority -1 media eth": "kernel answers: Invalid argument\n",
		"peer remove identity foo!":        "Invalid node identity\n",
		"node set key " + strings.Repeat("x", 19): "warning, everybody on the host can see a key among the arguments; keyfile FILE and - keep it to themselves\n" +
			"Error: incorrect key length (20, 28 or 36 octets?).\nkernel answers: Key was rejected by service\n",
		"node set key - algname foo": "Error: unable to load the algorithm (module existed?).\nkernel answers: No such device\n",
		"link list":                  "error, no node is needed for this\n",
	} {
		out, errs, status := do(t, nil, "", command)
		if out != "" || errs != want || status != tipctool.Failed {
			t.Errorf("%s: got status %d, %q, %q, want %q", command, status, out, errs, want)
		}
	}
}

// Keys come from an argument, a file, or the standard input, and are never printed.
//
// Proves: keys.tools
func TestKeys(t *testing.T) {
	const key = "this_is_a_key16_salt"
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, in, warning string }{
		{"node set key " + key, "", "among the arguments"},
		{"node set key - master", key + "\r\n", ""},
		{"node set key keyfile " + file, "", ""},
		{"node set key keyfile - algname gcm(aes) nodeid 1001002", key, ""},
	} {
		n := open(t, hub.New(hub.Config{}), "eth0", 1)
		out, errs, status := do(t, n, c.in, c.command)
		if status != tipctool.Done || out != "" || strings.Contains(errs, key) || !strings.Contains(errs, c.warning) || c.warning == "" && errs != "" {
			t.Errorf("%s: status %d, %q, %q", c.command, status, out, errs)
		}
		if e := must.Get(n.Admin().Encryption(context.Background())); reflect.ValueOf(e.Slots).IsZero() && len(e.Given) == 0 {
			t.Errorf("%s: no key is set", c.command)
		}
		if out, errs, status := do(t, n, "", "node flush key"); status != tipctool.Done || out+errs != "" || !reflect.ValueOf(must.Get(n.Admin().Encryption(context.Background())).Slots).IsZero() {
			t.Errorf("flush: status %d, %q, %q", status, out, errs)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	n := open(t, hub.New(hub.Config{}), "eth0", 1)
	if _, errs, _ := do(t, n, "", "node set key keyfile "+file); !strings.Contains(errs, "others may read") {
		t.Errorf("a file that others may read: got %q", errs)
	}
	if _, errs, status := do(t, n, strings.Repeat("k", 1<<20), "node set key -"); status != tipctool.Failed || !strings.Contains(errs, "incorrect key length") {
		t.Errorf("a megabyte: status %d, %q", status, errs)
	}
}

// No words of a command can do worse than be refused.
func FuzzWords(f *testing.F) {
	f.Add("link set priority 12 link broadcast-link")
	f.Add("bearer enable media udp name U localip ::1%lo localport 99999 remoteip x")
	f.Add("node set key rekeying 99999999999999999999")
	f.Add("bearer get media udp name")
	f.Add("link monitor list media media media")
	f.Fuzz(func(t *testing.T, command string) {
		words := strings.Fields(command)
		tool := tipctool.Tool{
			Name: "utipc", In: strings.NewReader(""), Out: new(bytes.Buffer), Err: new(bytes.Buffer),
			Node: func(context.Context) (*stack.Node, error) { return nil, context.Canceled },
		}
		for _, w := range words {
			if strings.HasPrefix("keyfile", w) || w == "keyfile" {
				return // it would open files
			}
		}
		if status := tool.Run(t.Context(), words); status != tipctool.Failed {
			t.Errorf("%q: status %d without a node", command, status)
		}
	})
}
