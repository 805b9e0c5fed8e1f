/* SPDX-License-Identifier: Apache-2.0 */

/* bind, and unbind by a negative scope. */
#include "sections.h"

static void addresses(int type)
{
	int s = Socket(type);
	address a = service(BIND_TYPE, 1);
	note("lengths");
	for (socklen_t n = 1; n < 16; n += 7)
		Bind_raw(s, &a, n);
	address longer[2] = {a, a};
	Bind_raw(s, longer, 17);
	Bind_raw(s, longer, 32);
	note("families and kinds of addresses");
	static const int families[] = {AF_UNSPEC, AF_UNIX, AF_INET};
	for (size_t i = 0; i < COUNT(families); i++) {
		address b = a;
		b.family = (unsigned short)families[i];
		Bind(s, b);
	}
	for (int t = 0; t < 6; t++) {
		address b = a;
		b.addrtype = (unsigned char)t;
		if (t == TIPC_SOCKET_ADDR)
			b = own_address(s);
		if (t == TIPC_SERVICE_RANGE)
			b = range(BIND_TYPE, 2, 3);
		Bind(s, b);
	}
	note("service types");
	static const uint32_t reserved[] = {0, 1, 2, 3, 62, 63, 64, 65, 0xffffffff};
	for (size_t i = 0; i < COUNT(reserved); i++)
		Bind(s, service(reserved[i], 5));
	Bind(s, range(BIND_TYPE, 9, 8));
	Bind(s, range(0, 9, 8));
	Bind(s, range(BIND_TYPE, 0, 0xffffffff));
	Bind(s, range(BIND_TYPE, 0xffffffff, 0xffffffff));
	Bind(s, service_at(BIND_TYPE, 30, own_node()));
	Bind(s, service_at(BIND_TYPE, 31, 0x01001fff));
	note("scopes");
	static const int scopes[] = {0, 1, 2, 3, 4, 5, 100, 127};
	for (size_t i = 0; i < COUNT(scopes); i++)
		Bind(s, scoped(service(BIND_TYPE, 40), scopes[i]));
	Bind_raw(s, NULL, 0);
	Close(s);
}

