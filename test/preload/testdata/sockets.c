// SPDX-License-Identifier: Apache-2.0
//
// A program for the kernel's TIPC: it prints each call that answers otherwise than a kernel, and
// where it is, then "all is well" if there was none.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/tipc.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static struct sockaddr_tipc service(unsigned type, unsigned instance)
{
	struct sockaddr_tipc a = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR, .scope = TIPC_CLUSTER_SCOPE };
	a.addr.name.name.type = type;
	a.addr.name.name.instance = instance;
	return a;
}

static int events(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT | POLLRDNORM };
	poll(&p, 1, timeout);
	return p.revents;
}

// by_epoll and by_select are what these report of a socket.
static unsigned by_epoll(int fd)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP, .data.u64 = 0x123456789abcdef }, got = { 0 };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	int n = epoll_wait(ep, &got, 1, 0);
	close(ep);
	return n == 1 ? got.events : 0;
}

static int by_select(int fd)
{
	fd_set r, w;
	FD_ZERO(&r);
	FD_SET(fd, &r);
	w = r;
	struct timeval at_once = { 0 };
	int n = select(fd + 1, &r, &w, NULL, &at_once);
	return n == FD_ISSET(fd, &r) + FD_ISSET(fd, &w) ? (FD_ISSET(fd, &r) ? POLLIN : 0) | (FD_ISSET(fd, &w) ? POLLOUT : 0) : -1;
}

// refused checks what a socket reads of its request, with data, that nobody takes.
static void refused(int kind, struct sockaddr_tipc to)
{
	struct sockaddr_tipc from = { 0 };
	char b[10], room[200];
	struct iovec v = { b, sizeof b };
	struct msghdr m = { .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
	int c = socket(AF_TIPC, kind, 0);
	IS(sendto(c, "back", 4, 0, (void *)&to, sizeof to), 4);
	IS(events(c, -1), POLLIN | POLLRDNORM | POLLHUP);
	IS(by_epoll(c), EPOLLIN | EPOLLHUP);
	IS(by_select(c), POLLIN);
	IS(recvmsg(c, &m, 0), 0);
	IS(from.addrtype, TIPC_SOCKET_ADDR);
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int types[] = { TIPC_ERRINFO, TIPC_RETDATA, TIPC_DESTNAME };
	for (int i = 0; i < 3; i++, h = h != NULL ? CMSG_NXTHDR(&m, h) : NULL) {
		IS(h != NULL ? h->cmsg_type : 0, types[i]);
		if (h != NULL && i == 1)
			IS(memcmp(CMSG_DATA(h), "back", 4), 0);
		if (h != NULL && i == 2)
			IS(((uint32_t *)(void *)CMSG_DATA(h))[1], to.addr.name.name.instance);
	}
	close(c);
}

static int option(int fd, int level, int name)
{
	int v = -1;
	socklen_t n = sizeof v;
	return getsockopt(fd, level, name, &v, &n) == 0 ? v : -1;
}

// accept_in forks a process that accepts a connection and echoes n messages, and ends it in order or not.
static pid_t accept_in(int l, int n, int orderly)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	char b[100];
	int s = accept(l, NULL, NULL);
	for (; n > 0; n--) {
		ssize_t k = recv(s, b, sizeof b, 0);
		if (k <= 0 || send(s, b, k, 0) != k)
			_exit(1);
	}
	if (orderly)
		shutdown(s, SHUT_RDWR);
	_exit(0);
}

static void ended(pid_t pid)
{
	int status;
	waitpid(pid, &status, 0);
	IS(status, 0);
}

// shut checks a socket that was shut down without a connection: it hangs up, and serves on.
static void shut(int kind)
{
	int s = socket(AF_TIPC, kind, 0);
	IS(events(s, 0) & (POLLIN | POLLHUP), 0);
	FAILS(shutdown(s, SHUT_RDWR), ENOTCONN);
	IS(events(s, -1) & (POLLIN | POLLHUP), POLLIN | POLLHUP);
	IS(by_epoll(s) & (EPOLLIN | EPOLLHUP), EPOLLIN | EPOLLHUP);
	IS(by_select(s), POLLIN | POLLOUT);
	close(s);
}

