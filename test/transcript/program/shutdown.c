/* SPDX-License-Identifier: Apache-2.0 */

/* The end of connections. */
#include "sections.h"

static void ended(int s)
{
	Ready(s);
	Send(s, "x", 0);
	Sendto(s, "x", 0, service(SHUTDOWN_TYPE, 1));
	Recv(s, 100, MSG_DONTWAIT);
	Recv(s, 100, MSG_DONTWAIT);
	Recvmsg(s, 100, MSG_DONTWAIT, 4096);
	Getpeername(s);
	Get(s, SOL_SOCKET, SO_ERROR);
	Connect(s, service(SHUTDOWN_TYPE, 1));
	Shutdown(s, SHUT_RDWR);
	Shutdown(s, SHUT_RD);
	Ready(s);
}

static void each(int type)
{
	address a = service(SHUTDOWN_TYPE, 1);
	int l = Listener(type, a), n, c;
	note("how");
	c = Connected(type, l, a, &n);
	Shutdown(c, SHUT_RD);
	Shutdown(c, SHUT_WR);
	Shutdown(c, 3);
	Shutdown(c, -1);
	Send(c, "still", 0);
	Recv(n, 10, MSG_DONTWAIT);
	Ready(c);
	note("shut down, at this end");
	Shutdown(c, SHUT_RDWR);
	ended(c);
	Recv(c, 10, 0);
	note("and at the other");
	Wait(n, POLLHUP);
	ended(n);
	Close(n);
	Close(c);
	note("data before the end");
	c = Connected(type, l, a, &n);
	Send(c, "data", 0);
	Shutdown(c, SHUT_RDWR);
	Wait(n, POLLHUP);
	Ready(n);
	Send(n, "x", 0);
	Recvmsg(n, 100, 0, 4096);
	Ready(n);
	Recvmsg(n, 100, 0, 4096);
	Recvmsg(n, 100, MSG_DONTWAIT, 4096);
	Ready(n);
	Close(n);
	Close(c);
	note("unread data at the end that shuts down");
	c = Connected(type, l, a, &n);
	Send(n, "unread", 0);
	Send(n, "as well", 0);
	Shutdown(c, SHUT_RDWR);
	Recv(c, 100, MSG_DONTWAIT);
	Recv(c, 100, 0);
	Wait(n, POLLHUP);
	Recvmsg(n, 100, 0, 4096);
	Recvmsg(n, 100, MSG_DONTWAIT, 4096);
	Close(n);
	Close(c);
	note("both shut down");
	c = Connected(type, l, a, &n);
	Shutdown(c, SHUT_RDWR);
	Shutdown(n, SHUT_RDWR);
	Recv(c, 100, MSG_DONTWAIT);
	Recv(n, 100, MSG_DONTWAIT);
	Ready(c);
	Ready(n);
	Close(c);
	Close(n);
	note("closed");
	c = Connected(type, l, a, &n);
	Close(c);
	Wait(n, POLLHUP);
	ended(n);
	Close(n);
	note("closed, read with ancillary data first");
	c = Connected(type, l, a, &n);
	Close(c);
	Wait(n, POLLHUP);
	Recvmsg(n, 100, 0, 4096);
	Recvmsg(n, 100, MSG_DONTWAIT, 4096);
	Recv(n, 100, MSG_DONTWAIT);
	Close(n);
	note("SO_LINGER of 0");
	c = Connected(type, l, a, &n);
	static const struct linger linger = {1, 0};
	Set_raw(c, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
	Send(c, "data", 0);
	Close(c);
	Wait(n, POLLHUP);
	Drain(n);
	Close(n);
	note("while it connects");
	c = Socket(type | SOCK_NONBLOCK);
	Connect(c, a);
	Shutdown(c, SHUT_RD);
	Shutdown(c, SHUT_RDWR);
	ended(c);
	n = Accept(l);
	Ready(n);
	Drain(n);
	Close(n);
	Close(c);
	note("not connected");
	c = Socket(type);
	Shutdown(c, SHUT_WR);
	Shutdown(c, SHUT_RDWR);
	Ready(c);
	Recv(c, 10, MSG_DONTWAIT);
	Send(c, "x", 0);
	Nonblock(c, true);
	Connect(c, a);
	Ready(c);
	n = Accept(l);
	Wait(c, POLLIN);
	Send(c, "all the same", 0);
	Recv(n, 100, MSG_DONTWAIT);
	Send(n, "back", 0);
	Ready(c);
	Recv(c, 100, MSG_DONTWAIT);
	Close(n);
	Close(c);
	Close(l);
}

static void waiting_reader(void *argument)
{
	const int *fd = argument;
	Recv(*fd, 100, 0);
	Turn();
	Recv(*fd, 100, 0);
}

/* A reader that waits is woken by the end of its connection. */
static void wakes(int type)
{
	int b, a = Socketpair(type, &b);
	actor reader = Start("reader", waiting_reader, &a);
	Send(b, "data", 0);
	Let(&reader, 2);
	Shutdown(b, SHUT_RDWR);
	Let(&reader, 1);
	Finish(&reader);
	Close(a);
	Close(b);
	a = Socketpair(type, &b);
	reader = Start("reader", waiting_reader, &a);
	Send(b, "data", 0);
	Let(&reader, 2);
	Shutdown(a, SHUT_RDWR);
	Let(&reader, 1);
	Finish(&reader);
	Close(a);
	Close(b);
}

void shutdown_section(void)
{
	for (size_t i = 0; i < COUNT(connected); i++) {
		note("type %s", type_text(connected[i]));
		each(connected[i]);
		wakes(connected[i]);
	}
}
