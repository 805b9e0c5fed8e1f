// SPDX-License-Identifier: Apache-2.0

package tipcshow_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/monitor"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

const own stack.NodeAddr = 0x1001001

// text is what print writes.
func text(print func(w io.Writer)) string {
	var b bytes.Buffer
	print(&b)
	return b.String()
}

// oneLine is v as JSON, which must be valid.
func oneLine(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	if err := tipcshow.WriteJSON(&b, v, false); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Errorf("%s is no JSON", b.String())
	}
	return b.String()
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

func identity(s string) stack.Identity {
	id, err := stack.ParseIdentity(s)
	if err != nil {
		panic(err)
	}
	return id
}

var (
	ownID = frame.AddrIdentity(own)
	nodeD = admin.Peer{Node: 0x2a6f6465, Identity: identity("nodeD"), Up: true}
	peers = []admin.Peer{nodeD, {Node: 0x1001002, Identity: frame.AddrIdentity(0x1001002), Up: true}, {Node: 0x1001003, Identity: frame.AddrIdentity(0x1001003)}}
)

func binding(typ, lower, upper uint32, s stack.Scope, port uint32, n stack.NodeAddr) stack.Binding {
	return stack.Binding{Range: stack.Range{Type: typ, Lower: lower, Upper: upper}, Scope: s, Socket: stack.SocketAddr{Node: n, Port: port}}
}

// The sample of docs/spec/10-management.md §3.
//
// Proves: tools.tipc
func TestNameTable(t *testing.T) {
	names := []stack.Binding{
		binding(0, 16781313, 16781313, stack.ClusterScope, 0, own),
		binding(0, 711943269, 711943269, stack.ClusterScope, 0, nodeD.Node),
		binding(1, 1, 1, stack.NodeScope, 3398445946, own),
		binding(70, 4, 6, stack.ClusterScope, 1274940405, own),
		binding(9100, 1, 1, stack.ClusterScope, 3968868251, own),
		binding(18888, 20, 29, stack.NodeScope, 3865663524, own),
		binding(18888, 17, 17, stack.ClusterScope, 3865663524, 0x1001009),
	}
	of := tipcshow.Names(own, ownID, peers)
	same(t, "text", text(func(w io.Writer) { tipcshow.NameTable(w, names, of) }),
		`Type       Lower      Upper      Scope    Port       Node                             
0          16781313   16781313   cluster  0          1001001
0          711943269  711943269  cluster  0          nodeD
1          1          1          node     3398445946 1001001
70         4          6          cluster  1274940405 1001001
18888      17         17         cluster  3865663524 1001009
18888      20         29         node     3865663524 1001001
9100       1          1          cluster  3968868251 1001001
`)
	same(t, "JSON", oneLine(t, tipcshow.NameTableJSON(names[:2], of)),
		`[{"type":0,"lower":16781313,"upper":16781313,"scope":"cluster","port":0,"node":"1001001"},`+
			`{"type":0,"lower":711943269,"upper":711943269,"scope":"cluster","port":0,"node":"nodeD"}]`+"\n")
}

// Proves: tools.tipc
func TestNodes(t *testing.T) {
	same(t, "text", text(func(w io.Writer) { tipcshow.Nodes(w, peers) }),
		`Node Identity                    Hash     State
1001002                          01001002 up
1001003                          01001003 down
nodeD                            2a6f6465 up
`)
	same(t, "JSON", oneLine(t, tipcshow.NodesJSON(peers[:1])), `[{"identity":"nodeD","hash":"2a6f6465","state":"up","version":0}]`+"\n")
	same(t, "identity", text(func(w io.Writer) { tipcshow.Identity(w, nodeD.Identity, nodeD.Node) }),
		`Node Identity                    Hash
nodeD                            2a6f6465
`)
	same(t, "identity of none", text(func(w io.Writer) { tipcshow.Identity(w, stack.Identity{}, 0) }),
		`Node Identity                    Hash
                                 00000000
`)
}

// Proves: tools.tipc
func TestSockets(t *testing.T) {
	at := func(port uint32) stack.SocketAddr { return stack.SocketAddr{Node: own, Port: port} }
	sockets := []admin.Socket{
		{Addr: at(3294120309), Network: "tipcrdm"},
		{Addr: at(279341669), Kind: admin.ConnectedSocket, Peer: stack.SocketAddr{Node: 0x1001002, Port: 300195701}, Service: stack.Service{Type: 9190, Instance: 1}},
		{Addr: at(1804621048), Kind: admin.ConnectedSocket, Peer: stack.SocketAddr{Node: 0x1001002, Port: 3059556951}},
		{Addr: at(3865663524), Bindings: []stack.Binding{
			binding(18888, 17, 17, stack.ClusterScope, 3865663524, own), binding(18888, 20, 29, stack.NodeScope, 3865663524, own),
		}},
	}
	same(t, "text", text(func(w io.Writer) { tipcshow.Sockets(w, sockets, nil) }), `socket 3294120309
socket 279341669
  connected to 1001002:300195701 via {9190,1}
socket 1804621048
  connected to 1001002:3059556951
socket 3865663524
  bound to {18888,20,29}
  bound to {18888,17,17}
`)
	if got := oneLine(t, tipcshow.SocketsJSON(sockets, nil)); !strings.Contains(got, `"connected":{"node":"1001002","port":300195701,"via":{"type":9190,"instance":1}}`) ||
		!strings.Contains(got, `{"socket":3294120309,"network":"tipcrdm"`) || !strings.Contains(got, `"bound":[{"type":18888,"lower":20,"upper":29,"scope":"node"},{`) {
		t.Errorf("JSON: got %s", got)
	}
}

