/* SPDX-License-Identifier: Apache-2.0 */

/* Connections with calls that wait: two processes. */
#include "sections.h"

static void blocking_client(void *argument)
{
	const int *type = argument;
	int s = Socket(*type);
	patient(s);
	Connect(s, service(CONNECT_TYPE, (uint32_t)*type));
	Getpeername(s);
	Ready(s);
	Send(s, "request", 0);
	Recvmsg(s, 100, 0, 4096);
	Recvmsg(s, 100, 0, 4096);
	Ready(s);
	Close(s);
}

static void blocking(int type)
{
	int l = Listener(type, service(CONNECT_TYPE, (uint32_t)type));
	Ready(l);
	actor client = Start("client", blocking_client, &type);
	Let(&client, 1); /* socket */
	Wait(l, POLLIN);
	Ready(l);
	int n = Accept4(l, 0, 16);
	Ready(l);
	Let(&client, 4); /* connect, getpeername, ready, send */
	Recvmsg(n, 100, 0, 4096);
	Ready(n);
	Send(n, "answer", 0);
	Let(&client, 1);
	Shutdown(n, SHUT_RDWR);
	Let(&client, 3);
	Finish(&client);
	Ready(n);
	Close(n);
	Close(l);
}

/* A send to an address on an unconnected socket asks for a connection, and has data. */
static void implied_client(void *argument)
{
	const int *type = argument;
	int s = Socket(*type);
	Sendto(s, "first", 0, service(CONNECT_TYPE + 1, (uint32_t)*type));
	Getpeername(s);
	Ready(s);
	Send(s, "second", 0);
	Recv(s, 100, 0);
	Close(s);
}

static void implied(int type)
{
	int l = Listener(type, service(CONNECT_TYPE + 1, (uint32_t)type));
	actor client = Start("client", implied_client, &type);
	Let(&client, 1);
	Wait(l, POLLIN);
	int n = Accept(l);
	Ready(n);
	Recvmsg(n, 100, 0, 4096);
	Let(&client, 4);
	Recvmsg(n, 100, 0, 4096);
	Ready(n);
	Send(n, "bye", 0);
	Let(&client, 2);
	Finish(&client);
	Ready(n);
	Recv(n, 100, MSG_DONTWAIT);
	Close(n);
	Close(l);
}

static void waiting_acceptor(void *argument)
{
	const int *l = argument;
	int n = Accept4(*l, SOCK_CLOEXEC, 16);
	Fcntl(n, F_GETFD, "F_GETFD");
	Recv(n, 100, 0);
	Send(n, "served", 0);
	Close(n);
	Accept(*l);
}

/* accept waits in another process, which has the listener from this one. */
static void waiting(int type)
{
	address a = service(CONNECT_TYPE + 2, (uint32_t)type);
	int l = Listener(type, a);
	actor server = Start("server", waiting_acceptor, &l);
	int s = Socket(type);
	patient(s);
	Connect(s, a);
	Let(&server, 2);
	Send(s, "request", 0);
	Let(&server, 2);
	Recv(s, 100, 0);
	Let(&server, 1);
	Wait(s, POLLHUP);
	Recv(s, 100, MSG_DONTWAIT);
	Recv(s, 100, MSG_DONTWAIT);
	Send(s, "x", 0);
	Close(s);
	note("closed in one process, listening in the other");
	Close(l);
	s = Socket(type | SOCK_NONBLOCK);
	Connect(s, a);
	Let(&server, 1);
	Finish(&server);
	Wait(s, POLLHUP);
	Close(s);
}

/* By which addresses a listener can be reached. */
static void addresses(int type)
{
	static const char *const ways[] = {"by service", "by service at this node", "by socket", "by socket at node 0"};
	address a = service(CONNECT_TYPE + 3, (uint32_t)type);
	int l = Listener(type, range(CONNECT_TYPE + 3, 0, 10));
	address self = own_address(l);
	address to[] = {a, service_at(CONNECT_TYPE + 3, (uint32_t)type, own_node()), self, port_at(self.addr.id.ref, 0)};
	for (size_t i = 0; i < COUNT(to); i++) {
		int n, c;
		note("%s", ways[i]);
		c = Connected(type, l, to[i], &n);
		Getpeername(c);
		Send(c, "there", 0);
		Recvmsg(n, 100, MSG_DONTWAIT, 4096);
		Send(n, "back", 0);
		Recvmsg(c, 100, MSG_DONTWAIT, 4096);
		Close(n);
		Close(c);
	}
	note("a listener without a name");
	int bare = Socket(type), n;
	Listen(bare, 0);
	int c = Connected(type, bare, own_address(bare), &n);
	Close(n);
	Close(c);
	Close(bare);
	Close(l);
}

