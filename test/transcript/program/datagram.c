/* SPDX-License-Identifier: Apache-2.0 */

/* RDM and DGRAM. */
#include "sections.h"

static void destinations(int type)
{
	int s = Socket(type), c = Socket(type);
	address self = own_address(s);
	Bind(s, range(DATAGRAM_TYPE, 1, 10));
	note("by each kind of address");
	Sendto(c, "by service", 0, service(DATAGRAM_TYPE, 1));
	Recvmsg(s, 100, MSG_DONTWAIT, 4096);
	Sendto(c, "at the own node", 0, service_at(DATAGRAM_TYPE, 10, own_node()));
	Recvmsg(s, 100, MSG_DONTWAIT, 4096);
	Sendto(c, "by socket", 0, self);
	Recvmsg(s, 100, MSG_DONTWAIT, 4096);
	Sendto(c, "by socket, node 0", 0, port_at(self.addr.id.ref, 0));
	Recvmsg(s, 100, MSG_DONTWAIT, 4096);
	Sendto(c, "by range", 0, range(DATAGRAM_TYPE, 0, 20));
	Recvmsg(s, 100, MSG_DONTWAIT, 4096);
	Sendto(c, "to itself", 0, own_address(c));
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	note("scopes in an address to send to");
	static const int scopes[] = {1, 2, 3, -1, 100};
	for (size_t i = 0; i < COUNT(scopes); i++)
		Sendto(c, "scope", 0, scoped(service(DATAGRAM_TYPE, 2), scopes[i]));
	Drain(s);
	note("nobody there");
	Sendto(c, "x", 0, service(DATAGRAM_TYPE, 11));
	Sendto(c, "x", MSG_DONTWAIT, service(DATAGRAM_TYPE, 11));
	Sendto(c, "x", 0, service_at(DATAGRAM_TYPE, 11, own_node()));
	Sendto(c, "x", 0, service_at(DATAGRAM_TYPE, 1, 0x01001ffe));
	Sendto(c, "x", 0, range(DATAGRAM_TYPE, 11, 20));
	Sendto(c, "x", 0, port_at(1234567, own_node()));
	Sendto(c, "x", 0, port_at(1234567, 0));
	Sendto(c, "x", 0, port_at(0, own_node()));
	Sendto(c, "x", 0, port_at(1234567, 0x01001ffe));
	note("wrong addresses");
	Sendto(c, "x", 0, range(DATAGRAM_TYPE, 5, 4));
	for (int t = 0; t < 7; t++) {
		address a = service(DATAGRAM_TYPE, 1);
		a.addrtype = (unsigned char)(t == TIPC_SERVICE_RANGE || t == TIPC_SOCKET_ADDR ? 8 + t : t);
		Sendto(c, "x", 0, a);
	}
	address a = service(DATAGRAM_TYPE, 1);
	Sendto_raw(c, "x", 1, 0, &a, 0);
	Sendto_raw(c, "x", 1, 0, &a, 2);
	Sendto_raw(c, "x", 1, 0, &a, 15);
	address two[2] = {a, a};
	Sendto_raw(c, "x", 1, 0, two, 17);
	Sendto_raw(c, "x", 1, 0, two, 32);
	a.family = AF_UNSPEC;
	Sendto(c, "x", 0, a);
	a.family = AF_INET;
	Sendto(c, "x", 0, a);
	Sendto(c, "x", 0, service(0, 1));
	Sendto(c, "x", 0, service(63, 1));
	Drain(s);
	note("the topology server takes no datagrams");
	Sendto(c, "x", 0, service(TIPC_TOP_SRV, TIPC_TOP_SRV));
	Ready(c);
	note("without an address");
	Send(c, "x", 0);
	Write(c, "x");
	Close(c);
	Close(s);
}

static void stored(int type)
{
	int s = Socket(type), c = Socket(type);
	address none = {.family = AF_UNSPEC};
	Bind(s, range(DATAGRAM_TYPE + 1, 1, 10));
	note("a stored destination");
	Connect(c, service(DATAGRAM_TYPE + 1, 1));
	Getpeername(c);
	Send(c, "to the service", 0);
	Sendto(c, "to another", 0, service(DATAGRAM_TYPE + 1, 2));
	Write(c, "written");
	Drain(s);
	Connect(c, service(DATAGRAM_TYPE + 1, 77));
	Send(c, "x", 0);
	Connect(c, own_address(s));
	Send(c, "to the socket", 0);
	Connect(c, range(DATAGRAM_TYPE + 1, 3, 4));
	Send(c, "to the range", 0);
	Drain(s);
	note("connect with wrong addresses");
	Connect(c, range(DATAGRAM_TYPE + 1, 4, 3));
	address a = service(DATAGRAM_TYPE + 1, 1);
	a.addrtype = 9;
	Connect(c, a);
	a = service(DATAGRAM_TYPE + 1, 1);
	a.family = AF_INET;
	Connect(c, a);
	a.family = AF_TIPC;
	Connect_raw(c, &a, 2);
	Connect_raw(c, &a, 15);
	Connect_raw(c, &a, 0);
	address two[2] = {a, a};
	Connect_raw(c, two, 32);
	Send(c, "which", 0);
	Drain(s);
	note("forgotten");
	Connect(c, none);
	Send(c, "x", 0);
	Connect_raw(c, &none, 2);
	Ready(c);
	note("calls of other types");
	Listen(c, 1);
	Accept(c);
	Accept4(c, 0, 16);
	Shutdown(c, SHUT_RD);
	Shutdown(c, SHUT_WR);
	Shutdown(c, 3);
	Shutdown(c, -1);
	Ready(c);
	Shutdown(c, SHUT_RDWR);
	Ready(c);
	Sendto(c, "after shutdown", 0, service(DATAGRAM_TYPE + 1, 1));
	Drain(s);
	Sendto(s, "after shutdown", 0, own_address(c));
	Ready(c);
	Recv(c, 100, MSG_DONTWAIT);
	Recv(c, 100, MSG_DONTWAIT);
	Close(c);
	Close(s);
}

