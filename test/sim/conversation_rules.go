// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"

	"github.com/utipc/utipc/frame/lint"
)

// conversationRules are all that a Conversation knows. Each stands in a file
// conversation_*.go under its ID.
var conversationRules = []lint.Rule{
	{ID: "session", Source: "02-link.md §4.1, §4.3", Text: "a STATE has the session that the endpoint announced"},
	{ID: "session-up", Source: "02-link.md §1.1, §2.1", Text: "an endpoint that was up says RESET or ACTIVATE only in a new session"},
	{ID: "activate-session", Source: "02-link.md §4.1, §4.4", Text: "an ACTIVATE names a session that the peer announced, or the one before"},
	{ID: "state-first", Source: "02-link.md §2.3, §4.2", Text: "the first message of a link that comes up is a STATE that acknowledges nothing"},
	{ID: "state-seq", Source: "02-link.md §4.1", Text: "STATE messages are numbered from 1 without holes for a peer that counts them"},
	{ID: "next-sent", Source: "02-link.md §4.1", Text: "a STATE announces the number of the next packet"},
	{ID: "gap", Source: "02-link.md §4.1", Text: "what is missing was sent"},
	{ID: "blocks", Source: "02-link.md §5", Text: "gap-ack blocks speak of packets that were sent"},
	{ID: "record", Source: "02-link.md §5", Text: "there is a gap-ack record if and only if both ends announce it"},
	{ID: "probe-answer", Source: "02-link.md §3, §4.5", Text: "who goes on sending answers probes"},
	{ID: "packet-seq", Source: "02-link.md §1.2, §6.2", Text: "packets are numbered from 1 without holes"},
	{ID: "packet-repeat", Source: "02-link.md §6.3", Text: "a packet sent again is what it was, acknowledgements aside"},
	{ID: "unacked", Source: "02-link.md §6.2, §7", Text: "at most 8191 packets are not acknowledged"},
	{ID: "link-ack", Source: "02-link.md §4.1", Text: "no packet is acknowledged before it was sent"},
	{ID: "ack-order", Source: "02-link.md §4.1", Text: "acknowledgements do not go back"},
	{ID: "link-mtu", Source: "02-link.md §4.6", Text: "no packet is larger than the peer said it takes"},
	{ID: "first-packet", Source: "04-broadcast.md §2, 02-link.md §10.1", Text: "the first packet opens the broadcast link; that of a second link is a sync point"},
	{ID: "bcast-seq", Source: "04-broadcast.md §1.1, §2", Text: "broadcast packets are numbered without holes, from 1 again only when all peers were lost"},
	{ID: "bcast-repeat", Source: "04-broadcast.md §5", Text: "a broadcast packet sent again is what it was"},
	{ID: "bcast-window", Source: "04-broadcast.md §3", Text: "at most 50 broadcast packets are not acknowledged by all that were told of the link"},
	{ID: "bcast-missing", Source: "04-broadcast.md §5", Text: "a broadcast packet is sent again at most once for each report that it is missing"},
	{ID: "bcast-net", Source: "04-broadcast.md §1.1", Text: "broadcast packets have the number of their sender's network"},
	{ID: "bcast-ack", Source: "04-broadcast.md §1.1", Text: "no broadcast packet is acknowledged before it was sent"},
	{ID: "bcast-ack-order", Source: "04-broadcast.md §1.1", Text: "acknowledgements of broadcasts do not go back"},
	{ID: "bcast-gap", Source: "04-broadcast.md §4.2", Text: "broadcasts that are missing were sent"},
	{ID: "last-bcast", Source: "04-broadcast.md §1.1", Text: "STATE messages and the opening tell the last broadcast packet sent"},
	{ID: "fragments", Source: "01-wire.md §7, 02-link.md §6.2", Text: "the fragments of a message follow each other, first to last"},
	{ID: "fragment-total", Source: "01-wire.md §7", Text: "fragments have together the size that their message claims"},
	{ID: "synch-point", Source: "02-link.md §10.1", Text: "a second link's first packet names at least the last packet that was sent on the first"},
	{ID: "tunnel-bearer", Source: "02-link.md §10", Text: "a tunnel names the other link's bearer as the receiver numbers it"},
	{ID: "tunnel-count", Source: "02-link.md §10.2", Text: "a failed link's packets follow each other, as many as each of them says"},
	{ID: "tunnel-order", Source: "02-link.md §10.2", Text: "a failed link's packets are in order"},
	{ID: "tunnel-repeat", Source: "02-link.md §10.2", Text: "a failed link's packet that was sent before is what it was"},
	{ID: "tunnel-pieces", Source: "02-link.md §10.2", Text: "the pieces of a packet follow each other, from 1"},
	{ID: "tunnel-end", Source: "02-link.md §10.2", Text: "the last of a failed link's packets is an empty message"},
	{ID: "failed-silent", Source: "02-link.md §10.2", Text: "a link whose packets went through a tunnel sends nothing more in its session"},
	{ID: "last-bulk", Source: "05-naming.md §3", Text: "the bulk of names ends once in a session, and nothing of it follows"},
	{ID: "update-seq", Source: "05-naming.md §3", Text: "updates of names are numbered without holes, from the number that ends the bulk"},
	{ID: "update-repeat", Source: "05-naming.md §3", Text: "an update of names told again, by the other way too, is what it was"},
	{ID: "update-way", Source: "05-naming.md §3", Text: "updates are broadcast only when all peers take them so"},
	{ID: "withdrawal", Source: "05-naming.md §1", Text: "a binding that is withdrawn was published"},
	{ID: "returned", Source: "07-sockets.md §6, 01-wire.md §8.9", Text: "what comes back was sent, may come back, and did not come back before"},
	{ID: "conn-answer", Source: "07-sockets.md §4.2", Text: "a connection begins with an empty message to a socket that asked for one"},
	{ID: "conn-unacked", Source: "07-sockets.md §5.1", Text: "what is not acknowledged of a connection is more than the window by one message at most"},
	{ID: "conn-ack", Source: "07-sockets.md §5.1", Text: "no more of a connection is acknowledged than was sent"},
	{ID: "conn-asked", Source: "07-sockets.md §5.3", Text: "an acknowledgement that answers was asked for"},
	{ID: "conn-end", Source: "07-sockets.md §4.6", Text: "a socket says nothing more on a connection that it has ended"},
	{ID: "answer-asked", Source: "03-discovery-and-node.md §2.3", Text: "a discovery answer goes within a second to a station that asked, and names it"},
	{ID: "trial-refused", Source: "03-discovery-and-node.md §2.3", Text: "a refusal goes within a second to a station that tried the address"},
	{ID: "trial-after", Source: "03-discovery-and-node.md §2.2", Text: "who has an address tries none"},
	{ID: "announced", Source: "03-discovery-and-node.md §1", Text: "capabilities, identity and network hash are the same as long as the signature is"},
}

// ConversationRules returns all rules that a Conversation knows.
func ConversationRules() []lint.Rule { return slices.Clone(conversationRules) }
