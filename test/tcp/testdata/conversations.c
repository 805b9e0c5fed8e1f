// SPDX-License-Identifier: Apache-2.0
//
// Both ends of conversations over TCP. "serve IP" listens, and says the port on its output; "use IP PORT" connects to it.
// Each prints what is otherwise than TCP has it, and then "all is well" if there was nothing.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../preload/testdata/check.h"

enum { LONG = 3000000, FEW = 3 };

static char ip[64];

static struct sockaddr_in at(const char *text, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, text, &a.sin_addr);
	return a;
}

static int tcp(int flags) { return socket(AF_INET, SOCK_STREAM | flags, 0); }

static int to(int fd, const char *text, int port)
{
	struct sockaddr_in a = at(text, port);
	return connect(fd, (void *)&a, sizeof a);
}

static int number(int fd, int level, int name)
{
	int v = -1;
	socklen_t len = sizeof v;
	return getsockopt(fd, level, name, &v, &len) < 0 ? -1 : v;
}

static int set(int fd, int level, int name, int v) { return setsockopt(fd, level, name, &v, sizeof v); }

static int events(int fd, int want)
{
	struct pollfd p = { .fd = fd, .events = want };
	poll(&p, 1, -1);
	return p.revents;
}

static int ready(int fd, int want)
{
	struct pollfd p = { .fd = fd, .events = want };
	poll(&p, 1, 0);
	return p.revents;
}

static int port_of(int fd, int peer)
{
	struct sockaddr_in a;
	socklen_t len = sizeof a;
	if ((peer ? getpeername : getsockname)(fd, (void *)&a, &len) < 0 || len != sizeof a || a.sin_family != AF_INET)
		return -1;
	return ntohs(a.sin_port);
}

static int is_at(int fd, int peer, const char *text)
{
	struct sockaddr_in a, want = at(text, 0);
	socklen_t len = sizeof a;
	return (peer ? getpeername : getsockname)(fd, (void *)&a, &len) == 0 && a.sin_addr.s_addr == want.sin_addr.s_addr;
}

// all reads n bytes, or until the end.
static long all(int fd, char *b, long n)
{
	long k = 0, m;
	while (k < n && (m = read(fd, b + k, n - k)) > 0)
		k += m;
	return k;
}

static char pattern(long i) { return (char)(i * 7 + i / 251); }

static void send_long(int fd)
{
	char *b = malloc(LONG);
	for (long i = 0; i < LONG; i++)
		b[i] = pattern(i);
	for (long k = 0, m; k < LONG; k += m)
		if ((m = write(fd, b + k, LONG - k)) <= 0) {
			IS(m, LONG - k);
			break;
		}
	free(b);
}

static void receive_long(int fd)
{
	char *b = malloc(LONG);
	long bad = 0;
	IS(all(fd, b, LONG), LONG);
	for (long i = 0; i < LONG; i++)
		bad += b[i] != pattern(i);
	IS(bad, 0);
	free(b);
}

// The conversations, in their order: what the server does with the connection, and what the client does.

static void echo_server(int fd)
{
	char b[100];
	struct sockaddr_in a = { 0 };
	socklen_t len = sizeof a;
	IS(recvfrom(fd, b, sizeof b, 0, (void *)&a, &len), 5);
	IS(len, 0);
	IS(send(fd, b, 5, 0), 5);
	IS(read(fd, b, sizeof b), 0);
	IS(ready(fd, POLLIN | POLLOUT | POLLRDHUP) & (POLLIN | POLLRDHUP | POLLERR), POLLIN | POLLRDHUP);
	IS(close(fd), 0);
}

static void echo_client(int fd)
{
	char b[100];
	IS(port_of(fd, 0) > 0, 1);
	IS(write(fd, "hello", 5), 5);
	IS(all(fd, b, 5), 5);
	IS(memcmp(b, "hello", 5), 0);
	IS(close(fd), 0);
}

static void half_server(int fd)
{
	char b[100];
	IS(all(fd, b, sizeof b), 8);
	IS(ready(fd, POLLIN | POLLOUT | POLLRDHUP), POLLIN | POLLOUT | POLLRDHUP);
	send_long(fd); // after the client's half has ended
	IS(shutdown(fd, SHUT_WR), 0);
	IS(close(fd), 0);
}

