/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, forked children, and what is left of what was closed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define THREADS 8
#define ROUNDS 300

static int shared; /* the node of all threads */

/* echo answers ROUNDS messages, then ends. */
static void *echo(void *arg)
{
	int s = *(int *)arg;
	utipc_info info;
	char b[64];

	for (int i = 0; i < ROUNDS; i++) {
		ssize_t n = OK(utipc_recv(s, b, sizeof b, &info, SOON));

		OK(utipc_send(s, b, n, &info.from, SOON));
	}
	return NULL;
}

/* asker has a socket of its own, half of them with a descriptor, and an error of its own. */
static void *asker(void *arg)
{
	long me = (long)arg;
	utipc_addr name = utipc_service(8000, me);
	int server = OK(utipc_socket(shared, SOCK_RDM, &name, NULL)), s = OK(utipc_socket(shared, SOCK_RDM, NULL, NULL));
	char b[64], sentence[64];
	pthread_t t;

	snprintf(sentence, sizeof sentence, "%ld is not the handle", 4000 + me);
	FAILS(EBADF, utipc_close(4000 + me, 0));
	CHECK(pthread_create(&t, NULL, echo, &server) == 0);
	if (me % 2)
		OK(utipc_fd(s));
	for (long i = 0; i < ROUNDS; i++) {
		long word[2] = {me, i};

		OK(utipc_send(s, word, sizeof word, &name, SOON));
		if (me % 2)
			CHECK(polling(&(struct pollfd){.fd = utipc_fd(s), .events = POLLIN}, 1, SOON) == 1);
		CHECK(OK(utipc_recv(s, b, sizeof b, NULL, me % 2 ? 0 : SOON)) == sizeof word && memcmp(b, word, sizeof word) == 0);
	}
	CHECK(strstr(utipc_last_error(), sentence) == utipc_last_error());
	CHECK(pthread_join(t, NULL) == 0);
	OK(utipc_close(s, 0));
	OK(utipc_close(server, 0));
	return NULL;
}

