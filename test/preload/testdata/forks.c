// SPDX-License-Identifier: Apache-2.0

// A process with a hundred sockets forks again and again. Its children end at once, or close all that
// they have, or use one of the sockets. It prints what is otherwise than before.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/tipc.h>

enum { PAIRS = 45, BOUND = 9, SOCKETS = 2 * PAIRS + BOUND + 1 };

static int open_descriptors(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d != NULL && readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_tipc service(unsigned instance)
{
	struct sockaddr_tipc a;
	memset(&a, 0, sizeof a);
	a.family = AF_TIPC;
	a.addrtype = TIPC_SERVICE_ADDR;
	a.scope = TIPC_CLUSTER_SCOPE;
	a.addr.name.name.type = 18888;
	a.addr.name.name.instance = instance;
	return a;
}

int main(int argc, char **argv)
{
	int forks = argc > 1 ? atoi(argv[1]) : 10000;
	int all[SOCKETS], n = 0;
	struct sockaddr_tipc a = service(99);
	int listener = socket(AF_TIPC, SOCK_SEQPACKET, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, PAIRS) != 0)
		die("listen");
	all[n++] = listener;
	for (int i = 0; i < PAIRS; i++) {
		int c = socket(AF_TIPC, SOCK_SEQPACKET | SOCK_NONBLOCK, 0); // connect waits for accept
		if (c < 0 || connect(c, (struct sockaddr *)&a, sizeof a) == 0 || errno != EINPROGRESS)
			die("connect");
		all[n++] = c;
		if ((all[n++] = accept(listener, NULL, NULL)) < 0)
			die("accept");
		if (fcntl(c, F_SETFL, 0) != 0)
			die("fcntl");
	}
	for (int i = 0; i < BOUND; i++) {
		struct sockaddr_tipc own = service(100 + i);
		int s = socket(AF_TIPC, SOCK_RDM, 0);
		if (s < 0 || bind(s, (struct sockaddr *)&own, sizeof own) != 0)
			die("bind");
		all[n++] = s;
	}
	int before = open_descriptors();
	for (int i = 0; i < forks; i++) {
		pid_t child = fork();
		if (child < 0)
			die("fork");
		if (child == 0) {
			int *pair = all + 1 + 2 * (i % PAIRS);
			if (i % 3 == 1) {
				for (int k = 0; k < n; k++)
					close(all[k]);
			} else if (i % 3 == 2 && send(pair[0], &i, sizeof i, 0) != sizeof i) {
				_exit(1);
			}
			_exit(0);
		}
		int status;
		if (waitpid(child, &status, 0) != child || status != 0)
			die("child");
		if (i % 3 == 2) {
			int got = -1;
			if (recv(all[2 + 2 * (i % PAIRS)], &got, sizeof got, 0) != sizeof got || got != i)
				die("recv");
		}
	}
	if (open_descriptors() != before)
		printf("%d descriptors, %d before\n", open_descriptors(), before);
	for (int i = 0; i < PAIRS; i++) { // and each connection is whole
		int got = -1;
		if (send(all[2 + 2 * i], &i, sizeof i, 0) != sizeof i || recv(all[1 + 2 * i], &got, sizeof got, 0) != sizeof got || got != i)
			die("afterwards");
	}
	printf("forked %d times\n", forks);
	fflush(stdout);
	getchar(); // while the test looks
	return 0;
}
