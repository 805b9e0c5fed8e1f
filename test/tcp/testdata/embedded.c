// SPDX-License-Identifier: Apache-2.0
//
// Conversations over TCP in the ways of programs: "serve ADDRESS" prints a port, and echoes what comes on each connection until its
// end; "use ADDRESS PORT" sends and receives, and prints "all is well".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what) \
	((what) ? (void)0 : (dprintf(2, "line %d: %s: %s\n", __LINE__, #what, strerror(errno)), exit(1)))

enum { LONG = 1 << 20 };

static struct sockaddr_in at(const char *ip, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	CHECK(inet_pton(AF_INET, ip, &a.sin_addr) == 1);
	return a;
}

static void all(int fd, const char *b, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, b, n);
		CHECK(k > 0);
		b += k;
		n -= k;
	}
}

// echo returns when the peer has said that it writes no more, and then says so as well.
static void echo(int fd)
{
	static char b[100000];
	ssize_t k;
	while ((k = read(fd, b, sizeof b)) > 0)
		all(fd, b, k);
	CHECK(k == 0);
	CHECK(shutdown(fd, SHUT_WR) == 0);
	CHECK(close(fd) == 0);
}

enum { CONNECTIONS = 9 };

static int serve(const char *ip)
{
	struct sockaddr_in a = at(ip, 0), own, peer;
	socklen_t len = sizeof own;
	int l = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(bind(l, (void *)&a, sizeof a) == 0);
	CHECK(listen(l, 16) == 0);
	CHECK(getsockname(l, (void *)&own, &len) == 0);
	printf("%d\n", ntohs(own.sin_port));
	fflush(stdout);
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = 7 };
	CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, l, &e) == 0);
	for (int i = 0; i < CONNECTIONS; i++) {
		CHECK(epoll_wait(ep, &e, 1, -1) == 1 && e.data.u32 == 7);
		len = sizeof peer;
		int c = accept4(l, (void *)&peer, &len, SOCK_CLOEXEC);
		CHECK(c >= 0);
		struct sockaddr_in again;
		len = sizeof again;
		CHECK(getpeername(c, (void *)&again, &len) == 0 && memcmp(&again, &peer, sizeof peer) == 0);
		len = sizeof again;
		CHECK(getsockname(c, (void *)&again, &len) == 0 && again.sin_port == own.sin_port);
		echo(c);
	}
	CHECK(close(l) == 0);
	return 0;
}

static struct sockaddr_in server;

static int dial(int flags)
{
	int c = socket(AF_INET, SOCK_STREAM | flags, 0);
	CHECK(c >= 0);
	int rc = connect(c, (void *)&server, sizeof server);
	CHECK(rc == 0 || (flags != 0 && errno == EINPROGRESS));
	return c;
}

static void finish(int c)
{
	char b[16];
	int flags = fcntl(c, F_GETFL);
	CHECK(fcntl(c, F_SETFL, flags & ~O_NONBLOCK) == 0);
	CHECK(shutdown(c, SHUT_WR) == 0);
	CHECK(recv(c, b, sizeof b, 0) == 0);
	CHECK(close(c) == 0);
}

static char pattern(size_t i) { return (char)(i * 7 + i / 251); }

