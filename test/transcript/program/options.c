/* SPDX-License-Identifier: Apache-2.0 */

/* Every option of SOL_TIPC and those of SOL_SOCKET, on each type, also with wrong sizes. */
#include "sections.h"

#include <sys/time.h>

static const int all[] = {
	TIPC_IMPORTANCE, TIPC_SRC_DROPPABLE, TIPC_DEST_DROPPABLE, TIPC_CONN_TIMEOUT, TIPC_NODE_RECVQ_DEPTH, TIPC_SOCK_RECVQ_DEPTH,
	TIPC_MCAST_BROADCAST, TIPC_MCAST_REPLICAST, TIPC_GROUP_JOIN, TIPC_GROUP_LEAVE, TIPC_SOCK_RECVQ_USED, TIPC_NODELAY, 126, 139, 0,
};

static void defaults(int type)
{
	int s = Socket(type);
	for (size_t i = 0; i < COUNT(all); i++)
		Get(s, SOL_TIPC, all[i]);
	Close(s);
}

static void settable(int type)
{
	static const struct {
		int option;
		uint32_t values[5];
	} table[] = {
		{TIPC_IMPORTANCE, {3, 0, 4, 0x80000000, 1}},
		{TIPC_SRC_DROPPABLE, {1, 0, 2, 0xffffffff, 0}},
		{TIPC_DEST_DROPPABLE, {1, 0, 2, 0xffffffff, 0}},
		{TIPC_CONN_TIMEOUT, {0, 1, 65535, 70000, 0xffffffff}},
		{TIPC_NODELAY, {1, 0, 2, 1, 0}},
	};
	int s = Socket(type);
	for (size_t i = 0; i < COUNT(table); i++)
		for (size_t k = 0; k < COUNT(table[i].values); k++) {
			Set(s, SOL_TIPC, table[i].option, table[i].values[k]);
			Get(s, SOL_TIPC, table[i].option);
		}
	Close(s);
}

static void sizes(int type)
{
	static const unsigned char zeroes[64];
	static const socklen_t lengths[] = {0, 1, 3, 8, 16, 20};
	int s = Socket(type);
	for (size_t i = 0; i < COUNT(all) - 2; i++)
		for (size_t k = 0; k < COUNT(lengths); k++) {
			if (all[i] == TIPC_GROUP_JOIN && lengths[k] >= 16)
				continue; /* section group */
			Set_raw(s, SOL_TIPC, all[i], zeroes, lengths[k]);
		}
	for (size_t i = 0; i < COUNT(all) - 2; i++)
		for (size_t k = 0; k < 4; k++)
			Get_raw(s, SOL_TIPC, all[i], lengths[k]);
	Close(s);
}

static void without_value(int type)
{
	int s = Socket(type);
	for (size_t i = 0; i < COUNT(all); i++)
		Set(s, SOL_TIPC, all[i] == TIPC_GROUP_JOIN ? 140 : all[i], 1);
	Set_raw(s, SOL_TIPC, TIPC_MCAST_BROADCAST, NULL, 0);
	Set_raw(s, SOL_TIPC, TIPC_MCAST_REPLICAST, NULL, 0);
	Set_raw(s, SOL_TIPC, TIPC_GROUP_LEAVE, NULL, 0);
	Set_raw(s, SOL_TIPC, TIPC_IMPORTANCE, NULL, 0);
	Close(s);
}

static void other_levels(int type)
{
	static const int levels[] = {0, 6, 17, 41, 132, 270, 272, 281};
	int s = Socket(type);
	for (size_t i = 0; i < COUNT(levels); i++) {
		Set(s, levels[i], 1, 1);
		Get(s, levels[i], 1);
	}
	Close(s);
}

/* What the receive queue has. */
static void queue(void)
{
	int s = Socket(SOCK_RDM), c = Socket(SOCK_RDM);
	Get(s, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH);
	Bind(s, service(OPTION_TYPE, 1));
	for (int i = 0; i < 5; i++)
		Sendto(c, "queued", 0, service(OPTION_TYPE, 1));
	Get(s, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH);
	Recv(s, 10, MSG_PEEK);
	Get(s, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH);
	Recv(s, 10, 0);
	Get(s, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH);
	Get(s, SOL_TIPC, TIPC_SOCK_RECVQ_USED);
	Get(s, SOL_TIPC, TIPC_NODE_RECVQ_DEPTH);
	Drain(s);
	Get(s, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH);
	Get(s, SOL_TIPC, TIPC_SOCK_RECVQ_USED);
	for (size_t i = 0; i < COUNT(connected); i++) {
		int b, a = Socketpair(connected[i], &b);
		Send(a, "one", 0);
		Send(a, "two", 0);
		Get(b, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH);
		Get(a, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH);
		Recv(b, 2, 0);
		Get(b, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH);
		Recv(b, 10, 0);
		Get(b, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH);
	}
}

