// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/utipc/utipc/internal/cmdline"

// A mistake is a command line that is wrong where it is run, and what it says.
type mistake struct {
	name   string
	args   string // after utipc; {dir} is a folder of the test
	nobody bool   // run by a user without rights
	status int
	want   string // on standard error, lines of the log left out
}

// A mistakeGroup is a section of docs/reference/messages.md.
type mistakeGroup struct {
	title string
	all   []mistake
}

// toolFailed is the status of the words of tipc(8).
const toolFailed = 255

const (
	lookAtHelp = "; 'utipc ping -h' shows how"
	noOther    = "utipc ping: nobody has bound 18888:17 within 6s; links: none, no other node was heard"
)

// mistakes are the usual ones. The namespace they are made in is that of TestMessages.
var mistakes = []mistakeGroup{
	{"The command line", []mistake{
		{"unknown command", `pnig`, false, cmdline.Misuse, `utipc: no command "pnig" (did you mean ping?); 'utipc -h' lists them`},
		{"unknown flag", `ping --cuont 3 18888:17`, false, cmdline.Misuse, `utipc ping: no flag --cuont (did you mean --count?)` + lookAtHelp},
		{"flag without its value", `ping 18888:17 --count`, false, cmdline.Misuse, `utipc ping: flags stand before the arguments` + lookAtHelp},
		{"wrong value of a flag", `ping --count many 18888:17`, false, cmdline.Misuse, `utipc ping: --count cannot be "many" (want a whole number)` + lookAtHelp},
		{"unknown word", `link lsit`, false, toolFailed, "error, invalid command \"lsit\"\nuse --help for command help"},
		{"typo in a service", `ping 18888.17`, false, cmdline.Misuse, `utipc ping: "18888.17" is no service address such as 18888:17` + lookAtHelp},
		{"bad address of a node", `ping --udp 127.0.0.2 --address 1.2 18888:17`, false, cmdline.Misuse, `utipc ping: --address "1.2" is no address such as 1.1.1 or 1001001` + lookAtHelp},
		{"bad net id", `ping --udp 127.0.0.2 --netid 10000 18888:17`, false, cmdline.Misuse, `utipc ping: --netid is not in 1 to 9999` + lookAtHelp},
		{"message too long", `ping --size 70000 18888:17`, false, cmdline.Misuse, `utipc ping: --size is not in 8 to 66000` + lookAtHelp},
	}},
	{"The daemon and its socket", []mistake{
		{"daemon not running", `ping --socket {dir}/none.sock 18888:17`, false, cmdline.Failed, `utipc ping: attach to {dir}/none.sock: no daemon is there: start one (systemctl start utipc), name the socket of another one (--socket PATH), or be a node of its own (--if IFACE, --udp IP)`},
		{"wrong socket path", `node list --socket {dir}/mode.key`, false, toolFailed, `error, attach to {dir}/mode.key: no daemon is there: start one (systemctl start utipc), name the socket of another one (--socket PATH), or be a node of its own (--if IFACE, --udp IP)`},
		{"no right to the socket", `ping --socket {dir}/utipc.sock 18888:17`, true, cmdline.Failed, `utipc ping: attach to {dir}/utipc.sock: permission denied: the socket is for its owner and group: become a member of the group (ls -l {dir}/utipc.sock), or use sudo`},
		{"two daemons", `daemon --socket {dir}/utipc.sock`, false, cmdline.Failed, `utipc daemon: another daemon, pid N, serves {dir}/utipc.sock: stop that one, or give this one a --socket of its own`},
		{"folder of the socket missing", `daemon --socket {dir}/none/run/utipc.sock`, false, cmdline.Failed, `utipc daemon: mkdir {dir}/none/run: no such file or directory: make the directory (as root: install -d -o $USER {dir}/none/run), or choose another --socket`},
		{"no rights for a bearer", `daemon --socket {dir}/open/utipc.sock --if eth1`, true, cmdline.Failed, `utipc daemon: bearer eth1: missing rights: CAP_NET_RAW (packet sockets), CAP_NET_ADMIN (XDP programs on interfaces, large buffers), CAP_BPF (loading XDP programs); start the daemon by its service, as root, or after: setcap cap_net_raw,cap_net_admin,cap_bpf+ep {program}`},
		{"port of the metrics taken", `daemon --socket {dir}/other.sock --metrics 127.0.0.1:9118`, false, cmdline.Failed, `utipc daemon: metrics: listen tcp 127.0.0.1:9118: bind: address already in use: choose another --metrics ADDRESS:PORT`},
	}},
	{"The settings of the daemon", []mistake{
		{"no file of settings", `daemon --config {dir}/none.toml`, false, cmdline.Failed, `utipc daemon: open {dir}/none.toml: no such file or directory: 'utipc daemon --example' prints one to begin with`},
		{"unknown setting", `daemon --config {dir}/key.toml`, false, cmdline.Misuse, `utipc daemon: {dir}/key.toml:2: log.leevl is unknown (did you mean level?); allowed: in [log] level, format`},
		{"wrong value of a setting", `daemon --config {dir}/value.toml`, false, cmdline.Misuse, `utipc daemon: {dir}/value.toml:2: node.netid = 12000; allowed: 1 to 9999`},
		{"no TOML", `daemon --config {dir}/text.toml`, false, cmdline.Misuse, `utipc daemon: {dir}/text.toml:1: no TOML: expected '=' after key; allowed: KEY = VALUE, [SECTION] and # COMMENT`},
		{"unknown medium", `daemon --bearer {words}`, false, cmdline.Misuse, `utipc daemon: --bearer: bearer[0].medium = "ib"; allowed: eth or udp`},
		{"key file open to others", `daemon --keyfile {dir}/mode.key`, false, cmdline.Misuse, `utipc daemon: keys.file: {dir}/mode.key is open to others than its owner; chmod 600 {dir}/mode.key`},
		{"key of a wrong length", `daemon --keyfile {dir}/short.key`, false, cmdline.Misuse, `utipc daemon: keys.file: {dir}/short.key: line 1: seal: a key has 16, 24 or 32 bytes and 4 of salt; this one has 5`},
	}},
	{"Interfaces and addresses", []mistake{
		{"wrong interface", `ping --if eth9 18888:17`, false, cmdline.Failed, `utipc ping: xdp: interface eth9 does not exist: this network namespace has lo, eth1, eth2, narrow`},
		{"interface down", `ping --if eth2 18888:17`, false, cmdline.Failed, `utipc ping: xdp: interface eth2 is down: bring it up: ip link set dev eth2 up`},
		{"no rights", `ping --if eth1 18888:17`, true, cmdline.Failed, `utipc ping: interface eth1: permission denied: run it as root, or after setcap cap_net_raw,cap_net_admin,cap_bpf+ep {program}; or use the daemon's node (without --if), or UDP (--udp IP), which need no rights`},
		{"loopback as Ethernet", `ping --if lo 18888:17`, false, cmdline.Failed, `utipc ping: xdp: interface lo is the loopback: use the in-memory hub between nodes of one program, or a veth pair (ip link add tipc0 type veth peer name tipc1)`},
		{"MTU of the interface", `ping --if narrow 18888:17`, false, cmdline.Failed, `utipc ping: xdp: interface narrow has an MTU below 100 bytes: it is 80: raise it: ip link set dev narrow mtu 1500`},
		{"MTU of UDP", `ping --udp 127.0.0.2 --udp-mtu 99 18888:17`, false, cmdline.Misuse, `utipc ping: --udp-mtu is not in 128 to 65487` + lookAtHelp},
		{"UDP without an IP address", `ping --udp eth1 18888:17`, false, cmdline.Misuse, `utipc ping: --udp: udp: address "eth1": not an IP address, with or without a port (want IP[,TO...], e.g. 10.0.0.1 or 10.0.0.1:6118,10.0.0.2)` + lookAtHelp},
		{"address of another host", `ping --udp 10.9.9.9 18888:17`, false, cmdline.Failed, `utipc ping: udp: 10.9.9.9:6118: find its interface: cannot assign requested address: give the bearer an address of this host (ip address)`},
		{"port of UDP taken", `ping --udp 127.0.0.11,127.0.0.13 18888:17`, false, cmdline.Failed, `utipc ping: udp: 127.0.0.11:6118: bind: address already in use: another node or program has it: use another port, or another address of this host`},
		{"unknown bearer", `bearer enable --socket {dir}/utipc.sock media ib device eth1`, false, toolFailed, "error, invalid media type ib"},
	}},
	{"Other nodes", []mistake{
		{"name not bound", `ping --udp 127.0.0.51,127.0.0.52 --timeout 100ms 18888:17`, false, cmdline.Failed, `utipc ping: nobody has bound 18888:17 within 100ms; links: none, no other node was heard`},
		{"wrong net id", `ping --udp 127.0.0.12,127.0.0.11 --timeout 6s 18888:17`, false, cmdline.Failed, noOther + `; frames dropped: other network=N: the others are in another cluster: give this node their --netid`},
		{"no key", `ping --udp 127.0.0.22,127.0.0.21 --timeout 6s 18888:17`, false, cmdline.Failed, noOther + `; frames dropped: encrypted=N: the others have keys: give this node their --keyfile`},
		{"wrong key", `ping --udp 127.0.0.23,127.0.0.21 --timeout 6s --keyfile {dir}/other.key 18888:17`, false, cmdline.Failed, noOther + `; frames dropped: sealed with a key not known=N: the others have another key: compare the files of --keyfile`},
		{"duplicate address", `ping --udp 127.0.0.32,127.0.0.31 --timeout 6s --address 1.1.1 18888:17`, false, cmdline.Failed, noOther + `; frames dropped: not for this station or node=N: another node may have this node's address: choose another --address`},
		{"wrong network of a listener", `ping --udp 127.0.0.42,127.0.0.41 --timeout 30s --network tipcpacket 18888:17`, false, cmdline.Failed, `utipc ping: dial tipcpacket 18888:17: refused (no port): the listener is of network "tipc" (dial it with that)`},
	}},
}