static void blocking(void)
{
	int c = dial(0), on = 1, v = 0;
	socklen_t len = sizeof v;
	char b[64];
	struct sockaddr_in peer;
	socklen_t n = sizeof peer;
	CHECK(getpeername(c, (void *)&peer, &n) == 0 && peer.sin_port == server.sin_port && peer.sin_addr.s_addr == server.sin_addr.s_addr);
	CHECK(setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
	CHECK(getsockopt(c, IPPROTO_TCP, TCP_NODELAY, &v, &len) == 0 && v == 1);
	CHECK(getsockopt(c, SOL_SOCKET, SO_TYPE, &v, &len) == 0 && v == SOCK_STREAM);
	for (int i = 0; i < 200; i++) {
		struct iovec out[] = { { "ab", 2 }, { "", 0 }, { "cdef", 4 } }, in[] = { { b, 1 }, { b + 1, 20 } };
		CHECK(writev(c, out, 3) == 6);
		size_t got = 0;
		while (got < 6) {
			ssize_t k = got == 0 ? readv(c, in, 2) : read(c, b + got, sizeof b - got);
			CHECK(k > 0);
			got += k;
		}
		CHECK(got == 6 && memcmp(b, "abcdef", 6) == 0);
	}
	CHECK(send(c, "xy", 2, 0) == 2);
	CHECK(recv(c, b, 1, MSG_PEEK) == 1 && b[0] == 'x');
	CHECK(recv(c, b, 2, MSG_WAITALL) == 2 && b[1] == 'y');
	CHECK(recv(c, b, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	struct timeval limit = { .tv_usec = 20000 };
	CHECK(setsockopt(c, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
	CHECK(recv(c, b, 1, 0) == -1 && errno == EAGAIN);
	limit.tv_usec = 0;
	CHECK(setsockopt(c, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
	int copy = dup(c);
	CHECK(copy >= 0 && close(c) == 0);
	CHECK(write(copy, "z", 1) == 1 && read(copy, b, 1) == 1 && b[0] == 'z');
	finish(copy);
}

// A ready says what a descriptor is ready for, in the bits of poll, after it has waited for some of events.
typedef short (*ready)(int fd, short events);

static short by_poll(int fd, short events)
{
	struct pollfd p[] = { { .fd = -1 }, { .fd = fd, .events = events } };
	CHECK(poll(p, 2, -1) == 1);
	return p[1].revents;
}

static short by_select(int fd, short events)
{
	fd_set r, w;
	FD_ZERO(&r);
	FD_ZERO(&w);
	if (events & POLLIN)
		FD_SET(fd, &r);
	if (events & POLLOUT)
		FD_SET(fd, &w);
	CHECK(select(fd + 1, &r, &w, NULL, NULL) >= 1);
	return (FD_ISSET(fd, &r) ? POLLIN : 0) | (FD_ISSET(fd, &w) ? POLLOUT : 0);
}

static int set = -1;
static uint32_t how; // EPOLLET, EPOLLONESHOT

static short by_epoll(int fd, short events)
{
	struct epoll_event e = { .events = events | how, .data.fd = fd };
	if (set < 0) {
		set = epoll_create1(EPOLL_CLOEXEC);
		CHECK(epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) == 0);
		CHECK(epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) == -1 && errno == EEXIST);
	} else {
		CHECK(epoll_ctl(set, EPOLL_CTL_MOD, fd, &e) == 0);
	}
	CHECK(epoll_wait(set, &e, 1, -1) == 1 && e.data.fd == fd);
	return (short)e.events;
}

static short by_spinning(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	int k;
	while ((k = poll(&p, 1, 0)) == 0)
		;
	CHECK(k == 1);
	return p.revents;
}

// Both ways at once, more than there is room for.
static void exchange(ready wait)
{
	int c = dial(SOCK_NONBLOCK), error = -1;
	socklen_t len = sizeof error;
	CHECK((wait(c, POLLOUT) & POLLOUT) != 0);
	CHECK(getsockopt(c, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0);
	char *out = malloc(LONG), *in = malloc(LONG);
	for (size_t i = 0; i < LONG; i++)
		out[i] = pattern(i);
	size_t sent = 0, got = 0;
	while (got < LONG) {
		short r = wait(c, sent < LONG ? POLLIN | POLLOUT : POLLIN);
		CHECK((r & (POLLERR | POLLNVAL)) == 0);
		if (r & POLLIN) {
			ssize_t k = read(c, in + got, LONG - got);
			CHECK(k > 0 || (k < 0 && errno == EAGAIN));
			got += k > 0 ? k : 0;
		}
		if (sent < LONG && (r & POLLOUT)) {
			ssize_t k = write(c, out + sent, LONG - sent);
			CHECK(k > 0 || (k < 0 && errno == EAGAIN));
			sent += k > 0 ? k : 0;
		}
	}
	CHECK(memcmp(in, out, LONG) == 0);
	free(in);
	free(out);
	if (set >= 0)
		close(set);
	set = -1;
	finish(c);
}

// A call that has room for one event reports each of two edges.
static void edges(void)
{
	struct epoll_event e[2];
	int ep = epoll_create1(EPOLL_CLOEXEC), c[2], seen = 0;
	for (int i = 0; i < 2; i++) {
		c[i] = dial(SOCK_NONBLOCK);
		CHECK((by_poll(c[i], POLLOUT) & POLLOUT) != 0);
		e[0] = (struct epoll_event){ .events = EPOLLOUT | EPOLLET, .data.u32 = i };
		CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, c[i], &e[0]) == 0);
	}
	for (int i = 0; i < 2; i++) {
		CHECK(epoll_wait(ep, e, 1, 10000) == 1);
		seen |= 1 << e[0].data.u32;
	}
	CHECK(seen == 3);
	CHECK(close(ep) == 0);
	finish(c[0]);
	finish(c[1]);
}

// A child has a clear error of the connection of its parent, and one that executes another program passes nothing on.
static void children(void)
{
	int c = dial(0), own = getenv("UTIPC_NODE") != NULL && getenv("PARTNER") != NULL, status;
	char b[8], command[64];
	pid_t p = fork();
	if (p == 0) {
		if (own)
			CHECK(write(c, "x", 1) == -1 && errno == EOWNERDEAD);
		_exit(0);
	}
	CHECK(waitpid(p, &status, 0) == p && status == 0);
	p = vfork();
	if (p == 0) // it has its parent's memory, and descriptors of its own
		_exit(dup2(c, 9) == 9 && close(c) == 0 && close_range(9, 9, 0) == 0 ? 0 : 1);
	CHECK(waitpid(p, &status, 0) == p && status == 0);
	if (own) {
		snprintf(command, sizeof command, "[ ! -e /proc/self/fd/%d ]", c);
		CHECK(system(command) == 0);
	}
	CHECK(write(c, "still", 5) == 5 && recv(c, b, 5, MSG_WAITALL) == 5 && memcmp(b, "still", 5) == 0);
	finish(c);
}

static int use(const char *ip, int port)
{
	server = at(ip, port);
	blocking();
	exchange(by_poll);
	exchange(by_select);
	exchange(by_epoll);
	how = EPOLLET;
	exchange(by_epoll);
	exchange(by_spinning);
	edges();
	children();
	int c = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in nobody = at(ip, 9);
	CHECK(connect(c, (void *)&nobody, sizeof nobody) == -1 && errno == ECONNREFUSED);
	CHECK(close(c) == 0);
	printf("all is well\n");
	return 0;
}

int main(int argc, char **argv)
{
	CHECK(argc > 2);
	return strcmp(argv[1], "serve") == 0 ? serve(argv[2]) : use(argv[2], argc > 3 ? atoi(argv[3]) : 0);
}
