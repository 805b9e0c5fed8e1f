/* SPDX-License-Identifier: Apache-2.0 */

/* Connects that are refused. */
#include "sections.h"

static void after(int c, address a)
{
	Ready(c);
	Get(c, SOL_SOCKET, SO_ERROR);
	Get(c, SOL_SOCKET, SO_ERROR);
	Connect(c, a);
	Send(c, "x", MSG_DONTWAIT);
	Recv(c, 10, MSG_DONTWAIT);
	Recv(c, 10, MSG_DONTWAIT);
	Recvmsg(c, 10, MSG_DONTWAIT, 4096);
	Getpeername(c);
	Listen(c, 1);
	Bind(c, service(REFUSE_TYPE + 9, 1));
	Shutdown(c, SHUT_RDWR);
	Ready(c);
	Close(c);
}

static void refused(int type)
{
	int s = Socket(type);
	address bound = service(REFUSE_TYPE, (uint32_t)type);
	Bind(s, bound);
	address nobody = port_at(1234567, own_node());
	address to[] = {bound, own_address(s), nobody};
	for (size_t i = 0; i < COUNT(to); i++) {
		note("a blocking connect");
		int c = Socket(type);
		Connect(c, to[i]);
		after(c, to[i]);
		note("a connect that does not block");
		c = Socket(type | SOCK_NONBLOCK);
		Connect(c, to[i]);
		Wait(c, POLLHUP);
		after(c, to[i]);
		note("read without asking for the error");
		c = Socket(type | SOCK_NONBLOCK);
		Connect(c, to[i]);
		Wait(c, POLLHUP);
		Recv(c, 10, 0);
		Recv(c, 10, 0);
		Send(c, "x", 0);
		Get(c, SOL_SOCKET, SO_ERROR);
		Close(c);
		note("read with ancillary data");
		c = Socket(type | SOCK_NONBLOCK);
		Sendto(c, "returned", 0, to[i]);
		Wait(c, POLLHUP);
		Recvmsg(c, 10, 0, 4096);
		Recvmsg(c, 10, 0, 4096);
		Recvmsg(c, 10, 0, 4096);
		Close(c);
		note("connect again asks");
		c = Socket(type | SOCK_NONBLOCK);
		Connect(c, to[i]);
		Wait(c, POLLHUP);
		Connect(c, to[i]);
		Connect(c, to[i]);
		Close(c);
		note("a send that asks for a connection");
		c = Socket(type);
		Sendto(c, "x", 0, to[i]);
		after(c, to[i]);
	}
	Close(s);
}

/* A listener that is closed, or shut down, with requests waiting. */
static void listener_closed(int type)
{
	address a = service(REFUSE_TYPE + 1, (uint32_t)type);
	int l = Listener(type, a), c[3];
	for (int i = 0; i < 2; i++) {
		c[i] = Socket(type | SOCK_NONBLOCK);
		Connect(c[i], a);
	}
	c[2] = Socket(type | SOCK_NONBLOCK);
	Sendto(c[2], "with data", 0, a);
	Close(l);
	for (int i = 0; i < 3; i++) {
		Wait(c[i], POLLHUP);
		Recvmsg(c[i], 100, 0, i == 0 ? 0 : 4096);
		Recvmsg(c[i], 100, 0, 4096);
		Close(c[i]);
	}
	note("shut down");
	l = Listener(type, a);
	c[0] = Socket(type | SOCK_NONBLOCK);
	Connect(c[0], a);
	Shutdown(l, SHUT_RDWR);
	Ready(c[0]);
	Ready(l);
	Nonblock(l, true);
	Accept(l);
	Close(c[0]);
	c[0] = Socket(type | SOCK_NONBLOCK);
	Connect(c[0], a);
	int n = Accept(l);
	Ready(c[0]);
	Close(n);
	Close(c[0]);
	Close(l);
}

void refuse_section(void)
{
	for (size_t i = 0; i < COUNT(connected); i++) {
		note("type %s", type_text(connected[i]));
		refused(connected[i]);
		listener_closed(connected[i]);
	}
}
