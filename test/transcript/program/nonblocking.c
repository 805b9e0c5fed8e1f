/* SPDX-License-Identifier: Apache-2.0 */

/* Connections without calls that wait, and connects that time out. */
#include "sections.h"

static void in_progress(int type)
{
	address a = service(NONBLOCKING_TYPE, (uint32_t)type);
	int l = Listener(type, a);
	int c = Socket(type | SOCK_NONBLOCK);
	Nonblock(l, true);
	Accept(l);
	Connect(c, a);
	note("in progress");
	Ready(c);
	Ready(l);
	Connect(c, a);
	Connect(c, service(NONBLOCKING_TYPE, 99));
	Connect(c, range(NONBLOCKING_TYPE, 1, 2));
	Send(c, "x", 0);
	Sendto(c, "x", 0, a);
	Recv(c, 10, 0);
	Recvmsg(c, 10, 0, 4096);
	Getpeername(c);
	Getsockname(c);
	Get(c, SOL_SOCKET, SO_ERROR);
	Listen(c, 1);
	Accept(c);
	int n = Accept(l);
	note("accepted");
	Wait(c, POLLOUT);
	Ready(c);
	Ready(n);
	Get(c, SOL_SOCKET, SO_ERROR);
	Connect(c, a);
	Getpeername(c);
	Recv(c, 10, 0);
	Send(c, "x", 0);
	Recv(n, 10, MSG_DONTWAIT);
	Recv(n, 10, MSG_DONTWAIT);
	Close(n);
	Close(c);
	Close(l);
}

static void implied(int type)
{
	address a = service(NONBLOCKING_TYPE + 1, (uint32_t)type);
	int l = Listener(type, a);
	int c = Socket(type);
	note("a send that asks for a connection");
	Sendto(c, "first", MSG_DONTWAIT, a);
	Ready(c);
	Send(c, "second", MSG_DONTWAIT);
	Sendto(c, "second", MSG_DONTWAIT, a);
	Nonblock(c, true);
	Connect(c, a);
	int n = Accept(l);
	Wait(c, POLLOUT);
	Send(c, "third", MSG_DONTWAIT);
	Drain(n);
	Close(n);
	Close(c);
	note("with wrong addresses and lengths");
	c = Socket(type | SOCK_NONBLOCK);
	Sendto(c, "x", 0, service(NONBLOCKING_TYPE + 1, 99));
	Sendto(c, "x", 0, service(0, 0));
	Send(c, "x", 0);
	Sendto_data(c, LONGEST + 1, 0, a);
	Ready(c);
	Sendto_data(c, LONGEST, 0, a);
	Ready(l);
	Close(c);
	note("the client is gone before accept");
	n = Accept(l);
	Await_end(n);
	Ready(n);
	Recvfrom(n, LONGEST, MSG_DONTWAIT);
	Recvfrom(n, 10, MSG_DONTWAIT);
	Send(n, "x", 0);
	Getpeername(n);
	Close(n);
	c = Socket(type | SOCK_NONBLOCK);
	Sendto_data(c, 0, 0, a);
	Ready(c);
	n = Accept(l);
	Wait(c, POLLOUT);
	Ready(n);
	Recv(n, 10, MSG_DONTWAIT);
	Close(n);
	Close(c);
	Close(l);
}

static void timed_out(int type)
{
	address a = service(NONBLOCKING_TYPE + 2, (uint32_t)type);
	int l = Listener(type, a);
	int c = Socket(type);
	note("nobody accepts in time");
	Set(c, SOL_TIPC, TIPC_CONN_TIMEOUT, 30);
	Connect(c, a);
	Ready(c);
	Get(c, SOL_SOCKET, SO_ERROR);
	Connect(c, a);
	Send(c, "x", 0);
	Recv(c, 10, MSG_DONTWAIT);
	note("then accepted all the same");
	int n = Accept(l);
	Wait(c, POLLOUT);
	Connect(c, a);
	Send(c, "late", 0);
	Recv(n, 10, MSG_DONTWAIT);
	Close(c);
	Close(n);
	note("a send that asks for a connection");
	c = Socket(type);
	Set(c, SOL_TIPC, TIPC_CONN_TIMEOUT, 30);
	Set_time(c, SO_SNDTIMEO, 50); /* This one counts. */
	Sendto(c, "x", 0, a);
	Ready(c);
	note("closed before accept");
	Close(c);
	n = Accept(l);
	Await_end(n);
	Drain(n);
	Ready(n);
	Close(n);
	Close(l);
	note("a socket that does not listen");
	int s = Socket(SOCK_RDM);
	c = Socket(type);
	Set(c, SOL_TIPC, TIPC_CONN_TIMEOUT, 30);
	Connect(c, own_address(s));
	Drain(s);
	Close(c);
	Close(s);
}

void nonblocking_section(void)
{
	for (size_t i = 0; i < COUNT(connected); i++) {
		note("type %s", type_text(connected[i]));
		in_progress(connected[i]);
		implied(connected[i]);
		timed_out(connected[i]);
	}
}
