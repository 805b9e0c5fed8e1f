/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors for poll(2): readable exactly while the call would not wait. */
#include <unistd.h>

#include "check.h"

#define MANY 100

/* readable waits for a descriptor; ready looks whether it is readable now. */
static void readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	CHECK(polling(&p, 1, SOON) == 1 && p.revents == POLLIN);
}

static int ready(int fd) { return polling(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0); }

void pollmany(void)
{
	int here = node(), there = node(), s[MANY], c = OK(utipc_socket(here, SOCK_RDM, NULL, NULL));
	struct pollfd p[MANY];
	utipc_addr all = utipc_range(7000, 0, MANY);
	int seen = 0, total = 0;
	char b[8];

	for (int i = 0; i < MANY; i++) {
		utipc_addr name = utipc_service(7000, i);

		s[i] = OK(utipc_socket(there, SOCK_RDM, &name, NULL));
		p[i] = (struct pollfd){.fd = OK(utipc_fd(s[i])), .events = POLLIN};
		CHECK(utipc_fd(s[i]) == p[i].fd);
	}
	CHECK(polling(p, MANY, 0) == 0);
	OK(utipc_wait_name(here, &all, MANY, SOON));
	for (int i = 0; i < MANY; i++) /* two for each */
		for (int k = 0; k < 2; k++)
			OK(utipc_send(c, &i, sizeof i, (utipc_addr[1]){utipc_service(7000, i)}, SOON));
	while (total < 2 * MANY) {
		CHECK(polling(p, MANY, SOON) > 0);
		for (int i = 0; i < MANY; i++)
			if (p[i].revents) {
				CHECK(OK(utipc_recv(s[i], b, sizeof b, NULL, 0)) == sizeof i); /* never EAGAIN */
				CHECK(memcmp(b, &i, sizeof i) == 0);
				total++;
			}
	}
	for (int i = 0; i < MANY; i++) {
		seen += ready(p[i].fd);
		FAILS(EAGAIN, utipc_recv(s[i], b, sizeof b, NULL, 0));
		FAILS(ETIMEDOUT, utipc_recv(s[i], b, sizeof b, NULL, 1));
	}
	CHECK(seen == 0);
	OK(utipc_close(here, SOON));
	OK(utipc_close(there, SOON));
}

void pollexact(void)
{
	int n = node(), s = OK(utipc_socket(n, SOCK_RDM, NULL, NULL)), fd;
	utipc_addr own;
	utipc_info info;
	char b[8];

	OK(utipc_local(s, &own));
	OK(utipc_send(s, "before", 6, &own, SOON)); /* the descriptor comes later */
	fd = OK(utipc_fd(s));
	readable(fd);
	for (int i = 0; i < 3; i++)
		OK(utipc_send(s, "after", 5, &own, SOON));
	CHECK(OK(utipc_recv(s, b, 3, &info, 0)) == 3 && info.flags == UTIPC_TRUNCATED && memcmp(b, "bef", 3) == 0);
	for (int i = 0; i < 3; i++) {
		if (!getenv("NODE"))
			CHECK(ready(fd)); /* with no moment between, as the messages are there */
		readable(fd);
		CHECK(OK(utipc_recv(s, b, 8, &info, 0)) == 5 && info.flags == 0 && memcmp(b, "after", 5) == 0);
		CHECK(info.from.port == own.port);
	}
	CHECK(!ready(fd));
	FAILS(EAGAIN, utipc_recv(s, b, 8, NULL, 0));
	OK(utipc_send(s, "end", 3, &own, SOON));
	CHECK(OK(utipc_recv(s, b, 8, NULL, SOON)) == 3); /* which waits, without poll */
	CHECK(!ready(fd));
	OK(utipc_close(n, SOON));
}