static void lengths(int type)
{
	static const size_t lengths[] = {0, 1, 63, 64, 65, 1000, 1024, 1428, 1500, 9000, 65000, 65999, LONGEST, LONGEST + 1, 70000, 1 << 20};
	int s = Socket(type), c = Socket(type);
	Bind(s, service(DATAGRAM_TYPE + 2, 1));
	for (size_t i = 0; i < COUNT(lengths); i++) {
		Sendto_data(c, lengths[i], 0, service(DATAGRAM_TYPE + 2, 1));
		Ready(s);
		Recvfrom(s, 70000, MSG_DONTWAIT);
	}
	note("many parts");
	address to = service(DATAGRAM_TYPE + 2, 1);
	Sendmsg(c, (const char *[]){"one", "", "two", " and three", NULL}, 0, &to);
	Sendmsg(c, (const char *[]){"", NULL}, 0, &to);
	Sendmsg(c, (const char *[]){NULL}, 0, &to);
	Sendmsg(c, (const char *[]){"no address", NULL}, 0, NULL);
	Drain(s);
	note("sendmmsg and recvmmsg");
	Sendmmsg(c, (const char *[]){"a", "bb", "ccc", "dddd", NULL}, 0, &to);
	Recvmmsg(s, 3, 3, MSG_DONTWAIT);
	Recvmmsg(s, 3, 3, MSG_DONTWAIT);
	Recvmmsg(s, 3, 3, MSG_DONTWAIT);
	Sendmmsg(c, (const char *[]){"a", "bb", NULL}, 0, NULL);
	Sendmmsg(c, (const char *[]){"1", "2", NULL}, MSG_DONTWAIT, &to);
	Recvmmsg(s, 3, 10, MSG_WAITFORONE);
	Close(c);
	Close(s);
}

/* The order in which it was sent, whatever the importance. */
static void importance(int type)
{
	int s = Socket(type), c = Socket(type);
	Bind(s, service(DATAGRAM_TYPE + 3, 1));
	for (uint32_t i = 0; i < 4; i++) {
		char text[] = "importance 0";
		text[11] = (char)('0' + i);
		Set(c, SOL_TIPC, TIPC_IMPORTANCE, i);
		Sendto(c, text, 0, service(DATAGRAM_TYPE + 3, 1));
	}
	Drain(s);
	Close(c);
	Close(s);
}

static void flags(int type)
{
	static const int flags[] = {
		MSG_OOB, MSG_DONTROUTE, MSG_EOR, MSG_CONFIRM, MSG_NOSIGNAL, MSG_MORE, MSG_DONTWAIT, MSG_TRUNC, MSG_PEEK, MSG_WAITALL, MSG_ERRQUEUE,
		MSG_CTRUNC, MSG_ZEROCOPY,
	};
	int s = Socket(type), c = Socket(type);
	Bind(s, service(DATAGRAM_TYPE + 4, 1));
	for (size_t i = 0; i < COUNT(flags); i++)
		Sendto(c, "flag", flags[i], service(DATAGRAM_TYPE + 4, 1));
	Drain(s);
	Close(c);
	Close(s);
}

/* Others may send to a socket of another of these types, and to connected ones in vain. */
static void mixed(void)
{
	for (size_t i = 0; i < COUNT(types); i++)
		for (size_t k = 0; k < COUNT(datagram); k++) {
			int s = Socket(types[i]), c = Socket(datagram[k]);
			Bind(s, service(DATAGRAM_TYPE + 5, 1));
			Set(c, SOL_TIPC, TIPC_DEST_DROPPABLE, 0);
			Sendto(c, "mixed", 0, service(DATAGRAM_TYPE + 5, 1));
			Recvmsg(s, 100, MSG_DONTWAIT, 4096);
			Recvmsg(c, 100, MSG_DONTWAIT, 4096);
			Close(c);
			Close(s);
		}
}

void datagram_section(void)
{
	for (size_t i = 0; i < COUNT(datagram); i++) {
		note("type %s", type_text(datagram[i]));
		destinations(datagram[i]);
		stored(datagram[i]);
		lengths(datagram[i]);
		importance(datagram[i]);
		flags(datagram[i]);
	}
	note("types mixed");
	mixed();
}
