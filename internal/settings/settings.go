// SPDX-License-Identifier: Apache-2.0

package settings

import "time"

// Settings are all there is to set. The tags of a field:
//
//	toml   the key within its section
//	flag   the flag that sets it, where it is not section-key; - for none
//	range  least-most that a number or a duration may be
//	one    the words that are allowed, separated by |
//	kind   what a text is; see kinds
//	zero   what zero, or nothing, means; it is allowed then
//	live   "yes": a reload applies it
//	doc    what it does
//
// The file spec of bearers is Bearer.
type Settings struct {
	Node    Node     `toml:"node"`
	Keys    Keys     `toml:"keys"`
	Bearers []Bearer `toml:"bearer"`
	Socket  Socket   `toml:"socket"`
	Access  Access   `toml:"access"`
	Limits  Limits   `toml:"limits"`
	Log     Log      `toml:"log"`
	Metrics Metrics  `toml:"metrics"`
	TCP     TCP      `toml:"tcp"`
}

// Node is what the node is.
type Node struct {
	Address          string   `toml:"address" flag:"address" kind:"address" zero:"from the identity, tried on the network for a second" doc:"the node's address"`
	Identity         string   `toml:"identity" flag:"identity" kind:"identity" zero:"from the address, else from the first bearer" doc:"the node's identity"`
	NetID            int      `toml:"netid" flag:"netid" range:"1-9999" doc:"the cluster's number"`
	Wait             string   `toml:"wait" flag:"wait" one:"adaptive|sleep|spin" doc:"what the node does while nothing comes: spins as long as it pays, never spins, or owns a core"`
	Tolerance        Duration `toml:"tolerance" flag:"tolerance" range:"50ms-30s" doc:"of links: how long a peer may be silent"`
	Priority         int      `toml:"priority" flag:"priority" range:"1-31" doc:"of links: of two to one node the higher carries all"`
	Window           int      `toml:"window" flag:"window" range:"1-8191" doc:"of links: packets sent and not acknowledged"`
	MaxWindow        int      `toml:"max_window" flag:"max-window" range:"1-8191" zero:"the window" doc:"of links: if more than the window, it moves between the two"`
	MonitorThreshold int      `toml:"monitor_threshold" flag:"monitor-threshold" range:"1-4095" doc:"nodes on a bearer up to which every one supervises every other"`
	NameWait         Duration `toml:"name_wait" flag:"name-wait" range:"1ms-1h" zero:"not at all" doc:"how long a send waits for a name that nobody has bound"`
	NamePark         Duration `toml:"name_park" flag:"name-park" range:"1ms-1m" zero:"not at all" doc:"how long a message from another node waits for a name that nobody has bound"`
	Chunks           int      `toml:"chunks" flag:"chunks" range:"64-1048576" doc:"memory for frames, in chunks of 4 KiB"`
	MTU              int      `toml:"mtu" flag:"mtu" range:"100-65535" zero:"of the bearers at the start" doc:"the longest frames there is to be memory for, in bytes, for bearers that come later"`
	Bundles          bool     `toml:"bundles" flag:"bundles" doc:"whether messages that wait share a frame"`
	StopTimeout      Duration `toml:"stop_timeout" flag:"stop-timeout" range:"0s-5m" live:"yes" doc:"how long a stop waits for other nodes to acknowledge"`
}

// Keys are where the keys come from.
type Keys struct {
	File    string   `toml:"file" flag:"keyfile" kind:"path" zero:"plain frames" doc:"the file of keys, of which its owner alone may know; see utipc echo -h for what is in it"`
	Rekey   Duration `toml:"rekey" flag:"rekey" range:"1m-8760h" zero:"never" doc:"how often the node makes a new key of its own, where it has a master key"`
	Migrate bool     `toml:"migrate" flag:"migrate" doc:"whether plain frames are taken besides sealed ones, while nodes are given their keys"`
}

// Socket is where programs attach.
type Socket struct {
	Path  string `toml:"path" flag:"socket" kind:"path" doc:"the UNIX socket that programs attach to"`
	Mode  Mode   `toml:"mode" flag:"socket-mode" kind:"mode" live:"yes" doc:"who may open it"`
	Group string `toml:"group" flag:"socket-group" kind:"group" zero:"utipc where there is such a group, else the daemon's own" live:"yes" doc:"its group"`
}