void threads(void)
{
	pthread_t t[THREADS];

	shared = node();
	for (long i = 0; i < THREADS; i++)
		CHECK(pthread_create(&t[i], NULL, asker, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	CHECK(utipc_last_error()[0] == 0); /* none of this thread failed */
	OK(utipc_close(shared, SOON));
}

static int common; /* the socket of all threads */
static int got;

/* taker receives from it with one of two timeouts until it is closed. */
static void *taker(void *arg)
{
	char b[8];
	ssize_t n;

	while ((n = utipc_recv(common, b, sizeof b, NULL, arg ? 1 : UTIPC_FOREVER)) != -EBADF) {
		CHECK(n == 1 || (arg && n == -ETIMEDOUT));
		if (n == 1)
			__atomic_add_fetch(&got, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* Eight threads receive from one socket, half of them with a timeout that ends; every message
 * comes to one of them, and the close of the socket to all. */
void oneforall(void)
{
	for (int polled = 0; polled < 2; polled++) {
		pthread_t t[THREADS];
		utipc_addr own;
		int n = node(), s = OK(utipc_socket(n, SOCK_RDM, NULL, NULL));

		common = OK(utipc_socket(n, SOCK_RDM, NULL, NULL));
		if (polled)
			OK(utipc_fd(common));
		OK(utipc_local(common, &own));
		got = 0;
		for (long i = 0; i < THREADS; i++)
			CHECK(pthread_create(&t[i], NULL, taker, (void *)(i % 2)) == 0);
		for (int i = 0; i < 500; i++)
			OK(utipc_send(s, "x", 1, &own, SOON));
		while (__atomic_load_n(&got, __ATOMIC_SEQ_CST) < 500)
			sched_yield();
		OK(utipc_close(common, 0));
		for (int i = 0; i < THREADS; i++)
			CHECK(pthread_join(t[i], NULL) == 0);
		CHECK(got == 500);
		OK(utipc_close(n, SOON));
	}
}

/* child is what a child of this process finds. */
static void child(int n, int s)
{
	char b[8];

	FAILS(EOWNERDEAD, utipc_open("memory:", SOON));
	FAILS(EOWNERDEAD, utipc_recv(s, b, sizeof b, NULL, UTIPC_FOREVER));
	FAILS(EOWNERDEAD, utipc_send(s, b, sizeof b, NULL, UTIPC_FOREVER));
	FAILS(EOWNERDEAD, utipc_fd(s));
	FAILS(EOWNERDEAD, utipc_close(s, UTIPC_FOREVER));
	FAILS(EOWNERDEAD, utipc_close(n, UTIPC_FOREVER));
	CHECK(strstr(utipc_last_error(), "forked"));
	CHECK(strcmp(utipc_version(), UTIPC_VERSION) == 0);
	_exit(0);
}

static void forking(pid_t (*how)(void))
{
	utipc_addr own;
	int n = node(), s = OK(utipc_socket(n, SOCK_RDM, NULL, NULL)), status;
	pid_t pid = how();
	char b[8];

	CHECK(pid >= 0);
	if (pid == 0)
		child(n, s);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	OK(utipc_local(s, &own)); /* the parent goes on */
	OK(utipc_send(s, "still", 5, &own, SOON));
	CHECK(OK(utipc_recv(s, b, sizeof b, NULL, SOON)) == 5);
	OK(utipc_close(n, SOON));
}

static pid_t raw(void) { return syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0); }

void forked(void) { forking(fork); }
void forkedraw(void) { forking(raw); } /* which no handler of pthread_atfork hears of */

/* resident is this process's memory in KiB. */
static long resident(void)
{
	long total, pages;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK(f && fscanf(f, "%ld %ld", &total, &pages) == 2);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void openandclose(int n, int times)
{
	utipc_addr name = utipc_service(8001, 1);

	for (int i = 0; i < times; i++) {
		int s = OK(utipc_socket(n, i % 2 ? SOCK_RDM : SOCK_DGRAM, &name, NULL));

		if (i % 4 == 0)
			OK(utipc_fd(s));
		OK(utipc_close(s, 0));
	}
}

/* 10,000 sockets that were opened and closed, 2,500 of them with a descriptor, leave nothing. */
void memory(void)
{
	int n = node(), before = OK(dup(0)), after;
	long base;

	close(before);
	openandclose(n, 1000);
	base = resident();
	openandclose(n, 10000);
	printf("%ld KiB more after 10000 sockets, of %ld\n", resident() - base, base);
	CHECK(resident() - base < 16 << 10);
	after = OK(dup(0));
	CHECK(after < before + 20); /* no descriptor is left; the node and the runtime have some */
	for (int i = 0; i < 50; i++)
		OK(utipc_close(node(), SOON));
	CHECK(OK(dup(0)) < before + 25);
	OK(utipc_close(n, SOON));
}

static void *waiting(void *arg)
{
	char b[8];

	FAILS(EBADF, utipc_recv(*(int *)arg, b, sizeof b, NULL, UTIPC_FOREVER));
	return NULL;
}

/* The close of a socket, and that of its node, end calls that wait. */
void closing(void)
{
	if (!getenv("NODE")) { /* a node that may not wait says that something is on its way, and is closed */
		int here = node(), there = node();
		uint32_t address;

		OK(utipc_wait_nodes(here, 2, SOON));
		OK(utipc_socket(here, SOCK_RDM, (utipc_addr[1]){utipc_service(8002, 1)}, NULL));
		FAILS(EAGAIN, utipc_close(here, 0));
		FAILS(EBADF, utipc_node_address(here, &address));
		OK(utipc_close(there, SOON));
	}
	for (int i = 0; i < 40; i++) {
		int n = node(), s = OK(utipc_socket(n, SOCK_RDM, NULL, NULL));
		pthread_t t[2];

		if (i % 2)
			OK(utipc_fd(s));
		for (int k = 0; k < 2; k++)
			CHECK(pthread_create(&t[k], NULL, waiting, &s) == 0);
		if (i % 4 < 2)
			OK(utipc_close(s, SOON));
		OK(utipc_close(n, SOON));
		for (int k = 0; k < 2; k++)
			CHECK(pthread_join(t[k], NULL) == 0);
	}
}
