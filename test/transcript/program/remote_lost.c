/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Two nodes that lose contact. Whoever runs the parts cuts the link when the names CUT 1 and CUT 2
 * are bound. From then on the parts do not meet any more.
 */
#include "remote.h"

/* cut waits until there is no contact: the other's names are withdrawn. */
static void cut(int top, uint32_t own)
{
	int s = Socket(SOCK_RDM);
	Bind(s, service(CUT, own));
	Event(top, false);
}

static void gone(int group, address from)
{
	Wait(group, POLLIN);
	Recvmsg(group, 100, 0, 4096);
	Send(group, "x", MSG_DONTWAIT);
	Close(group);
	int s = Socket(SOCK_RDM);
	Set(s, SOL_TIPC, TIPC_DEST_DROPPABLE, 0);
	Sendto(s, "x", 0, service_at(LOST, 1, other_node));
	Sendto(s, "x", 0, from);
	Sendto(s, "x", 0, range(MANY, 1, 10));
	Recvmsg(s, 100, MSG_DONTWAIT, 4096);
	Ready(s);
	Close(s);
	for (size_t i = 0; i < COUNT(connected); i++) {
		s = Socket(connected[i]);
		Connect(s, service_at(LOST, 1, other_node));
		Connect(s, from);
		Sendto(s, "x", 0, from);
		Close(s);
	}
}

void lost_server(void)
{
	int l[2] = {Listener(SOCK_STREAM, service(LOST, 10)), Listener(SOCK_SEQPACKET, service(LOST, 11))}, n[4];
	int s = Socket(SOCK_RDM), group = Socket(SOCK_RDM);
	int top = Topology(SOCK_SEQPACKET);
	Join(group, LOST_GROUP, 1, 2, TIPC_GROUP_MEMBER_EVTS);
	Bind(s, service(LOST, 1));
	Subscribe(top, LOST, 2, 2, FOREVER, TIPC_SUB_PORTS, "lost", false);
	Event(top, false);
	meet();
	for (size_t i = 0; i < COUNT(n); i++)
		n[i] = Accept(l[i % 2]);
	Wait(group, POLLIN);
	Recvmsg(group, 100, 0, 4096);
	address from = Source(s, 100);
	Send(n[0], "unread", 0);
	Send(n[1], "unread", 0);
	meet();
	for (size_t i = 0; i < COUNT(n); i++)
		Wait(n[i], POLLIN);
	cut(top, 1);
	for (size_t i = 0; i < COUNT(n); i++) {
		Wait(n[i], POLLHUP);
		if (i < 2)
			after_end(n[i]);
		else
			Drain(n[i]);
	}
	gone(group, from);
}

void lost_client(void)
{
	int s = Socket(SOCK_RDM), group = Socket(SOCK_RDM), c[4];
	int top = Topology(SOCK_SEQPACKET);
	Bind(s, service(LOST, 2));
	meet();
	Subscribe(top, LOST, 1, 1, FOREVER, TIPC_SUB_PORTS, "lost", false);
	Event(top, false);
	for (size_t i = 0; i < COUNT(c); i++) {
		c[i] = Socket(i % 2 == 0 ? SOCK_STREAM : SOCK_SEQPACKET);
		patient(c[i]);
		Connect(c[i], service(LOST, 10 + (uint32_t)i % 2));
		Send(c[i], "unread", 0);
	}
	Join(group, LOST_GROUP, 2, 2, TIPC_GROUP_MEMBER_EVTS);
	Wait(group, POLLIN);
	address from = {0};
	Recvfrom_room(group, 100, 0, 32, &from);
	Sendto(s, "here I am", 0, service(LOST, 1));
	meet();
	for (size_t i = 0; i < 2; i++)
		Wait(c[i], POLLIN);
	cut(top, 2);
	for (size_t i = 0; i < COUNT(c); i++) {
		Wait(c[i], POLLHUP);
		if (i > 1)
			after_end(c[i]);
		else
			Drain(c[i]);
	}
	gone(group, from);
}
