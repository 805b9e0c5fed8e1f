// SPDX-License-Identifier: Apache-2.0
//
// Conversations that another process, or other calls, take over after each of their bytes. "serve IP" listens, and says the port
// on its output; "use IP PORT" connects to it, once for each way and each byte. The client writes up to WINDOW bytes ahead,
// which the server sends back one at a time.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../preload/testdata/check.h"

enum { LENGTH = 12, WINDOW = 3, LIMIT = 240 }; // bytes, bytes, and for how long a program may run, in seconds

static char at(int i) { return (char)('a' + i); }

// wait_for waits for something to read, in one of several ways, or leaves that to read.
static void wait_for(int fd, int how)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct epoll_event e = { .events = EPOLLIN };
	fd_set r;
	int ep;
	switch (how % 4) {
	case 1:
		IS(poll(&p, 1, -1), 1);
		break;
	case 2:
		FD_ZERO(&r);
		FD_SET(fd, &r);
		IS(select(fd + 1, &r, NULL, NULL, NULL), 1);
		break;
	case 3:
		ep = epoll_create1(EPOLL_CLOEXEC);
		IS(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
		IS(epoll_wait(ep, &e, 1, -1), 1);
		close(ep);
	}
}

// send_back reads the bytes from one on to another, one at a time, and sends each back.
static void send_back(int fd, int from, int to)
{
	char b;
	for (int i = from; i < to; i++) {
		wait_for(fd, i);
		IS(read(fd, &b, 1), 1);
		IS(b, at(i));
		IS(write(fd, &b, 1), 1);
	}
}

static void await(pid_t child)
{
	int status = -1;
	IS(waitpid(child, &status, 0), child);
	IS(status, 0);
}

// The ways in which the rest of a conversation, from a byte on, is taken over.

static void by_nobody(int fd, int from) { send_back(fd, from, LENGTH); }

static void by_child(int fd, int from)
{
	pid_t child = fork();
	if (child == 0) {
		send_back(fd, from, LENGTH);
		_exit(wrong);
	}
	await(child);
}

// by_both has a child do one byte, and goes on itself.
static void by_both(int fd, int from)
{
	int next = from < LENGTH ? from + 1 : from;
	pid_t child = fork();
	if (child == 0) {
		send_back(fd, from, next);
		_exit(wrong);
	}
	await(child);
	send_back(fd, next, LENGTH);
}

static void by_program(int fd, int from)
{
	char number[2][16];
	snprintf(number[0], sizeof number[0], "%d", fd);
	snprintf(number[1], sizeof number[1], "%d", from);
	pid_t child = fork();
	if (child == 0) {
		execl("/proc/self/exe", "program", "rest", number[0], number[1], (char *)NULL);
		_exit(1);
	}
	await(child);
}

// by_passing passes the descriptor to a program that was started before, and closes its own.
static void by_passing(int fd, int from)
{
	int ends[2];
	char number[16], control[CMSG_SPACE(sizeof fd)] = { 0 };
	snprintf(number, sizeof number, "%d", from);
	IS(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], 0);
		for (int i = 3; i < 64; i++)
			close(i);
		execl("/proc/self/exe", "program", "passed", number, (char *)NULL);
		_exit(1);
	}
	struct iovec v = { "x", 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	IS(sendmsg(ends[0], &m, 0), 1);
	IS(close(fd), 0);
	await(child);
	close(ends[0]);
	close(ends[1]);
}

// by_streams goes on with the C library's own streams, whose calls the preload library does not see.
static void by_streams(int fd, int from)
{
	FILE *in = fdopen(dup(fd), "r"), *out = fdopen(dup(fd), "w");
	for (int i = from; i < LENGTH; i++) {
		int b = fgetc(in);
		IS(b, at(i));
		fputc(b, out);
		fflush(out);
	}
	fclose(in);
	fclose(out);
}

static void (*const ways[])(int fd, int from) = { by_nobody, by_child, by_both, by_program, by_passing, by_streams };

enum { WAYS = sizeof ways / sizeof *ways };

static int passed(void)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	int fd = -1;
	IS(recvmsg(0, &m, 0), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

static void serve(const char *ip)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof a;
	int l = socket(AF_INET, SOCK_STREAM, 0);
	inet_pton(AF_INET, ip, &a.sin_addr);
	IS(bind(l, (void *)&a, sizeof a), 0);
	IS(listen(l, 1), 0);
	IS(getsockname(l, (void *)&a, &len), 0);
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	for (int way = 0; way < WAYS; way++)
		for (int from = 0; from <= LENGTH; from++) {
			char b;
			int fd = accept(l, NULL, NULL);
			send_back(fd, 0, from);
			ways[way](fd, from);
			if (ways[way] == by_passing)
				continue;
			IS(read(fd, &b, 1), 0);
			IS(close(fd), 0);
		}
}

static void use(const char *ip, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, ip, &a.sin_addr);
	for (int i = 0; i < WAYS * (LENGTH + 1) && !wrong; i++) {
		char b;
		int fd = socket(AF_INET, SOCK_STREAM, 0), sent = 0;
		IS(connect(fd, (void *)&a, sizeof a), 0);
		for (int got = 0; got < LENGTH && !wrong; got++) {
			for (; sent < LENGTH && sent < got + WINDOW; sent++) {
				b = at(sent);
				IS(write(fd, &b, 1), 1);
			}
			wait_for(fd, i + got);
			IS(read(fd, &b, 1), 1);
			IS(b, at(got));
		}
		IS(shutdown(fd, SHUT_WR), 0);
		IS(read(fd, &b, 1), 0);
		IS(close(fd), 0);
	}
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	int second = argc > 3 ? atoi(argv[3]) : 0;
	alarm(LIMIT);
	if (strcmp(what, "rest") == 0) {
		send_back(atoi(argv[2]), second, LENGTH);
		return wrong;
	}
	if (strcmp(what, "passed") == 0) {
		send_back(passed(), atoi(argv[2]), LENGTH);
		return wrong;
	}
	if (strcmp(what, "serve") == 0)
		serve(argv[2]);
	else
		use(argv[2], second);
	if (!wrong)
		printf("all is well\n");
	return wrong;
}