/* The backlog counts for nothing. */
static void backlog(int type)
{
	address a = service(CONNECT_TYPE + 4, (uint32_t)type);
	int l = Socket(type), c[5];
	Bind(l, a);
	Listen(l, 0);
	Listen(l, 1);
	Listen(l, -1);
	for (size_t i = 0; i < COUNT(c); i++) {
		c[i] = Socket(type | SOCK_NONBLOCK);
		Connect(c[i], a);
	}
	for (size_t i = 0; i < COUNT(c); i++)
		Accept4(l, SOCK_NONBLOCK, 16);
	Ready(l);
	Nonblock(l, true);
	Accept(l);
	for (size_t i = 0; i < COUNT(c); i++)
		Ready(c[i]);
}

static void wrong(int type)
{
	int s = Socket(type), other = Socket(type);
	note("wrong addresses");
	Connect(s, range(CONNECT_TYPE + 5, 1, 1));
	Connect(s, range(CONNECT_TYPE + 5, 2, 1));
	address a = service(CONNECT_TYPE + 5, 1);
	a.family = AF_INET;
	Connect(s, a);
	a.family = AF_UNSPEC;
	Connect(s, a);
	a = service(CONNECT_TYPE + 5, 1);
	a.addrtype = 0;
	Connect(s, a);
	a.addrtype = 4;
	Connect(s, a);
	a.addrtype = TIPC_SERVICE_ADDR;
	Connect_raw(s, &a, 15);
	Connect_raw(s, &a, 0);
	Connect(s, service(CONNECT_TYPE + 5, 1));
	Connect(s, service_at(CONNECT_TYPE + 5, 1, 0x01001ffe));
	Connect(s, port_at(1234567, 0x01001ffe));
	Ready(s);
	note("in wrong states");
	Accept(s);
	Bind(s, service(CONNECT_TYPE + 5, 2));
	Connect(s, service(CONNECT_TYPE + 5, 2));
	Connect(s, own_address(other));
	Listen(s, 1);
	Listen(s, 1);
	Connect(s, service(CONNECT_TYPE + 5, 2));
	Send(s, "x", 0);
	Sendto(s, "x", 0, service(CONNECT_TYPE + 5, 2));
	Sendto(s, "x", MSG_DONTWAIT, own_address(other));
	Recv(s, 10, MSG_DONTWAIT);
	Getpeername(s);
	Ready(s);
	Shutdown(s, SHUT_RDWR);
	Ready(s);
	Close(s);
	note("to itself");
	Set(other, SOL_TIPC, TIPC_CONN_TIMEOUT, 30);
	Connect(other, own_address(other));
	Ready(other);
	Close(other);
	note("connected");
	int l = Listener(type, service(CONNECT_TYPE + 5, 3)), n;
	int c = Connected(type, l, service(CONNECT_TYPE + 5, 3), &n);
	Connect(c, service(CONNECT_TYPE + 5, 3));
	Connect(n, service(CONNECT_TYPE + 5, 3));
	Listen(c, 1);
	Listen(n, 1);
	Accept(c);
	Sendto(c, "with an address", 0, service(CONNECT_TYPE + 5, 99));
	Recv(n, 100, MSG_DONTWAIT);
	address none = {.family = AF_UNSPEC};
	Connect(c, none);
	Getpeername(c);
	note("disconnected");
	Close(n);
	Wait(c, POLLHUP);
	Connect(c, service(CONNECT_TYPE + 5, 3));
	Listen(c, 1);
	Accept(c);
	Bind(c, service(CONNECT_TYPE + 5, 4));
	Close(c);
	Close(l);
	note("a socket of the other connected type");
	int t = type == SOCK_STREAM ? SOCK_SEQPACKET : SOCK_STREAM;
	l = Listener(t, service(CONNECT_TYPE + 6, (uint32_t)type));
	c = Connected(type, l, service(CONNECT_TYPE + 6, (uint32_t)type), &n);
	Get(n, SOL_SOCKET, SO_TYPE);
	Send(c, "one", 0);
	Send(c, "two", 0);
	Recv(n, 100, MSG_DONTWAIT);
	Recv(n, 100, MSG_DONTWAIT);
	Send(n, "three", 0);
	Send(n, "four", 0);
	Recv(c, 100, MSG_DONTWAIT);
	Recv(c, 100, MSG_DONTWAIT);
}

/* Which of two listeners, in turn. */
static void several(void)
{
	address a = service(CONNECT_TYPE + 7, 1);
	int first = Listener(SOCK_SEQPACKET, a), second = Listener(SOCK_SEQPACKET, a);
	for (int i = 0; i < 4; i++) {
		int c = Socket(SOCK_SEQPACKET | SOCK_NONBLOCK);
		Connect(c, a);
		Ready(first);
		Ready(second);
		struct pollfd p = {.fd = first, .events = POLLIN};
		Accept(poll(&p, 1, 0) == 1 ? first : second);
		Wait(c, POLLOUT);
	}
}

void connect_section(void)
{
	for (size_t i = 0; i < COUNT(connected); i++) {
		note("type %s", type_text(connected[i]));
		blocking(connected[i]);
		implied(connected[i]);
		waiting(connected[i]);
		addresses(connected[i]);
		backlog(connected[i]);
		wrong(connected[i]);
	}
	several();
}
