// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"strconv"
)

// An OptionName is the number of a socket's option. Those below 1000 are the TIPC_*
// numbers of linux/tipc.h and mean what they mean there.
type OptionName uint32

// Options. Those that say so can only be asked for.
const (
	OptImportance    OptionName = 127 // 0 low to 3 critical
	OptSrcDroppable  OptionName = 128 // 0, 1
	OptDestDroppable OptionName = 129 // 0: what cannot be delivered comes back; 1
	OptConnTimeout   OptionName = 130 // milliseconds that OpConnect waits; 0: 8000
	OptNodeRecvQueue OptionName = 131 // messages that wait at all sockets of the node; read only
	OptSockRecvQueue OptionName = 132 // messages that wait at this one; read only
	OptBroadcast     OptionName = 133 // messages to a range go by broadcast; value ignored
	OptReplicast     OptionName = 134 // they go as copies; value ignored
	OptRecvQueueUsed OptionName = 137 // bytes that wait at this socket; read only
	OptNoDelay       OptionName = 138 // 0, 1

	OptReceiveLimit OptionName = 1000 // bytes that may wait to be read; 0: 2 MiB
	OptNameWait     OptionName = 1001 // nanoseconds that a send waits for a name; 0: as the daemon is set, negative: not at all
	OptMulticast    OptionName = 1002 // 0: as fits, 1: broadcast, 2: copies
	OptScope        OptionName = 1003 // of what is bound without one: 2 cluster, 3 node
	OptBacklog      OptionName = 1004 // connection requests that may wait; 0: 4096
	OptAcceptAhead  OptionName = 1006 // 1: what listens answers requests before OpAccept; 0
	OptRequests     OptionName = 1005 // 1: what is sent is a request, whose end without an answer is a message without data; 0
	OptExclusive    OptionName = 1007 // 1: the socket takes names for itself, in the cluster; OpLost says that it has lost one; 0
	OptPreferIdle   OptionName = 1008 // 1: a message to a service goes to a socket that has least to do; 0
	OptManualAck    OptionName = 1009 // 1: what the program does not acknowledge is returned with the socket's end; 0
)

var optionNames = map[OptionName]string{
	OptImportance: "importance", OptSrcDroppable: "src-droppable", OptDestDroppable: "dest-droppable",
	OptConnTimeout: "conn-timeout", OptNodeRecvQueue: "node-recvq", OptSockRecvQueue: "sock-recvq",
	OptBroadcast: "broadcast", OptReplicast: "replicast", OptRecvQueueUsed: "recvq-used", OptNoDelay: "nodelay",
	OptReceiveLimit: "receive-limit", OptNameWait: "name-wait", OptMulticast: "multicast",
	OptScope: "scope", OptBacklog: "backlog", OptRequests: "requests", OptAcceptAhead: "accept-ahead",
	OptExclusive: "exclusive",
	OptManualAck: "manual-ack", OptPreferIdle: "prefer-idle",
}

// String returns the option's name, or its number.
func (o OptionName) String() string {
	if s, ok := optionNames[o]; ok {
		return s
	}
	return "option " + strconv.Itoa(int(o))
}

// An Option is an option and its value: in a record 16 bytes, u32 number, u32 0, s64
// value.
type Option struct {
	Name  OptionName
	Value int64
}

const (
	optionLen = 16
	// MaxOptions is how many options one record may have.
	MaxOptions = 64
)

// AppendOption appends an option to the data of an OpSocket, OpSetOption or OpGetOption
// record, or an answer.
func AppendOption(b []byte, name OptionName, value int64) []byte {
	b = binary.NativeEndian.AppendUint32(b, uint32(name))
	b = binary.NativeEndian.AppendUint32(b, 0)
	return binary.NativeEndian.AppendUint64(b, uint64(value))
}

// ParseOptions reads the options in a record's data into into, which it returns from
// the beginning. Errors: ErrRecord for data of another length, or more than MaxOptions.
func ParseOptions(data []byte, into []Option) ([]Option, error) {
	if len(data)%optionLen != 0 || len(data) > optionLen*MaxOptions {
		return nil, ErrRecord
	}
	into = into[:0]
	for ; len(data) > 0; data = data[optionLen:] {
		into = append(into, Option{OptionName(binary.NativeEndian.Uint32(data)), int64(binary.NativeEndian.Uint64(data[8:]))})
	}
	return into, nil
}