// Access is who may do what, of those who may open the socket. A class lists users and,
// after @, groups; * is everybody. Root and the daemon's own user may do everything.
type Access struct {
	Use     []string `toml:"use" kind:"who" doc:"who may have TIPC sockets"`
	Show    []string `toml:"show" kind:"who" doc:"who may look: links, names, peers, statistics"`
	Manage  []string `toml:"manage" kind:"who" doc:"who may change bearers, links and the node"`
	Capture []string `toml:"capture" kind:"who" doc:"who may read the frames of everybody"`
	Keys    []string `toml:"keys" kind:"who" doc:"who may set keys"`
}

// Log is how the daemon logs, to the standard error.
type Log struct {
	Level  string `toml:"level" flag:"log-level" one:"debug|info|warn|error" live:"yes" doc:"the least important that is logged"`
	Format string `toml:"format" flag:"log-format" one:"text|json" doc:"how a line looks"`
}

// Metrics is the port for those who measure.
type Metrics struct {
	Listen string `toml:"listen" flag:"metrics" kind:"listen" zero:"none" doc:"where metrics are served over HTTP, at /metrics"`
	Public bool   `toml:"public" flag:"metrics-public" doc:"whether that may be an address that others than this host reach"`
	Pprof  bool   `toml:"pprof" flag:"pprof" doc:"whether profiles are served there, at /debug/pprof/"`
}

// TCP is what TCP sockets of programs have of the node.
type TCP struct {
	Prefix    string `toml:"prefix" flag:"tcp" kind:"network" zero:"none" doc:"the addresses that the cluster's nodes have for TCP programs, see utipc run --tcp"`
	Address   string `toml:"ip" flag:"tcp-ip" kind:"IPv4 address" zero:"none" doc:"this node's among them"`
	Interface string `toml:"interface" flag:"tcp-interface" kind:"name" zero:"no interface" doc:"the interface that the daemon makes for that address"`
}

// Bearer is what the node speaks TIPC on.
type Bearer struct {
	Medium    string   `toml:"medium" one:"eth|udp" doc:"the kind"`
	Device    string   `toml:"device,omitempty" kind:"device" of:"eth" doc:"the interface"`
	Driver    string   `toml:"driver,omitempty" one:"auto|af_xdp|af_packet" zero:"auto" of:"eth" doc:"how frames come and go"`
	Name      string   `toml:"name,omitempty" kind:"name" of:"udp" doc:"the name that peers see"`
	Local     string   `toml:"local,omitempty" kind:"endpoint" of:"udp" doc:"the own address, which peers are told"`
	Remotes   []string `toml:"remotes,omitempty" kind:"endpoint" of:"udp" doc:"the other nodes' addresses, where there is no multicast"`
	Multicast string   `toml:"multicast,omitempty" kind:"group address" zero:"the cluster's, without remotes" of:"udp" doc:"the group that broadcasts go to"`
	MTU       int      `toml:"mtu,omitempty" range:"128-65487" zero:"14000, on IPv6 1280" of:"udp" doc:"the longest message, in bytes"`
	Priority  int      `toml:"priority,omitempty" range:"1-31" zero:"node.priority" doc:"of links here"`
	Tolerance Duration `toml:"tolerance,omitempty" range:"50ms-30s" zero:"node.tolerance" doc:"of links here"`
	Window    int      `toml:"window,omitempty" range:"1-8191" zero:"node.window" doc:"of links here"`
	MaxWindow int      `toml:"max_window,omitempty" range:"1-8191" zero:"node.max_window" doc:"of links here"`
}

// MaxBearers is how many bearers a node may have. Source: docs/spec/10-management.md.
const MaxBearers = 3

// ID is what the bearer is called in lists: its interface, or its name.
func (b Bearer) ID() string {
	if b.Medium == "udp" {
		return b.Name
	}
	return b.Device
}

// Default returns the settings where nothing is set.
func Default() Settings {
	return Settings{
		Node: Node{
			NetID: 4711, Wait: "adaptive", Tolerance: Duration(1500 * time.Millisecond), Priority: 10, Window: 50,
			MonitorThreshold: 32, NamePark: Duration(100 * time.Millisecond), Chunks: 4096, Bundles: true,
			StopTimeout: Duration(2 * time.Second),
		},
		Keys:   Keys{Rekey: Duration(24 * time.Hour)},
		Socket: Socket{Path: "/run/utipc/utipc.sock", Mode: 0o660},
		Access: Access{Use: []string{"*"}, Show: []string{"*"}, Manage: []string{}, Capture: []string{}, Keys: []string{}},
		Limits: defaultLimits,
		Log:    Log{Level: "info", Format: "text"},
		TCP:    TCP{Interface: "utipc0"},
	}
}