/* What an accepted socket and its client have of the options set before. */
static void inherited(void)
{
	static const int kept[] = {TIPC_IMPORTANCE, TIPC_SRC_DROPPABLE, TIPC_DEST_DROPPABLE, TIPC_CONN_TIMEOUT};
	for (size_t i = 0; i < COUNT(connected); i++) {
		address a = service(OPTION_TYPE + 1, (uint32_t)i);
		int l = Listener(connected[i], a);
		Set(l, SOL_TIPC, TIPC_IMPORTANCE, 1);
		Set(l, SOL_TIPC, TIPC_DEST_DROPPABLE, 1);
		Set(l, SOL_TIPC, TIPC_CONN_TIMEOUT, 1234);
		Set(l, SOL_SOCKET, SO_RCVBUF, 100000);
		Set_time(l, SO_RCVTIMEO, 50);
		int c = Socket(connected[i] | SOCK_NONBLOCK);
		Set(c, SOL_TIPC, TIPC_IMPORTANCE, 2);
		Set(c, SOL_TIPC, TIPC_CONN_TIMEOUT, 4321);
		Connect(c, a);
		Wait(l, POLLIN);
		int n = Accept(l);
		Wait(c, POLLOUT);
		int both[] = {n, c};
		for (size_t k = 0; k < COUNT(both); k++) {
			for (size_t j = 0; j < COUNT(kept); j++)
				Get(both[k], SOL_TIPC, kept[j]);
			Get(both[k], SOL_SOCKET, SO_RCVBUF);
			Get_raw(both[k], SOL_SOCKET, SO_RCVTIMEO, 16);
			Get(both[k], SOL_SOCKET, SO_ACCEPTCONN);
			Get(both[k], SOL_SOCKET, SO_ERROR);
		}
		Get(l, SOL_SOCKET, SO_ACCEPTCONN);
		Set(n, SOL_TIPC, TIPC_IMPORTANCE, 0);
		Get(c, SOL_TIPC, TIPC_IMPORTANCE);
	}
}

void option_section(void)
{
	for (size_t i = 0; i < COUNT(types); i++) {
		note("type %s", type_text(types[i]));
		defaults(types[i]);
		settable(types[i]);
		without_value(types[i]);
		other_levels(types[i]);
	}
	note("sizes");
	sizes(SOCK_RDM);
	sizes(SOCK_STREAM);
	note("the receive queue");
	queue();
	note("inherited options");
	inherited();
}

void socket_option_section(void)
{
	static const int gets[] = {
		SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ERROR, SO_ACCEPTCONN, SO_RCVBUF, SO_SNDBUF, SO_RCVLOWAT, SO_SNDLOWAT,
		SO_REUSEADDR, SO_REUSEPORT, SO_KEEPALIVE, SO_BROADCAST, SO_PRIORITY, SO_OOBINLINE, SO_DONTROUTE, SO_TIMESTAMP,
		SO_PASSCRED, SO_PEEK_OFF, SO_DEBUG, SO_BSDCOMPAT, SO_PEERNAME, SO_ZEROCOPY, SO_RXQ_OVFL, SO_MARK, 255,
	};
	for (size_t i = 0; i < COUNT(types); i++) {
		note("type %s", type_text(types[i]));
		int s = Socket(types[i]);
		for (size_t k = 0; k < COUNT(gets); k++)
			Get(s, SOL_SOCKET, gets[k]);
		Get_raw(s, SOL_SOCKET, SO_LINGER, 8);
		Get_raw(s, SOL_SOCKET, SO_RCVTIMEO, 16);
		Get_raw(s, SOL_SOCKET, SO_SNDTIMEO, 16);
		static const int sets[] = {
			SO_RCVBUF, SO_SNDBUF, SO_RCVLOWAT, SO_SNDLOWAT, SO_REUSEADDR, SO_REUSEPORT, SO_KEEPALIVE, SO_BROADCAST, SO_PRIORITY,
			SO_OOBINLINE, SO_DONTROUTE, SO_TIMESTAMP, SO_PASSCRED, SO_PEEK_OFF, SO_TYPE, SO_ERROR, SO_ACCEPTCONN, SO_ZEROCOPY, 255,
		};
		for (size_t k = 0; k < COUNT(sets); k++) {
			Set(s, SOL_SOCKET, sets[k], 1);
			Get(s, SOL_SOCKET, sets[k]);
		}
		Set(s, SOL_SOCKET, SO_RCVBUF, 100000);
		Get(s, SOL_SOCKET, SO_RCVBUF);
		Set(s, SOL_SOCKET, SO_RCVLOWAT, 0);
		Get(s, SOL_SOCKET, SO_RCVLOWAT);
		Set_time(s, SO_RCVTIMEO, 20);
		Get_raw(s, SOL_SOCKET, SO_RCVTIMEO, 16);
		Get_raw(s, SOL_SOCKET, SO_RCVTIMEO, 8);
		Set(s, SOL_SOCKET, SO_RCVTIMEO, 1);
		static const struct linger linger = {1, 5};
		Set_raw(s, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
		Get_raw(s, SOL_SOCKET, SO_LINGER, sizeof linger);
		Set_raw(s, SOL_SOCKET, SO_REUSEADDR, &linger, 1);
		Get_raw(s, SOL_SOCKET, SO_TYPE, 1);
		Get_raw(s, SOL_SOCKET, SO_TYPE, 0);
		Get_raw(s, SOL_SOCKET, SO_TYPE, 16);
		Close(s);
	}
	note("a receive with a limit of time");
	for (size_t i = 0; i < COUNT(datagram); i++) {
		int s = Socket(datagram[i]);
		Set_time(s, SO_RCVTIMEO, 20);
		Recv(s, 10, 0);
		Recvmsg(s, 10, 0, 100);
		Read(s, 10);
	}
	for (size_t i = 0; i < COUNT(connected); i++) {
		int b, a = Socketpair(connected[i], &b);
		Set_time(a, SO_RCVTIMEO, 20);
		Recv(a, 10, 0);
		int l = Listener(connected[i], service(OPTION_TYPE + 2, (uint32_t)i));
		Set_time(l, SO_RCVTIMEO, 20);
		Accept(l);
	}
}