static void connections(int kind)
{
	struct sockaddr_tipc a = service(18888, 17), own, peer;
	socklen_t len = sizeof own;
	char b[100];
	int l = socket(AF_TIPC, kind, 0), c = socket(AF_TIPC, kind | SOCK_CLOEXEC, 0);
	IS(bind(l, (void *)&a, sizeof a), 0);
	IS(option(l, SOL_SOCKET, SO_ACCEPTCONN), 0);
	FAILS(accept(l, NULL, NULL), EINVAL);
	FAILS(connect(c, (void *)&a, sizeof a), ECONNREFUSED); // it is bound, and does not listen
	close(c);
	refused(kind, a);
	IS(listen(l, 5), 0);
	IS(option(l, SOL_SOCKET, SO_ACCEPTCONN), 1);
	IS(option(l, SOL_SOCKET, SO_DOMAIN), AF_TIPC);
	IS(option(l, SOL_SOCKET, SO_TYPE), kind);
	IS(events(l, 0), 0);

	c = socket(AF_TIPC, kind, 0);
	IS(getsockname(c, (void *)&own, &len), 0);
	IS(own.addrtype, TIPC_SOCKET_ADDR);
	FAILS(getpeername(c, (void *)&peer, &len), ENOTCONN);
	FAILS(recv(c, b, sizeof b, 0), ENOTCONN);
	FAILS(send(c, b, 1, 0), ENOTCONN);
	FAILS(ioctl(c, FIONREAD, b), ENOTTY);
	FAILS(shutdown(c, SHUT_WR), EINVAL);
	shut(kind);
	pid_t pid = accept_in(l, 2, 1);
	IS(connect(c, (void *)&a, sizeof a), 0);
	FAILS(connect(c, (void *)&a, sizeof a), EISCONN);
	IS(getpeername(c, (void *)&peer, &len), 0);
	IS(send(c, "one", 3, 0), 3);
	IS(recv(c, b, sizeof b, 0), 3);
	int d = dup(c);
	close(c);
	c = d;
	IS(write(c, "four", 4), 4);
	IS(read(c, b, 2), 2);
	if (kind == SOCK_STREAM)
		IS(read(c, b, sizeof b), 2);
	ended(pid);
	IS(events(c, -1), POLLIN | POLLRDNORM | POLLHUP);
	IS(by_epoll(c), EPOLLIN | EPOLLHUP);
	IS(by_select(c), POLLIN);
	IS(recv(c, b, sizeof b, 0), 0);
	FAILS(send(c, b, 1, 0), EPIPE);
	FAILS(write(c, b, 1), EPIPE);
	FAILS(getpeername(c, (void *)&peer, &len), ENOTCONN);
	close(c);

	c = socket(AF_TIPC, kind | SOCK_NONBLOCK, 0);
	FAILS(connect(c, (void *)&a, sizeof a), EINPROGRESS);
	FAILS(connect(c, (void *)&a, sizeof a), EALREADY);
	IS(events(c, 0), 0);
	FAILS(recv(c, b, sizeof b, 0), EAGAIN);
	FAILS(send(c, b, 1, 0), ENOTCONN);
	IS(events(l, -1), POLLIN | POLLRDNORM);
	int s = accept4(l, (void *)&peer, &len, SOCK_NONBLOCK);
	IS(events(c, -1), POLLOUT);
	IS(option(c, SOL_SOCKET, SO_ERROR), 0);
	IS(getsockname(c, (void *)&own, &len), 0);
	IS(memcmp(&own, &peer, sizeof own), 0);
	IS(events(l, 0), 0);
	FAILS(recv(s, b, sizeof b, 0), EAGAIN);
	IS(send(c, "last", 4, 0), 4);
	close(c);
	IS(recv(s, b, sizeof b, 0), 4);
	FAILS(recv(s, b, sizeof b, 0), ECONNRESET);
	close(s);

	c = socket(AF_TIPC, kind | SOCK_NONBLOCK, 0);
	FAILS(connect(c, (void *)&a, sizeof a), EINPROGRESS);
	close(l);
	IS(events(c, -1) & (POLLIN | POLLHUP), POLLIN | POLLHUP);
	IS(option(c, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	IS(option(c, SOL_SOCKET, SO_ERROR), 0);
	FAILS(send(c, b, 1, 0), EPIPE);
	close(c);
	c = socket(AF_TIPC, kind | SOCK_NONBLOCK, 0);
	FAILS(connect(c, (void *)&a, sizeof a), EHOSTUNREACH);
	IS(events(c, 0), POLLOUT);
	close(c);
}

static struct sockaddr_tipc own_address(int fd)
{
	struct sockaddr_tipc a;
	socklen_t len = sizeof a;
	IS(getsockname(fd, (void *)&a, &len), 0);
	return a;
}

static void messages(int kind)
{
	shut(kind);
	struct sockaddr_tipc a = service(18889, 1), none = service(18889, 99), from;
	struct sockaddr_tipc many = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_RANGE, .addr.nameseq = { 18889, 0, 50 } };
	socklen_t len = sizeof from;
	char b[100], control[200];
	int s = socket(AF_TIPC, kind, 0), c = socket(AF_TIPC, kind | SOCK_NONBLOCK, 0);
	struct sockaddr_tipc own = own_address(c);
	IS(bind(s, (void *)&a, sizeof a), 0);
	FAILS(send(c, "x", 1, 0), EDESTADDRREQ);
	FAILS(sendto(c, "x", 1, 0, (void *)&none, sizeof none), EHOSTUNREACH);
	FAILS(sendto(c, "x", 1, 0, (void *)&a, 15), EINVAL);
	FAILS(recv(c, b, sizeof b, 0), EAGAIN);
	FAILS(listen(c, 1), EOPNOTSUPP);
	FAILS(accept(c, NULL, NULL), EOPNOTSUPP);
	for (int i = 0; i < 50; i++) { // each is there when it is sent
		IS(sendto(c, "message", 7, 0, (void *)&a, sizeof a), 7);
		IS(recvfrom(s, b, sizeof b, MSG_DONTWAIT, (void *)&from, &len), 7);
		IS(memcmp(&from, &own, sizeof own), 0);
	}
	IS(sendto(c, "many", 4, 0, (void *)&many, sizeof many), 4);
	struct iovec v[2] = { { b, 2 }, { b + 2, 10 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof control };
	IS(events(s, 0), POLLIN | POLLOUT | POLLRDNORM);
	IS(option(s, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH), 1);
	IS(recvmsg(s, &m, 0), 4);
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	unsigned name[3] = { 18889, 0, 50 };
	IS(h != NULL && h->cmsg_type == TIPC_DESTNAME && memcmp(CMSG_DATA(h), name, sizeof name) == 0, 1);
	int off = 0;
	IS(option(c, SOL_TIPC, TIPC_DEST_DROPPABLE), 1);
	IS(setsockopt(c, SOL_TIPC, TIPC_DEST_DROPPABLE, &off, sizeof off), 0);
	struct sockaddr_tipc nobody = own_address(s);
	close(s);
	for (;;) { // its end is noticed soon
		m.msg_controllen = sizeof control;
		IS(connect(c, (void *)&nobody, sizeof nobody), 0);
		IS(events(c, 0) & POLLOUT, POLLOUT);
		IS(send(c, "back", 4, 0), 4);
		if (events(c, 20) & POLLIN)
			break;
	}
	IS(recvmsg(c, &m, 0), 0);
	h = CMSG_FIRSTHDR(&m);
	unsigned info[2] = { TIPC_ERR_NO_PORT, 4 };
	IS(h != NULL && h->cmsg_type == TIPC_ERRINFO && memcmp(CMSG_DATA(h), info, sizeof info) == 0, 1);
	h = h != NULL ? CMSG_NXTHDR(&m, h) : NULL;
	IS(h != NULL && h->cmsg_type == TIPC_RETDATA && memcmp(CMSG_DATA(h), "back", 4) == 0, 1);
	close(c);

	int p[2];
	IS(socketpair(AF_TIPC, kind, 0, p), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(write(p[0], "from a child", 12) != 12);
	IS(read(p[1], b, sizeof b), 12);
	ended(pid);
	close(p[0]);
	close(p[1]);
}

static int waits_at[2];

static void *in_read(void *fd)
{
	char b[4];
	read(*(int *)fd, b, sizeof b);
	return NULL;
}

static void *in_poll(void *fd)
{
	struct pollfd p = { .fd = *(int *)fd, .events = POLLIN };
	poll(&p, 1, -1);
	return NULL;
}

static void *in_select(void *fd)
{
	fd_set r;
	FD_ZERO(&r);
	FD_SET(*(int *)fd, &r);
	select(*(int *)fd + 1, &r, NULL, NULL, NULL);
	return NULL;
}

static void *in_epoll(void *fd)
{
	struct epoll_event e = { .events = EPOLLIN }, got;
	int ep = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(ep, EPOLL_CTL_ADD, *(int *)fd, &e);
	epoll_wait(ep, &got, 1, -1);
	return NULL;
}

// cancels checks that a thread which waits for one of ours, and for one of the kernel's, may be canceled.
static void cancels(void)
{
	static void *(*const calls[])(void *) = { in_read, in_poll, in_select, in_epoll };
	int p[2];
	if (pipe(p) != 0)
		abort();
	waits_at[0] = socket(AF_TIPC, SOCK_RDM, 0);
	waits_at[1] = p[0];
	for (unsigned i = 0; i < 2 * sizeof calls / sizeof calls[0]; i++) {
		pthread_t t;
		void *end = NULL;
		IS(pthread_create(&t, NULL, calls[i / 2], &waits_at[i % 2]), 0);
		IS(pthread_cancel(t), 0);
		IS(pthread_join(t, &end), 0);
		IS(end == PTHREAD_CANCELED, 1);
	}
	close(waits_at[0]);
	close(p[0]);
	close(p[1]);
}

// group checks a group of two members.
static void group(void)
{
	char b[8];
	struct sockaddr_tipc from[2];
	struct tipc_group_req q = { 18999, 1, TIPC_CLUSTER_SCOPE, TIPC_GROUP_MEMBER_EVTS };
	struct iovec v = { b, sizeof b };
	struct msghdr m = { .msg_name = from, .msg_namelen = sizeof from, .msg_iov = &v, .msg_iovlen = 1 };
	socklen_t len = sizeof q.type;
	unsigned type = 0;
	int a = socket(AF_TIPC, SOCK_RDM, 0), c = socket(AF_TIPC, SOCK_RDM, 0);
	IS(setsockopt(a, SOL_TIPC, TIPC_GROUP_JOIN, &q, sizeof q), 0);
	IS(events(a, 0), 0);
	q.instance = 2;
	IS(setsockopt(c, SOL_TIPC, TIPC_GROUP_JOIN, &q, sizeof q), 0);
	FAILS(setsockopt(c, SOL_TIPC, TIPC_GROUP_JOIN, &q, sizeof q), EACCES);
	IS(getsockopt(c, SOL_TIPC, TIPC_GROUP_JOIN, &type, &len), 0);
	IS(type, 18999);
	IS(recvmsg(a, &m, 0), 0);
	IS(m.msg_flags, MSG_OOB);
	IS(m.msg_namelen, sizeof from);
	IS(from[1].addr.name.name.instance, 2);
	while (!(events(a, 60000) & POLLOUT))
		;
	IS(send(a, "all", 3, 0), 3);
	IS(recvmsg(c, &m, 0), 0); // the first member
	IS(recvmsg(c, &m, 0), 3);
	IS(setsockopt(a, SOL_TIPC, TIPC_GROUP_LEAVE, NULL, 0), 0);
	IS(recvmsg(c, &m, MSG_DONTWAIT), 0);
	IS(m.msg_flags, MSG_OOB | MSG_EOR);
	close(a);
	close(c);
}

int main(void)
{
	char b[4];
	FAILS(socket(AF_TIPC, SOCK_STREAM, 6), EPROTONOSUPPORT);
	FAILS(socket(AF_TIPC, 9, 0), EPROTOTYPE);
	connections(SOCK_STREAM);
	connections(SOCK_SEQPACKET);
	messages(SOCK_RDM);
	messages(SOCK_DGRAM);
	group();
	cancels();
	int p[2];
	if (pipe(p) != 0 || write(p[1], "x", 1) != 1 || read(p[0], b, 1) != 1) // what is none of ours is the kernel's
		wrong = 1;
	if (!wrong)
		puts("all is well");
	return wrong;
}
