// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"encoding/json"
	"net"

	"github.com/utipc/utipc/frame"
)

// A Fact is something Probe found out, or why it could not.
type Fact[T any] struct {
	Value   T      // what holds, if Unknown is empty
	Unknown string // why it is not known
}

// Known reports whether the value holds.
func (f Fact[T]) Known() bool { return f.Unknown == "" }

// known and unknown make facts.
func known[T any](v T) Fact[T]          { return Fact[T]{Value: v} }
func unknown[T any](why string) Fact[T] { return Fact[T]{Unknown: why} }

// fact is known unless err says why not.
func fact[T any](v T, err error) Fact[T] {
	if err != nil {
		return unknown[T](err.Error())
	}
	return known(v)
}

// MarshalJSON writes {"value": …} or {"unknown": "why"}.
func (f Fact[T]) MarshalJSON() ([]byte, error) {
	if !f.Known() {
		return json.Marshal(struct {
			Unknown string `json:"unknown"`
		}{f.Unknown})
	}
	return json.Marshal(struct {
		Value T `json:"value"`
	}{f.Value})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Fact[T]) UnmarshalJSON(b []byte) error {
	var v struct {
		Value   T      `json:"value"`
		Unknown string `json:"unknown"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*f = Fact[T]{v.Value, v.Unknown}
	return nil
}

// Facts is what is known of a host and one of its interfaces. Choose needs
// nothing else.
type Facts struct {
	Host Host `json:"host"`
	Link Link `json:"interface"`
}

// A Host is what is known of the host and of the rights of this process.
type Host struct {
	Kernel       Fact[string]       `json:"kernel"` // release, as "6.1.0-13-amd64"
	Capabilities Fact[Capabilities] `json:"capabilities"`

	// What was tried, and closed at once.
	PacketSocket Trial `json:"packet_socket"` // a socket of AF_PACKET
	XDPSocket    Trial `json:"xdp_socket"`    // a socket of AF_XDP
	XDPProgram   Trial `json:"xdp_program"`   // loading an XDP program and a map of AF_XDP sockets

	LockedMemory  Fact[int64] `json:"locked_memory"`  // bytes this process may lock; -1: any number
	ReceiveBuffer Fact[int64] `json:"receive_buffer"` // bytes a socket may ask for without CAP_NET_ADMIN
	TIPCModule    bool        `json:"tipc_module"`    // the kernel's own TIPC is loaded

	CPUs     Fact[int]    `json:"cpus"`      // processors this process may run on
	Isolated Fact[string] `json:"isolated"`  // processors kept free of other work, as "2-3,7"
	Tickless Fact[string] `json:"nohz_full"` // those without a timer tick while one task runs
	Quota    Fact[Quota]  `json:"cpu_quota"`
}

// Capabilities are the effective ones that matter here.
type Capabilities struct {
	NetRaw   bool `json:"net_raw"`
	NetAdmin bool `json:"net_admin"`
	BPF      bool `json:"bpf"`
	SysAdmin bool `json:"sys_admin"`
	IPCLock  bool `json:"ipc_lock"`
}

// A Quota is the tightest limit of processor time that a control group of this
// process sets.
type Quota struct {
	CPUs float64 `json:"cpus"`           // processors' worth of time; 0: no limit
	File string  `json:"file,omitempty"` // where it is set
}

// A Trial is how the attempt to get something ended.
type Trial struct {
	Result Result `json:"result"`         // empty: it was not tried
	Says   string `json:"says,omitempty"` // the system's words, unless it worked
}

// A Result is the sort of end.
type Result string

const (
	Works  Result = "works"
	Absent Result = "absent" // this kernel has no such thing
	Denied Result = "denied" // a right is missing
	Short  Result = "short"  // descriptors or memory were lacking: whether it is there is not known
	Failed Result = "failed" // something else
)

// A Link is what is known of an interface.
type Link struct {
	Name     string  `json:"name"`
	Index    int     `json:"index"`
	Address  string  `json:"address"` // MAC address; empty where it has none of 6 bytes
	Ethernet bool    `json:"ethernet"`
	Loopback bool    `json:"loopback"`
	Up       bool    `json:"up"`
	Carrier  bool    `json:"carrier"` // the other end is there
	MTU      int     `json:"mtu"`     // bytes
	Kind     string  `json:"kind"`    // of a software interface, as "veth", "macvlan"; empty for hardware
	Program  Program `json:"xdp_program"`

	AltNames   []string `json:"alt_names,omitempty"`   // alternative names
	Master     string   `json:"master,omitempty"`      // the interface that it is a port of, which takes the frames that arrive
	Losses     uint32   `json:"carrier_losses"`        // times that it has lost the carrier; 0: the kernel does not tell
	MasterKind string   `json:"master_kind,omitempty"` // its kind, as "bridge", "bond"
	Users      string   `json:"users,omitempty"`       // why others are held to use it, see Around; of ProbeLink alone
	master     int      // its number

	Driver   Fact[string]   `json:"driver"`
	XDP      Fact[Features] `json:"xdp"`
	Queues   Fact[Sizes]    `json:"queues"`
	Rings    Fact[Sizes]    `json:"rings"` // descriptors of each queue
	Offloads Fact[Offloads] `json:"offloads"`
	Steering Fact[int]      `json:"steering_rules"` // ntuple rules that pick a queue by a frame's fields

	KernelBearer bool   `json:"kernel_bearer"`   // the kernel's own TIPC uses it
	Owner        string `json:"owner,omitempty"` // the node that owns it; empty: none
}

// MAC is the interface's station address, zero without one of 6 bytes.
func (l Link) MAC() (m frame.MAC) {
	hw, _ := net.ParseMAC(l.Address) // as parseLink has written it
	copy(m[:], hw)
	return m
}

// A Program is the XDP program on an interface.
type Program struct {
	Mode string `json:"mode,omitempty"` // "native", "generic", "offloaded" or "several"; empty: there is none
	ID   uint32 `json:"id,omitempty"`   // for "bpftool prog show id"; 0 when there are several
}

// Features are what the driver can do for XDP.
type Features struct {
	Native           bool `json:"native"`             // runs programs before the frame is a packet of the kernel
	Redirect         bool `json:"redirect"`           // and gives frames to AF_XDP sockets
	ZeroCopy         bool `json:"zero_copy"`          // straight to and from a socket's memory
	MultiBuffer      bool `json:"multi_buffer"`       // frames longer than a page
	ZeroCopySegments int  `json:"zero_copy_segments"` // pieces of one frame in zero-copy mode; 0: not told
}

// Sizes are the present and the greatest possible number of something in each
// direction.
type Sizes struct {
	RX    int `json:"rx"`
	TX    int `json:"tx"`
	MaxRX int `json:"max_rx"`
	MaxTX int `json:"max_tx"`
}

// Offloads are work the interface does for the kernel's IP. None touches frames
// of TIPC, but XDP turns some of them off.
type Offloads struct {
	GRO  bool `json:"gro"`  // received segments are joined
	LRO  bool `json:"lro"`  // the same, by the hardware
	TSO  bool `json:"tso"`  // sent segments are cut by the hardware
	VLAN bool `json:"vlan"` // VLAN tags are taken out of received frames
}

// Arrival says on which receive queue the frames of TIPC arrive when AF_XDP runs
// in the given mode; -1 if that cannot be foretold, and why it is so.
//
// Cards spread frames over queues by a hash of IP addresses; other frames have no
// hash and go to the first queue.
func (l Link) Arrival(mode Mode) (queue int, why string) {
	switch {
	case mode == ModeGeneric && l.Kind == "veth":
		return 0, "generic XDP on a veth hands every frame to queue 0"
	case l.Queues.Known() && l.Queues.Value.RX == 1:
		return 0, "there is one queue"
	case l.Kind == "veth":
		return -1, "a veth in native mode keeps the number of the sender's queue"
	case !l.Steering.Known():
		return 0, "cards spread only IP over queues, unless a steering rule says otherwise (not known: " + l.Steering.Unknown + ")"
	case l.Steering.Value > 0:
		return -1, "steering rules are set and may name another queue than 0: ethtool -n " + l.Name
	}
	return 0, "cards spread only IP over queues"
}