// Mutations: BearerStates leaves out the driver, or its reason; BearersJSON does.
//
// Proves: tools.tipc
func TestBearerStates(t *testing.T) {
	all := []admin.BearerStatus{
		{Name: "eth0", Medium: "eth", MTU: 1500, BearerState: admin.BearerState{State: "up", Changes: 2}, Driver: "af_packet", DriverReason: "others use the interface"},
		{Name: "eth1", Medium: "eth", BearerState: admin.BearerState{State: "waiting", Reason: "interface eth1 is down", Changes: 1}},
	}
	same(t, "text", text(func(w io.Writer) { tipcshow.BearerStates(w, all) }),
		`BEARER               STATE       MTU CHANGES SINCE                DRIVER         REASON
eth:eth0             up         1500       2 -                    af_packet      -; driver: others use the interface
eth:eth1             waiting       0       1 -                    -              interface eth1 is down
`)
	if got := oneLine(t, tipcshow.BearersJSON(all)); strings.Count(got, `"driver":"af_packet","driver_reason":"others use the interface"`) != 1 || strings.Count(got, "driver") != 2 {
		t.Errorf("JSON: got %s", got)
	}
}

func links() []tipcshow.LinkRow {
	l := admin.Link{
		Peer: 0x1001002, Identity: frame.AddrIdentity(0x1001002), Bearer: "eth0", Name: "1001001:eth0-1001002:eth0",
		Up: true, Active: true, MTU: 1500, Priority: 10, Tolerance: 1500 * time.Millisecond,
		Statistics: flowctl.Statistics{
			Counters: flowctl.Counters{
				RecvPackets: 235, RecvBundles: 2, RecvBundled: 33, SentPackets: 2600, SentFragments: 712, SentFragmented: 20,
				SentBundles: 32, SentBundled: 998, RecvStates: 2383, RecvProbes: 1081, SentStates: 2237, SentProbes: 1073, SentAcks: 9, Congested: 2,
			},
			Profile: flowctl.Profile{LengthSum: 26 * 2580, Lengths: [7]uint64{24, 1, 0, 0, 0, 0, 1}},
			Window:  50,
		},
	}
	return tipcshow.LinkRows([]admin.Link{l, {Peer: 0x1001003, Bearer: "eth0"}, {Peer: nodeD.Node, Identity: nodeD.Identity, Bearer: "eth0"}}, ownID, own)
}

// Proves: tools.tipc
func TestLinks(t *testing.T) {
	all := links()
	same(t, "text", text(func(w io.Writer) { tipcshow.Links(w, all) }), `broadcast-link: up
1001001:eth0-1001002:eth0: up
1001001:eth0-1001003:unknown: down
1001001:eth0-nodeD:unknown: down
`)
	same(t, "JSON", oneLine(t, tipcshow.LinksJSON(all[:2])), `[{"broadcast-link":"up","1001001:eth0-1001002:eth0":"up","1001001:eth0-1001003:unknown":"down"}]`+"\n")
}

// The first lines are those of docs/spec/10-management.md §3; ours stand below.
//
// Proves: tools.tipc
func TestStatistics(t *testing.T) {
	all := links()
	got := text(func(w io.Writer) { tipcshow.Statistics(w, &all[0]) })
	want := `Link <1001001:eth0-1001002:eth0>
  ACTIVE  MTU:1500  Priority:10  Tolerance:1500 ms  Window:50 packets
  RX packets:235 fragments:0/0 bundles:2/33
  TX packets:2600 fragments:712/20 bundles:32/998
  TX profile sample:26 packets average:2580 octets
  0-64:92% -256:4% -1024:0% -4096:0% -16384:0% -32768:0% -66000:4%
  RX states:2383 probes:1081 naks:0 defs:0 dups:0
  TX states:2237 probes:1073 naks:0 acks:9 retrans:0
  Congestion link:2  Send queue max:0 avg:0
  Window now:`
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\n\n") {
		t.Errorf("got\n%s\nwant\n%s…, and an empty line", got, want)
	}
	if got := text(func(w io.Writer) { tipcshow.Statistics(w, &all[1]) }); !strings.Contains(got, "Link <1001001:eth0-1001003:unknown>\n  DEFUNCT  MTU:0") {
		t.Errorf("down: got\n%s", got)
	}
	want = `{"link":"1001001:eth0-1001002:eth0","state":["ACTIVE"],"mtu":1500,"priority":10,"tolerance":1500,"window":50,` +
		`"rx packets":{"rx packets":235,"fragments":0,"fragmented":0,"bundles":2,"bundled":33},` +
		`"tx packets":{"tx packets":2600,"fragments":712,"fragmented":20,"bundles":32,"bundled":998},` +
		`"tx profile sample":26,"packets average":2580,"0-64":92,"-256":4,"-1024":0,"-4096":0,"-16384":0,"-32768":0,"-66000":4,` +
		`"rx states":{"rx states":2383,"probes":1081,"naks":0,"defs":0,"dups":0},` +
		`"tx states":{"tx states":2237,"probes":1073,"naks":0,"acks":9,"retrans":0},"congestion link":2,"send queue max":0,"avg":0,"utipc":{`
	if got := oneLine(t, tipcshow.StatisticsJSON(&all[0])); !strings.HasPrefix(got, want) {
		t.Errorf("JSON: got\n%s\nwant\n%s…", got, want)
	}
}