void pollstream(void)
{
	int n = node(), l, a, b, fd;
	utipc_addr name = utipc_service(7001, 1);
	utipc_options ahead = {.flags = UTIPC_ACCEPT_AHEAD};
	char buf[8];

	l = OK(utipc_listen(n, SOCK_STREAM, &name, &ahead));
	a = OK(utipc_connect(n, SOCK_STREAM, &name, NULL, SOON));
	b = OK(utipc_accept(l, SOON));
	fd = OK(utipc_fd(b));
	CHECK(!ready(fd));
	OK(utipc_send(a, "abcdefghij", 10, NULL, SOON));
	readable(fd);
	CHECK(OK(utipc_recv(b, buf, 4, NULL, 0)) == 4 && memcmp(buf, "abcd", 4) == 0);
	CHECK(ready(fd)); /* the rest of what was read ahead */
	CHECK(OK(utipc_recv(b, buf, 8, NULL, 0)) == 6 && memcmp(buf, "efghij", 6) == 0);
	CHECK(!ready(fd));
	OK(utipc_close(a, SOON));
	readable(fd); /* and stays so */
	for (int i = 0; i < 3; i++) {
		CHECK(OK(utipc_recv(b, buf, 8, NULL, 0)) == 0);
		CHECK(ready(fd));
	}
	OK(utipc_close(n, SOON));
}

/* A closed socket's descriptor is closed, and what was read ahead is dropped. */
void pollclose(void)
{
	int n = node();
	char b;

	for (int i = 0; i < 50; i++) {
		int s = OK(utipc_socket(n, SOCK_RDM, NULL, NULL)), fd = OK(utipc_fd(s));
		utipc_addr own;

		OK(utipc_local(s, &own));
		if (i % 2) {
			OK(utipc_send(s, "x", 1, &own, SOON));
			if (i % 3)
				readable(fd);
		}
		OK(utipc_close(s, 0));
		CHECK(read(fd, &b, 1) == -1 && errno == EBADF);
	}
	OK(utipc_close(n, SOON));
}

void polllisten(void)
{
	int n = node(), l, fd, a, b, c;
	utipc_addr name = utipc_service(7002, 1);
	utipc_options ahead = {.flags = UTIPC_ACCEPT_AHEAD};
	char buf[8];

	l = OK(utipc_listen(n, SOCK_SEQPACKET, &name, &ahead));
	fd = OK(utipc_fd(l));
	CHECK(!ready(fd));
	a = OK(utipc_connect(n, SOCK_SEQPACKET, &name, NULL, SOON));
	b = OK(utipc_connect(n, SOCK_SEQPACKET, &name, NULL, SOON));
	readable(fd);
	c = OK(utipc_accept(l, 0));
	OK(utipc_send(a, "first", 5, NULL, SOON));
	CHECK(OK(utipc_recv(c, buf, 8, NULL, SOON)) == 5);
	readable(fd); /* the other */
	OK(utipc_close(l, 0));
	CHECK(utipc_recv(b, buf, 8, NULL, SOON) <= 0); /* the one that was accepted ahead is closed */
	OK(utipc_close(n, SOON));
}

void pollevents(void)
{
	int n = node(), sub, g, fd, gfd, s, m;
	utipc_addr name = utipc_service(7003, 1), one = utipc_service(7004, 1);
	utipc_options events = {.flags = UTIPC_EVENTS};
	utipc_event e;
	utipc_info info;

	sub = OK(utipc_subscribe(n, &name, 0));
	fd = OK(utipc_fd(sub));
	g = OK(utipc_join(n, &one, &events));
	gfd = OK(utipc_fd(g));
	CHECK(!ready(fd) && !ready(gfd));
	s = OK(utipc_socket(n, SOCK_RDM, &name, NULL));
	readable(fd);
	OK(utipc_next(sub, &e, 0));
	CHECK(e.kind == UTIPC_PUBLISHED && !ready(fd));
	OK(utipc_close(s, 0));
	readable(fd);
	OK(utipc_next(sub, &e, 0));
	CHECK(e.kind == UTIPC_WITHDRAWN);
	m = OK(utipc_join(n, &one, NULL));
	readable(gfd);
	CHECK(OK(utipc_recv(g, NULL, 0, &info, 0)) == 0 && info.kind == UTIPC_MEMBER_JOINED);
	OK(utipc_wait_members(m, 1, SOON));
	OK(utipc_send(m, "hello", 5, NULL, SOON));
	readable(gfd);
	CHECK(OK(utipc_recv(g, (char[8]){0}, 8, &info, 0)) == 5 && info.kind == UTIPC_DATA);
	OK(utipc_close(n, SOON));
}
