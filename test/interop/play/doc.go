// SPDX-License-Identifier: Apache-2.0

// Package play plays scripts with TIPC sockets. The same commands are carried out on
// sockets of this stack and on those of a kernel, inside a guest of the rig, so that a
// script with two parts can be played by any two of them, and says for all of them what
// must come out.
//
//	SOCKET COMMAND WORDS...     one line; SOCKET is any name of the script's
//
//	knows                       SOCKET is a service here: waits until somebody has bound it
//	open KIND                   a socket: stream, seqpacket, rdm, dgram, group
//	set OPTION VALUE, get OPTION
//	bind ADDR [node], listen
//	accept SOCKET               waits; the connection gets that name
//	connect ADDR                waits for the answer
//	send BYTES SEQ [ADDR]       one message, or a write, of Fill; to ADDR, which connects
//	                            a stream or seqpacket socket that is not connected yet
//	recv SEQ [BYTES]            waits for a message, of a stream for so many bytes, and compares
//	piece SEQ BYTES             waits for what fits into so many bytes, and compares
//	end                         waits for what ends a connection
//	none MS                     nothing to receive comes in that time
//	pour BYTES PIECE [ADDR]     sends so much in such pieces
//	drain BYTES|all [PIECE]     receives it, or all to the end, and compares; messages of
//	                            a seqpacket socket must have that length
//	overrun BYTES ADDR          sends until a message comes back
//	read                        waits for a message, as the socket tells of it
//	report                      waits for the report of a send that failed after it had
//	                            returned; only sockets of attached programs have such
//	id, peer                    socket addresses
//	join TYPE:INSTANCE [node], leave
//	                            a socket of the kind group, which with "set events 1" hears
//	                            of members and with "set loopback 1" itself; it sends to all
//	                            without an address, to one of an instance with a service, to
//	                            all of an instance with a range
//	take SEQ                    waits for a message or an event; tells of whom it is
//	members N                   waits for so many events and counts them
//	fill BYTES [ADDR]           sends until there is no room, and counts
//	taken N                     receives so many of them, in their order
//	shutdown, close             the orderly end, and the other
//
// SOCKET#N in the first place, or after accept, stands for N sockets, done one after the
// other; with a + after it, all at once. The answer is one line: ok and words, or why not.
package play