// Proves: tools.tipc
func TestBroadcastStatistics(t *testing.T) {
	var l admin.BroadcastLink
	l.Window, l.SentPackets, l.SentBundles, l.SentBundled, l.RecvNacks, l.Retransmits, l.Congested = 50, 467, 45, 1131, 1, 13, 1
	want := `Link <broadcast-link>
  Window:50 packets
  RX packets:0 fragments:0/0 bundles:0/0
  TX packets:467 fragments:0/0 bundles:45/1131
  RX naks:1 defs:0 dups:0
  TX naks:0 acks:0 retrans:13
  Congestion link:1  Send queue max:0 avg:0
`
	if got := text(func(w io.Writer) { tipcshow.BroadcastStatistics(w, l) }); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\n\n") {
		t.Errorf("got\n%s\nwant\n%s…", got, want)
	}
	want = `{"link":"broadcast-link","window":50,"rx packets":{"rx packets":0,"fragments":0,"fragmented":0,"bundles":0,"bundled":0},` +
		`"tx packets":{"tx packets":467,"fragments":0,"fragmented":0,"bundles":45,"bundled":1131},"rx naks":{"rx naks":1,"defs":0,"dups":0},` +
		`"tx naks":{"tx naks":0,"acks":0,"retrans":13},"congestion link":1,"send queue max":0,"avg":0,"utipc":{`
	if got := oneLine(t, tipcshow.BroadcastStatisticsJSON(l)); !strings.HasPrefix(got, want) {
		t.Errorf("JSON: got\n%s\nwant\n%s…", got, want)
	}
	r := tipcshow.CastRow{Name: "broadcast-link:1001002", Window: 50, Received: 62, Deferred: 3}
	same(t, "received", text(func(w io.Writer) { tipcshow.ReceiveStatistics(w, &r) }), `Link <broadcast-link:1001002>
  Window:50 packets
  RX packets:62 fragments:0/0 bundles:0/0
  TX packets:0 fragments:0/0 bundles:0/0
  RX naks:0 defs:3 dups:0
  TX naks:0 acks:0 retrans:0
  Congestion link:0  Send queue max:0 avg:0

`)
	if got := oneLine(t, tipcshow.ReceiveStatisticsJSON(&r)); !strings.Contains(got, `"rx packets":{"rx packets":62,`) || strings.Contains(got, "utipc") {
		t.Errorf("JSON: got %s", got)
	}
}

// Proves: tools.tipc
func TestMonitor(t *testing.T) {
	all := []admin.Monitor{{Bearer: "eth:eth0", Status: monitor.Status{Generation: 5, Size: 2, Threshold: 32}, Members: []monitor.Row{
		{Node: own, Up: true, Direct: true, Generation: 3, Applied: []monitor.Member{{Node: 0x1001002, Up: true}}, Rest: []monitor.Member{{Node: 0x1001007}}},
		{Node: 0x1001002, Up: true, Direct: true},
	}}}
	same(t, "list", text(func(w io.Writer) { tipcshow.MonitorList(w, all) }), `
bearer eth:eth0
node          status monitored generation applied_node_status [non_applied_node:status]
1.1.1         up     direct    3          U [1001007:D]
1.1.2         up     direct    0          
`)
	same(t, "list as JSON", oneLine(t, tipcshow.MonitorListJSON(all)),
		`[{"bearer":"eth:eth0","eth:eth0":[{"node":"1.1.1","status":"up","monitored":"direct","generation":3,"applied_node_status":["U"],`+
			`"[non_applied_node:status]":["1001007:D"]},{"node":"1.1.2","status":"up","monitored":"direct","generation":0}]}]`+"\n")
	same(t, "summary", text(func(w io.Writer) { tipcshow.MonitorSummary(w, all) }), `
bearer eth:eth0
    table_generation 5
    cluster_size 2
    algorithm full-mesh
`)
	same(t, "summary as JSON", oneLine(t, tipcshow.MonitorSummaryJSON(all)),
		`[{"bearer":"eth:eth0","table_generation":5,"cluster_size":2,"algorithm":"full-mesh"}]`+"\n")
}
