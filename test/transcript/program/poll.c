/* SPDX-License-Identifier: Apache-2.0 */

/* Readiness at each point, by poll, select and epoll, and edges. */
#include "sections.h"

static void asked(int fd, unsigned events)
{
	struct pollfd p = {.fd = fd, .events = (short)events};
	begin("poll(%s, %s)", name(fd), events_text(events));
	int r = poll(&p, 1, 0);
	result(r);
	add(" %s", events_text((unsigned short)p.revents));
	end();
}

static const unsigned each[] = {0, POLLIN, POLLOUT, POLLRDNORM, POLLRDHUP, POLLPRI, POLLRDBAND, POLLWRNORM, POLLWRBAND};

static void all(int fd)
{
	for (size_t i = 0; i < COUNT(each); i++)
		asked(fd, each[i]);
}

static void states(int type)
{
	address a = service(POLL_TYPE, (uint32_t)type);
	int l = Socket(type);
	note("open");
	all(l);
	Bind(l, a);
	Ready(l);
	note("listening");
	Listen(l, 1);
	all(l);
	int c = Socket(type | SOCK_NONBLOCK);
	Connect(c, a);
	note("connecting");
	all(c);
	all(l);
	int n = Accept(l);
	note("connected");
	Wait(c, POLLOUT);
	all(c);
	all(n);
	Send(c, "x", 0);
	all(n);
	note("ended");
	Shutdown(c, SHUT_RDWR);
	all(c);
	Wait(n, POLLHUP);
	all(n);
	Drain(n);
	all(n);
	Close(n);
	Close(c);
	Close(l);
}

/* What epoll tells of edges. */
static void edge(int ep, int fd)
{
	struct epoll_event e[4];
	begin("epoll_wait(%s)", name(fd));
	int n = epoll_wait(ep, e, 4, 0);
	result(n);
	for (int i = 0; i < n; i++)
		add(" %s", events_text(e[i].events));
	end();
}

static int watch(int fd, unsigned events, const char *what)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e = {.events = events};
	begin("epoll_ctl(%s, ADD %s)", name(fd), what);
	finish(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
	return ep;
}

static void edges(void)
{
	note("edges of a datagram socket");
	int s = Socket(SOCK_RDM), c = Socket(SOCK_RDM);
	address a = own_address(s);
	int ep = watch(s, EPOLLIN | EPOLLET, "IN, edges");
	edge(ep, s);
	Sendto(c, "one", 0, a);
	edge(ep, s);
	edge(ep, s);
	Sendto(c, "two", 0, a);
	edge(ep, s);
	Recv(s, 10, 0);
	edge(ep, s);
	Recv(s, 10, 0);
	Sendto(c, "three", 0, a);
	edge(ep, s);
	close(ep);
	note("edges of a connection");
	int l = Listener(SOCK_STREAM, service(POLL_TYPE + 1, 1));
	int lp = watch(l, EPOLLIN | EPOLLET, "IN, edges");
	edge(lp, l);
	int k = Socket(SOCK_STREAM | SOCK_NONBLOCK);
	ep = watch(k, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, "IN OUT RDHUP, edges");
	edge(ep, k);
	Connect(k, service(POLL_TYPE + 1, 1));
	edge(ep, k);
	edge(lp, l);
	edge(lp, l);
	int n = Accept(l);
	Wait(k, POLLOUT);
	edge(ep, k);
	edge(ep, k);
	Send(n, "data", 0);
	edge(ep, k);
	edge(ep, k);
	Recv(k, 2, 0);
	edge(ep, k);
	Send(n, "more", 0);
	edge(ep, k);
	Recv(k, 100, 0);
	Shutdown(n, SHUT_RDWR);
	edge(ep, k);
	edge(ep, k);
	Close(k);
	edge(ep, k);
	note("one shot");
	int second, first = Socketpair(SOCK_SEQPACKET, &second);
	ep = watch(first, EPOLLIN | EPOLLONESHOT, "IN, one shot");
	Send(second, "one", 0);
	edge(ep, first);
	Send(second, "two", 0);
	edge(ep, first);
	struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT};
	begin("epoll_ctl(%s, MOD)", name(first));
	finish(epoll_ctl(ep, EPOLL_CTL_MOD, first, &e));
	edge(ep, first);
}

static void waits(void *argument)
{
	const int *fd = argument;
	Wait(*fd, POLLIN);
	Turn();
	Wait(*fd, POLLHUP);
}

static void woken(void)
{
	note("a process that waits in poll is woken");
	int b, a = Socketpair(SOCK_STREAM, &b);
	actor waiter = Start("waiter", waits, &a);
	Send(b, "data", 0);
	Let(&waiter, 2);
	Recv(a, 10, 0);
	Close(b);
	/* The waiter has the other end, too: it is open until that closes it. */
	Ready(a);
	Shutdown(a, SHUT_RDWR);
	Let(&waiter, 1);
	Finish(&waiter);
}

void poll_section(void)
{
	for (size_t i = 0; i < COUNT(connected); i++) {
		note("type %s", type_text(connected[i]));
		states(connected[i]);
	}
	for (size_t i = 0; i < COUNT(datagram); i++) {
		note("type %s", type_text(datagram[i]));
		int s = Socket(datagram[i]);
		all(s);
		Sendto(s, "x", 0, own_address(s));
		all(s);
		Shutdown(s, SHUT_RDWR);
		all(s);
		Drain(s);
		all(s);
		Close(s);
	}
	edges();
	woken();
}
