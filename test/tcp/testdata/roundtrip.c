// SPDX-License-Identifier: Apache-2.0
//
// Round trips of 64 bytes. "serve IP PORT HOW" sends back what comes, to one client after the other; "use IP PORT HOW COUNT"
// says that it has begun, and then the median of so many, in microseconds, and how often it slept for each. HOW: read, poll or epoll. With a number in CORE the program stays on
// that core.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64, WARM = 200 };

static int ep = -1;

// next reads a message, and returns 0 at the end.
static int next(int fd, const char *how)
{
	char b[BYTES];
	ssize_t k = 0, n;
	while (k < BYTES) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		struct epoll_event e;
		if (strcmp(how, "poll") == 0)
			poll(&p, 1, -1);
		else if (strcmp(how, "epoll") == 0)
			epoll_wait(ep, &e, 1, -1);
		if ((n = read(fd, b + k, BYTES - k)) <= 0)
			return 0;
		k += n;
	}
	return 1;
}

static void begin(int fd, const char *how)
{
	int on = 1;
	struct epoll_event e = { .events = EPOLLIN };
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (strcmp(how, "epoll") == 0) {
		ep = epoll_create1(0);
		epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	}
}

static int serve(int fd, const struct sockaddr_in *a, const char *how)
{
	static const char message[BYTES];
	int on = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (const void *)a, sizeof *a) < 0 || listen(fd, 1) < 0)
		return 1;
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		int c = accept(fd, NULL, NULL);
		begin(c, how);
		while (next(c, how) && send(c, message, BYTES, MSG_NOSIGNAL) == BYTES)
			;
		close(c);
		close(ep);
		ep = -1;
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int later(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }

static int use(int fd, const struct sockaddr_in *a, const char *how, int count)
{
	static const char message[BYTES];
	double *t = calloc(count, sizeof *t);
	struct rusage before = { 0 }, after;
	if (connect(fd, (const void *)a, sizeof *a) < 0)
		return 1;
	begin(fd, how);
	for (int i = -WARM; i < count; i++) {
		double from = now();
		if (i == 0) {
			getrusage(RUSAGE_SELF, &before);
			printf("begun\n");
			fflush(stdout);
			from = now();
		}
		if (send(fd, message, BYTES, MSG_NOSIGNAL) != BYTES || !next(fd, how))
			return 1;
		if (i >= 0)
			t[i] = now() - from;
	}
	getrusage(RUSAGE_SELF, &after);
	qsort(t, count, sizeof *t, later);
	printf("%.2f us, %.2f sleeps\n", t[count / 2], (double)(after.ru_nvcsw - before.ru_nvcsw) / count);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	const char *core = getenv("CORE");
	if (core != NULL && *core != 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET(atoi(core), &set);
		sched_setaffinity(0, sizeof set, &set);
	}
	if (argc < 5 && (argc < 4 || strcmp(argv[1], "serve") != 0))
		return 2;
	inet_pton(AF_INET, argv[2], &a.sin_addr);
	a.sin_port = htons(atoi(argv[3]));
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	return strcmp(argv[1], "serve") == 0 ? serve(fd, &a, argv[4]) : use(fd, &a, argv[4], argc > 5 ? atoi(argv[5]) : 1);
}
