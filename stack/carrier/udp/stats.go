// SPDX-License-Identifier: Apache-2.0

package udp

// Stats are what a device has done since it was opened.
type Stats struct {
	SendCalls uint64 // system calls that sent something
	SentRuns  uint64 // what they were given: datagrams, and runs of datagrams for the kernel to cut
	Sent      uint64 // datagrams of one frame each
	RecvCalls uint64 // system calls that received something
	RecvRuns  uint64 // what they gave: datagrams, and runs of datagrams
	Received  uint64 // datagrams of one frame each, those dropped below included

	Own         uint64 // received: own multicasts that came back
	Strangers   uint64 // senders that got a place in the table
	Displaced   uint64 // of these, the ones that lost it to others
	TableFull   uint64 // received and dropped: every place is taken by peers with a link
	TooLong     uint64 // received and dropped: longer than the MTU
	Empty       uint64 // received and dropped: no message
	Nowhere     uint64 // not sent: to a station that is not, or no longer, in the table
	Unreachable uint64 // not sent: an earlier datagram was answered with "unreachable"
	CutShort    uint64 // not sent: copies of a broadcast, since the device was full
	Refused     uint64 // not sent: Transmit returned an error
}