static void half_client(int fd)
{
	char byte;
	IS(write(fd, "question", 8), 8);
	IS(shutdown(fd, SHUT_WR), 0);
	FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	receive_long(fd);
	IS(read(fd, &byte, 1), 0);
	IS(close(fd), 0);
}

static void closed_server(int fd)
{
	char b[10];
	IS(all(fd, b, 4), 4);
	IS(write(fd, "last", 4), 4);
	IS(close(fd), 0);
}

// until_broken writes to a connection whose other end is closed: TCP takes some of that before it knows.
static int until_broken(int fd)
{
	while (send(fd, "x", 1, MSG_NOSIGNAL) == 1)
		;
	return errno;
}

static void closed_client(int fd)
{
	char b[10];
	IS(write(fd, "last", 4), 4);
	IS(all(fd, b, sizeof b), 4);
	int e = until_broken(fd);
	IS(e == ECONNRESET || e == EPIPE, 1);
	FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	IS(read(fd, b, 1), 0);
	IS(close(fd), 0);
}

static void unread_server(int fd)
{
	IS(events(fd, POLLIN), POLLIN);
	IS(close(fd), 0);
}

static void reset_client(int fd)
{
	char byte;
	IS(write(fd, "unread", 6), 6);
	FAILS(read(fd, &byte, 1), ECONNRESET);
	IS(read(fd, &byte, 1), 0);
	IS(number(fd, SOL_SOCKET, SO_ERROR), 0);
	FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	IS(close(fd), 0);
}

static void linger_server(int fd)
{
	char b[10];
	struct linger l = { 1, 0 };
	IS(all(fd, b, 6), 6);
	IS(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l), 0);
	IS(write(fd, "now", 3), 3);
	IS(close(fd), 0);
}

static void linger_client(int fd)
{
	char b[10];
	IS(write(fd, "unread", 6), 6);
	long k = all(fd, b, sizeof b); // of what was written before a reset TCP may lose
	IS(k == 0 || k == 3, 1);
	IS(errno, ECONNRESET);
	IS(close(fd), 0);
}

static void both_ways(int fd)
{
	pid_t child = fork();
	if (child == 0) {
		send_long(fd);
		_exit(0);
	}
	int status = -1;
	receive_long(fd);
	waitpid(child, &status, 0);
	IS(status, 0);
	IS(close(fd), 0);
}

// sandboxed_server has a child do as echo_server, which may do nothing but read and write.
static void sandboxed_server(int fd)
{
	enum { READ = 3, WRITE = 2, EXIT = 1 }; // jumps to the last instruction
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, READ, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, WRITE, 0),		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, EXIT, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof code / sizeof *code, code };
	pid_t child = fork();
	if (child == 0) {
		char b[10];
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
			_exit(1);
		_exit(read(fd, b, 5) != 5 || write(fd, b, 5) != 5 || read(fd, b, 1) != 0);
	}
	int status = -1;
	waitpid(child, &status, 0);
	IS(status, 0);
	IS(close(fd), 0);
}

// take_passed is a program that gets a connection by its standard input, and does as echo_server. Nothing but what comes tells
// it of such sockets.
static int take_passed(void)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	int fd = -1;
	IS(recvmsg(0, &m, 0), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	IS(is_at(fd, 0, ip), 1);
	IS(number(fd, IPPROTO_TCP, TCP_NODELAY), 1);
	echo_server(fd);
	return wrong;
}

// passing_server passes the connection to another program, which it starts before.
static void passing_server(int fd)
{
	int ends[2];
	IS(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], 0);
		for (int i = 3; i < 64; i++)
			close(i);
		execl("/proc/self/exe", "program", "take", ip, (char *)NULL);
		_exit(1);
	}
	char control[CMSG_SPACE(sizeof fd)] = { 0 };
	struct iovec v = { "x", 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	IS(sendmsg(ends[0], &m, 0), 1);
	IS(close(fd), 0);
	int status = -1;
	waitpid(child, &status, 0);
	IS(status, 0);
	close(ends[0]);
	close(ends[1]);
}

