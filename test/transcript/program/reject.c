/* SPDX-License-Identifier: Apache-2.0 */

/* Datagrams that come back, and ancillary data. */
#include "sections.h"

static void returned(int type)
{
	int c = Socket(type), s = Socket(type);
	address a = service(REJECT_TYPE, 1);
	Set(c, SOL_TIPC, TIPC_DEST_DROPPABLE, 0);
	note("to a port that is not there");
	Sendto(c, "no port", 0, port_at(1234567, own_node()));
	Ready(c);
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	Sendto(c, "no port", 0, port_at(1234567, 0));
	Recvmsg(c, 100, MSG_DONTWAIT, 0);
	Sendto(c, "no port", 0, port_at(0, own_node()));
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	Sendto_data(c, 3000, 0, port_at(1234567, own_node()));
	Recvmsg(c, 4000, MSG_PEEK | MSG_DONTWAIT, 4096);
	Recvmsg(c, 4000, MSG_DONTWAIT, 4096);
	Sendto_data(c, 0, 0, port_at(1234567, own_node()));
	Ready(c);
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	note("room for ancillary data");
	static const size_t rooms[] = {1, 16, 23, 24, 25, 32, 40, 48, 64};
	for (size_t i = 0; i < COUNT(rooms); i++) {
		Sendto(c, "no port", 0, port_at(1234567, own_node()));
		Recvmsg(c, 100, MSG_DONTWAIT, rooms[i]);
	}
	Sendto(c, "no port", 0, port_at(1234567, own_node()));
	Recvmsg(c, 0, MSG_DONTWAIT, 4096);
	Recvmsg(c, 3, MSG_DONTWAIT, 4096);
	note("to a lookup that fails");
	Sendto(c, "no name", 0, service_at(REJECT_TYPE, 99, own_node()));
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	note("unread when the socket is closed");
	Bind(s, a);
	Sendto(c, "first", 0, a);
	Sendto_data(c, 2000, 0, own_address(s));
	Sendto(c, "third", 0, range(REJECT_TYPE, 0, 5));
	Set(c, SOL_TIPC, TIPC_DEST_DROPPABLE, 1);
	Sendto(c, "dropped", 0, a);
	Set(c, SOL_TIPC, TIPC_DEST_DROPPABLE, 0);
	Recv(s, 10, MSG_PEEK);
	Close(s);
	Drain(c);
	note("a connected socket as destination");
	int b, x = Socketpair(SOCK_SEQPACKET, &b);
	Sendto(c, "to a connection", 0, own_address(x));
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	Ready(x);
	note("a listener as destination");
	int l = Listener(SOCK_STREAM, service(REJECT_TYPE, 7));
	Sendto(c, "to a listener", 0, service(REJECT_TYPE, 7));
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	Ready(l);
	note("the topology server as destination");
	Sendto(c, "to the topology server", 0, service(TIPC_TOP_SRV, TIPC_TOP_SRV));
	Wait(c, POLLIN);
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	note("droppable again");
	Set(c, SOL_TIPC, TIPC_DEST_DROPPABLE, 1);
	Sendto(c, "no port", 0, port_at(1234567, own_node()));
	Ready(c);
	Close(c);
}

/* A receiver that is full. */
static void overload(int type)
{
	int s = Socket(type), c = Socket(type);
	note("a full receiver");
	Bind(s, service(REJECT_TYPE + 1, 1));
	Set(s, SOL_SOCKET, SO_RCVBUF, 4608);
	Set(c, SOL_TIPC, TIPC_DEST_DROPPABLE, 0);
	address a = service(REJECT_TYPE + 1, 1);
	for (int i = 0; i < 200; i++) {
		struct pollfd p = {.fd = c, .events = POLLIN};
		if (sendto(c, pattern(1000), 1000, 0, (const struct sockaddr *)&a, sizeof a) != 1000)
			note("send failed");
		if (poll(&p, 1, 0) == 1)
			break;
	}
	Recvmsg(c, 2000, MSG_DONTWAIT, 4096);
	Ready(s);
	Recv(s, 2000, MSG_DONTWAIT);
	Close(s);
	Close(c);
}

void reject_section(void)
{
	for (size_t i = 0; i < COUNT(datagram); i++) {
		note("type %s", type_text(datagram[i]));
		returned(datagram[i]);
		overload(datagram[i]);
	}
	note("ancillary data of sends");
	int s = Socket(SOCK_RDM);
	address a = own_address(s);
	char control[CMSG_SPACE(8)] = {0};
	static const int levels[] = {SOL_TIPC, SOL_SOCKET, 0};
	for (size_t i = 0; i < COUNT(levels); i++) {
		struct iovec v = {(void *)(uintptr_t) "x", 1};
		struct msghdr m = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(8), .cmsg_level = levels[i], .cmsg_type = TIPC_ERRINFO};
		begin("sendmsg(%s with ancillary data of level %d)", name(s), levels[i]);
		finish(sendmsg(s, &m, 0));
		Recvmsg(s, 10, MSG_DONTWAIT, 4096);
	}
}
