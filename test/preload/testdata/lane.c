// SPDX-License-Identifier: Apache-2.0
//
// The lane, in a process that has the library's own files, and between them and the C library a clock that stands still but for
// what the tests say, and calls that are counted.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/un.h>
#include <time.h>

#include "../../../preload/plain.h"
#include "check.h"

enum { MICRO = 1000, MILLI = 1000 * MICRO };

static int64_t at = 1000000000LL * 1000; // what the clock says
static int64_t step = MICRO;             // by how much a look at it moves it
static int looks, sleeps;                // calls that did not wait, and those that might have
static int come;                         // with which look a byte comes to fds[0]; 0: none
static int fds[2];

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	at += step;
	*t = (struct timespec){ at / 1000000000, at % 1000000000 };
	return 0;
}

static int is_look(long number) { return number == SYS_ppoll || number == SYS_pselect6 || number == SYS_epoll_pwait || number == SYS_epoll_pwait2; }

// waits reports whether a call sleeps until the byte comes.
static int waits(long number, const long *a)
{
	enum { LIMIT = 3 }; // of epoll_pwait, and epoll_pwait2
	const struct timespec *limit = NULL;
	switch (number) {
	case SYS_recvmsg:
		return come > 0;
	case SYS_ppoll:
		limit = (void *)a[2];
		break;
	case SYS_pselect6:
		limit = (void *)a[4];
		break;
	case SYS_epoll_pwait2:
		limit = (void *)a[LIMIT];
		break;
	case SYS_epoll_pwait:
		return a[LIMIT] != 0;
	default:
		return 0;
	}
	return limit == NULL || limit->tv_sec != 0 || limit->tv_nsec != 0;
}

long __wrap_syscall(long number, ...)
{
	enum { MOST = 6 };
	long a[MOST];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < MOST; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	int asleep = waits(number, a);
	looks += !asleep && is_look(number);
	sleeps += asleep;
	if (come > 0 && (asleep || looks == come)) { // what sleeps is not to sleep for ever
		come = 0;
		IS(__real_syscall(SYS_write, fds[1], "x", 1L), 1);
	}
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// named gives an end of a pair the name of a connected socket of TCP.
static void named(int fd)
{
	static int cookie;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "utipc1/6/%016x/%08x%08x/-/lane", 1, getpid(), ++cookie);
	IS(__real_syscall(SYS_bind, fd, &a, (long)offsetof(struct sockaddr_un, sun_path) + 1 + n), 0);
}

static void pair(void)
{
	if (fds[0] > 0) {
		__real_syscall(SYS_close, fds[0]);
		__real_syscall(SYS_close, fds[1]);
	}
	IS(__real_syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, fds), 0);
	named(fds[0]);
	named(fds[1]);
}

// The ways to wait, each of which takes the byte that comes.

static ssize_t by_read(void)
{
	char b[10];
	return read(fds[0], b, sizeof b);
}

static ssize_t by_poll(void)
{
	struct pollfd p = { .fd = fds[0], .events = POLLIN };
	IS(poll(&p, 1, -1), 1);
	IS(p.revents, POLLIN);
	return by_read();
}

static ssize_t by_select(void)
{
	fd_set r, w;
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(fds[0], &r);
	struct timeval limit = { 1, 0 };
	IS(select(fds[0] + 1, &r, &w, NULL, &limit), 1);
	IS(FD_ISSET(fds[0], &r) != 0, 1);
	return by_read();
}

static int set_of(void)
{
	int ep = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN, .data.fd = 7 };
	IS(epoll_ctl(ep, EPOLL_CTL_ADD, fds[0], &e), 0);
	return ep;
}

static ssize_t by_epoll(void)
{
	struct epoll_event e = { 0 };
	int ep = set_of();
	IS(epoll_wait(ep, &e, 1, -1), 1);
	IS(e.data.fd, 7);
	IS(close(ep), 0);
	return by_read();
}