static const struct {
	void (*server)(int fd), (*client)(int fd);
} conversations[] = {
	{ echo_server, echo_client },	{ half_server, half_client },	{ closed_server, closed_client },
	{ unread_server, reset_client }, { linger_server, linger_client }, { both_ways, both_ways },
	{ sandboxed_server, echo_client }, { passing_server, echo_client },
};

enum { CONVERSATIONS = sizeof conversations / sizeof *conversations };

// options_read_back sets options on a socket in any state.
static void options_read_back(int fd)
{
	IS(set(fd, IPPROTO_TCP, TCP_NODELAY, 1), 0);
	IS(number(fd, IPPROTO_TCP, TCP_NODELAY), 1);
	IS(set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 77), 0);
	IS(number(fd, IPPROTO_TCP, TCP_KEEPIDLE), 77);
	IS(set(fd, SOL_SOCKET, SO_KEEPALIVE, 1), 0);
	IS(number(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	IS(set(fd, IPPROTO_IP, IP_TOS, 16), 0);
	IS(number(fd, IPPROTO_IP, IP_TOS), 16);
	IS(number(fd, SOL_SOCKET, SO_DOMAIN), AF_INET);
	IS(number(fd, SOL_SOCKET, SO_PROTOCOL), IPPROTO_TCP);
	IS(number(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	FAILS(set(fd, IPPROTO_TCP, TCP_KEEPCNT, 1000), EINVAL);
	FAILS(set(fd, IPPROTO_TCP, 9999, 1), ENOPROTOOPT);
}

enum { SHORT = 200, SHORT_KINDS = 4 }; // connections that are closed as soon as they are accepted

// read_end reads until the end without waiting in read, and returns how many bytes came, or -1.
static long read_end(int fd)
{
	char b[100];
	long k = 0, m;
	while ((m = read(fd, b, sizeof b)) != 0) {
		if (m < 0 && errno != EAGAIN)
			return -1;
		if (m > 0)
			k += m;
		else
			events(fd, POLLIN);
	}
	return k;
}

// short_use connects without waiting, finds in one of several ways that there is a connection, and reads its end.
static void short_use(int fd, int port, int kind)
{
	char byte;
	FAILS(to(fd, ip, port), EINPROGRESS);
	switch (kind) {
	case 0:
		IS(events(fd, POLLOUT) & (POLLOUT | POLLERR), POLLOUT);
		IS(number(fd, SOL_SOCKET, SO_ERROR), 0);
		break;
	case 1: // by connect again: it is one connection, also when its other end is closed
		while (to(fd, ip, port) < 0 && errno == EALREADY)
			;
		IS(errno, EISCONN);
		break;
	case 2:
		IS(events(fd, POLLIN | POLLRDHUP) & POLLRDHUP, POLLRDHUP);
		break;
	case 3:
		while (read(fd, &byte, 1) < 0 && errno == EAGAIN)
			;
		break;
	}
	IS(read_end(fd), 0);
	IS(port_of(fd, 1), port); // as long as this end is not closed
}

static void serve(void)
{
	struct sockaddr_in a = at(ip, 0), other = at("10.99.200.1", 0), from;
	socklen_t len = sizeof from;
	int l = tcp(SOCK_CLOEXEC), second = tcp(0);
	FAILS(bind(second, (void *)&other, sizeof other), EADDRNOTAVAIL);
	options_read_back(l);
	IS(bind(l, (void *)&a, sizeof a), 0);
	IS(number(l, IPPROTO_TCP, TCP_KEEPIDLE), 77);
	IS(fcntl(l, F_GETFD), FD_CLOEXEC);
	FAILS(bind(l, (void *)&a, sizeof a), EINVAL);
	IS(number(l, SOL_SOCKET, SO_ACCEPTCONN), 0);
	FAILS(accept(l, NULL, NULL), EINVAL);
	IS(listen(l, FEW), 0);
	IS(number(l, SOL_SOCKET, SO_ACCEPTCONN), 1);
	IS(ready(l, POLLIN | POLLOUT), 0);
	a.sin_port = htons(port_of(l, 0));
	FAILS(bind(second, (void *)&a, sizeof a), EADDRINUSE);
	printf("%d\n", port_of(l, 0));
	fflush(stdout);
	for (int i = 0; i < CONVERSATIONS; i++) {
		int fd = accept4(l, (void *)&from, &len, SOCK_CLOEXEC);
		IS(fcntl(fd, F_GETFD), FD_CLOEXEC);
		IS(len, sizeof from);
		IS(ntohs(from.sin_port), port_of(fd, 1));
		IS(is_at(fd, 0, ip), 1);
		IS(port_of(fd, 0), port_of(l, 0));
		IS(number(fd, IPPROTO_TCP, TCP_NODELAY), 1); // as the listener's
		conversations[i].server(fd);
	}
	for (int i = 0; i < SHORT; i++)
		IS(close(accept(l, NULL, NULL)), 0);
	// Connections are made, written to and closed before they are accepted.
	int go = accept(l, NULL, NULL);
	char b[10];
	IS(all(go, b, 1), 1);
	IS(events(l, POLLIN), POLLIN);
	for (int i = 0; i < FEW; i++) {
		int fd = accept(l, NULL, NULL);
		IS(all(fd, b, sizeof b), 2);
		IS(b[1], i);
		close(fd);
	}
	IS(set(go, SOL_SOCKET, SO_KEEPALIVE, 0), 0);
	IS(close(l), 0);
	IS(bind(second, (void *)&a, sizeof a), 0); // at once
	IS(close(second), 0);
	IS(write(go, "x", 1), 1); // nobody listens any more
	IS(all(go, b, sizeof b), 0);
	IS(close(go), 0);
}

static void use(int port)
{
	for (int i = 0; i < CONVERSATIONS; i++) {
		int fd = tcp(0);
		errno = 0;
		IS(to(fd, ip, port), 0);
		IS(errno, 0);
		IS(is_at(fd, 1, ip), 1);
		IS(port_of(fd, 1), port);
		FAILS(to(fd, ip, port), EISCONN);
		conversations[i].client(fd);
	}
	for (int i = 0; i < SHORT; i++) {
		int fd = tcp(SOCK_NONBLOCK);
		short_use(fd, port, i % SHORT_KINDS);
		IS(close(fd), 0);
		if (wrong) // the server may wait for what there is not
			return;
	}
	int go = tcp(0);
	IS(to(go, ip, port), 0);
	for (int i = 0; i < FEW; i++) {
		int fd = tcp(0);
		char b[2] = { 'n', (char)i };
		errno = 0;
		IS(to(fd, ip, port), 0);
		IS(errno, 0);
		IS(write(fd, b, 2), 2);
		IS(close(fd), 0);
	}
	char byte;
	IS(write(go, "g", 1), 1);
	IS(read(go, &byte, 1), 1);

	// Refused, in each way, of a socket that is in a set and has another descriptor; then it is connected after all.
	int fd = tcp(SOCK_NONBLOCK), ep = epoll_create1(0), again = dup(fd);
	struct epoll_event e = { .events = EPOLLOUT | EPOLLIN | EPOLLET, .data.u64 = 0x123456789abcdef }, got;
	options_read_back(fd);
	IS(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
	FAILS(to(fd, ip, port), EINPROGRESS);
	do
		IS(epoll_wait(ep, &got, 1, -1), 1);
	while (got.events & EPOLLHUP && !(got.events & EPOLLERR));
	IS(got.data.u64, e.data.u64);
	IS(got.events & (EPOLLERR | EPOLLHUP), EPOLLERR | EPOLLHUP);
	IS(number(again, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	IS(number(fd, SOL_SOCKET, SO_ERROR), 0);
	IS(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	close(fd);
	close(again);
	fd = tcp(0);
	FAILS(to(fd, ip, port), ECONNREFUSED);
	FAILS(to(fd, ip, port), ECONNREFUSED);
	close(fd);
	FAILS(to(tcp(0), "10.99.0.9", 0), EADDRNOTAVAIL);
	IS(close(go), 0);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_DFL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(ip, sizeof ip, "%s", argv[2]);
	if (strcmp(argv[1], "take") == 0)
		return take_passed();
	if (strcmp(argv[1], "serve") == 0)
		serve();
	else
		use(argc > 3 ? atoi(argv[3]) : 0);
	if (!wrong)
		printf("all is well\n");
	return wrong;
}