static void unbind(void)
{
	int s = Socket(SOCK_RDM), other = Socket(SOCK_RDM);
	note("nothing is bound");
	Bind(s, scoped(service(BIND_TYPE, 1), -2));
	Bind(s, scoped(service(BIND_TYPE, 1), -3));
	Bind_raw(s, NULL, 0);
	note("one");
	Bind(s, scoped(service(BIND_TYPE, 1), 2));
	Sendto(other, "a", 0, service(BIND_TYPE, 1));
	Recv(s, 10, MSG_DONTWAIT);
	Bind(s, scoped(service(BIND_TYPE, 1), -3));
	Bind(s, scoped(service(BIND_TYPE, 2), -2));
	Bind(s, scoped(service(BIND_TYPE + 1, 1), -2));
	Sendto(other, "b", 0, service(BIND_TYPE, 1));
	Recv(s, 10, MSG_DONTWAIT);
	Bind(s, scoped(service(BIND_TYPE, 1), -2));
	Sendto(other, "c", 0, service(BIND_TYPE, 1));
	Bind(s, scoped(service(BIND_TYPE, 1), -2));
	note("twice the same");
	Bind(s, service(BIND_TYPE, 1));
	Bind(s, service(BIND_TYPE, 1));
	Bind(s, scoped(service(BIND_TYPE, 1), -1));
	Sendto(other, "d", 0, service(BIND_TYPE, 1));
	Recv(s, 10, MSG_DONTWAIT);
	Bind(s, scoped(service(BIND_TYPE, 1), -127));
	Sendto(other, "e", 0, service(BIND_TYPE, 1));
	note("the newest first");
	Bind(s, range(BIND_TYPE, 4, 5));
	Bind(s, range(BIND_TYPE, 4, 6));
	Bind(s, scoped(range(BIND_TYPE, 4, 5), -2));
	Bind(s, scoped(range(BIND_TYPE, 4, 6), -2));
	Bind(s, scoped(range(BIND_TYPE, 4, 5), -2));
	note("node and cluster");
	Bind(s, scoped(range(BIND_TYPE, 7, 7), 3));
	Bind(s, scoped(range(BIND_TYPE, 7, 7), 2));
	Bind(s, scoped(range(BIND_TYPE, 7, 7), -3));
	Sendto(other, "f", 0, service(BIND_TYPE, 7));
	Sendto(other, "g", 0, service_at(BIND_TYPE, 7, own_node()));
	Drain(s);
	Bind(s, scoped(range(BIND_TYPE, 7, 7), -3));
	Bind(s, scoped(range(BIND_TYPE, 7, 7), -2));
	note("a service address unbinds a range of one");
	Bind(s, range(BIND_TYPE, 8, 8));
	Bind(s, scoped(service(BIND_TYPE, 8), -2));
	note("all");
	for (uint32_t i = 10; i < 14; i++)
		Bind(s, scoped(service(BIND_TYPE, i), (int)(2 + i % 2)));
	Sendto(other, "h", 0, service(BIND_TYPE, 12));
	Bind_raw(s, NULL, 0);
	Sendto(other, "i", 0, service(BIND_TYPE, 12));
	Sendto(other, "j", 0, service(BIND_TYPE, 13));
	Drain(s);
	note("of another socket");
	Bind(other, service(BIND_TYPE, 20));
	Bind(s, service(BIND_TYPE, 21));
	Bind(s, scoped(service(BIND_TYPE, 20), -2));
	Close(other);
	Sendto(s, "k", 0, service(BIND_TYPE, 20));
	note("negative scope with wrong addresses");
	Bind(s, scoped(service(63, 20), -2));
	Bind(s, scoped(range(BIND_TYPE, 3, 2), -2));
	Bind(s, scoped(own_address(s), -2));
}

static void states(void)
{
	for (size_t i = 0; i < COUNT(connected); i++) {
		uint32_t type = BIND_TYPE + 10 + (uint32_t)i;
		int l = Socket(connected[i]);
		note("listening");
		Listen(l, 1);
		Bind(l, service(type, 1));
		Bind(l, scoped(service(type, 1), -2));
		Bind(l, service(type, 2));
		int c = Socket(connected[i] | SOCK_NONBLOCK);
		Connect(c, service(type, 2));
		note("connecting");
		Bind(c, service(type, 3));
		note("connected");
		Wait(l, POLLIN);
		int n = Accept(l);
		Wait(c, POLLOUT);
		Bind(c, service(type, 4));
		Bind(n, service(type, 4));
		Bind(c, scoped(service(type, 3), -2));
		Bind_raw(c, NULL, 0);
		note("disconnected");
		Shutdown(n, SHUT_RDWR);
		Bind(n, service(type, 5));
		Wait(c, POLLHUP);
		Bind(c, service(type, 6));
		Close(c);
		Close(n);
		Close(l);
	}
}

/* The name moves on among several sockets. */
static void several(void)
{
	int s[3], c = Socket(SOCK_RDM);
	for (size_t i = 0; i < COUNT(s); i++) {
		s[i] = Socket(SOCK_RDM);
		Bind(s[i], range(BIND_TYPE + 20, 1, 5));
	}
	for (int i = 0; i < 6; i++)
		Sendto(c, "turn", 0, service(BIND_TYPE + 20, 3));
	for (size_t i = 0; i < COUNT(s); i++)
		Drain(s[i]);
	Close(s[1]);
	for (int i = 0; i < 4; i++)
		Sendto(c, "turn", 0, service(BIND_TYPE + 20, 3));
	Drain(s[0]);
	Drain(s[2]);
}

void bind_section(void)
{
	for (size_t i = 0; i < COUNT(types); i++) {
		note("type %s", type_text(types[i]));
		addresses(types[i]);
	}
	unbind();
	states();
	several();
}