static ssize_t by_epoll2(void)
{
	struct epoll_event e = { 0 };
	if (__real_syscall(SYS_epoll_pwait2, -1, &e, 1L, 0L, 0L, 0L) < 0 && errno == ENOSYS)
		return by_epoll(); // an old kernel, or an emulator
	int ep = set_of();
	IS(epoll_pwait2(ep, &e, 1, NULL, NULL), 1);
	IS(e.data.fd, 7);
	IS(close(ep), 0);
	return by_read();
}

static ssize_t (*const ways[])(void) = { by_read, by_poll, by_select, by_epoll, by_epoll2 };

// What comes with the tenth look is found, and nothing sleeps, in each way.
static void test_found(void)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		pair();
		looks = sleeps = 0;
		come = 10;
		IS(ways[i](), 1);
		IS(looks >= 10, 1);
		IS(sleeps, 0);
	}
}

// Where the lane is off, the descriptor does not wait, there is none, or the wait is shorter than a look may be late, nothing looks.
static void test_none(void)
{
	struct pollfd p = { .fd = fds[0], .events = POLLIN };
	char b[10];
	pair();
	lane_on = 0;
	__real_syscall(SYS_write, fds[1], "x", 1L);
	looks = 0;
	IS(by_read(), 1);
	IS(looks, 0);
	lane_on = 1;
	FAILS(recv(fds[0], b, sizeof b, MSG_DONTWAIT), EAGAIN);
	IS(looks, 0);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	FAILS(read(fds[0], b, sizeof b), EAGAIN);
	IS(looks, 0);
	IS(poll(NULL, 0, 1), 0);
	IS(looks, 0);
	p.fd = fds[0];
	IS(ppoll(&p, 1, &(struct timespec){ 0, MICRO }, NULL), 0);
	IS(looks, 0);
	IS(poll(&p, 1, 0), 0);
	IS(looks, 1); // the call itself
}

// wait_in_vain waits for nothing, a millisecond, and returns how many looks that took.
static int wait_in_vain(void)
{
	struct pollfd p = { .fd = fds[0], .events = POLLIN };
	looks = sleeps = 0;
	IS(poll(&p, 1, 1), 0);
	IS(sleeps, 1);
	return looks;
}

// Looks in vain end: after a budget there is a try from time to time, more seldom each time; what a try finds brings looks back.
static void test_budget(void)
{
	enum { LONGEST = 50, TRY = 150, ROUNDS = 100, EACH = 10 };
	int rounds = 0, tries = 0, k;
	pair();
	while (rounds < ROUNDS && (k = wait_in_vain()) > 1) {
		IS(k <= LONGEST + 2, 1);
		rounds++;
	}
	IS(rounds >= 16 && rounds <= 17, 1);
	for (int i = 0; i < ROUNDS; i++) { // a second
		at += EACH * MILLI;
		k = wait_in_vain();
		IS(k == 1 || (k > LONGEST + 2 && k <= TRY + 2), 1);
		tries += k > 1;
	}
	IS(tries >= 3 && tries <= 7, 1);
	at += 1000LL * MILLI; // longer than the longest pause
	looks = 0;
	come = 20;
	IS(by_poll(), 1);
	IS(wait_in_vain() > 1, 1); // without a pause
}

// A thread that was away rests, for longer if it is away again soon.
static void test_away(void)
{
	int64_t usual = step;
	pair();
	for (int i = 0; i < 100; i++) { // looks pay again
		looks = 0;
		come = 5;
		IS(by_poll(), 1);
	}
	IS(wait_in_vain() > 2, 1);
	step = 500 * MICRO;
	IS(wait_in_vain(), 2);
	step = usual;
	IS(wait_in_vain(), 1);
	at += 9 * MILLI;
	IS(wait_in_vain() > 2, 1);
	step = 500 * MICRO;
	IS(wait_in_vain(), 2);
	step = usual;
	at += 9 * MILLI;
	IS(wait_in_vain(), 1); // this rest has 16 ms
	at += 9 * MILLI;
	IS(wait_in_vain() > 2, 1);
}

int main(void)
{
	plain_active = lane_on = 1;
	test_found();
	test_none();
	test_budget();
	test_away();
	if (!wrong)
		printf("all is well\n");
	return wrong;
}
