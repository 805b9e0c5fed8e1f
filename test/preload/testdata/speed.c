// SPDX-License-Identifier: Apache-2.0

// speed KIND COUNT: what two processes of this host have of a kind of socket, one number: µs for a
// round trip of 64 bytes (unix, tipc), or MB a second of a stream in writes of 64 KiB (tcp, stream). Between
// two hosts "serve 0 INSTANCE" answers at one what "dial COUNT INSTANCE" sends at the other.
#include <arpa/inet.h>
#include <linux/tipc.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// join makes a connection with a child, and is called in both: the descriptor of this end.
static int join(int family, int type, pid_t *child)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_tipc tipc;
	} a;
	socklen_t len = sizeof a.in;
	memset(&a, 0, sizeof a);
	if (family == AF_UNIX) {
		int pair[2];
		must(socketpair(family, type, 0, pair) == 0, "socketpair");
		*child = fork();
		close(pair[*child == 0]);
		return pair[*child != 0];
	}
	if (family == AF_INET) {
		a.in.sin_family = AF_INET;
		a.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	} else {
		a.tipc.family = AF_TIPC;
		a.tipc.addrtype = TIPC_SERVICE_ADDR;
		a.tipc.scope = TIPC_CLUSTER_SCOPE;
		a.tipc.addr.name.name.type = 18888;
		a.tipc.addr.name.name.instance = 7;
		len = sizeof a.tipc;
	}
	int l = socket(family, type, 0), fd;
	must(l >= 0 && bind(l, &a.any, len) == 0 && listen(l, 1) == 0, "listen");
	if (family == AF_INET)
		must(getsockname(l, &a.any, &len) == 0, "getsockname");
	if ((*child = fork()) == 0) {
		close(l);
		fd = socket(family, type, 0);
		must(fd >= 0 && connect(fd, &a.any, len) == 0, "connect");
		return fd;
	}
	must((fd = accept(l, NULL, NULL)) >= 0, "accept");
	close(l);
	return fd;
}

static char data[64 << 10];

static double trips(int fd, pid_t child, int count)
{
	if (child == 0) {
		while (recv(fd, data, 64, 0) == 64 && send(fd, data, 64, 0) == 64)
			;
		_exit(0);
	}
	double begin = 0;
	for (int i = -count / 10; i < count; i++) {
		if (i == 0)
			begin = now();
		must(send(fd, data, 64, 0) == 64 && recv(fd, data, 64, 0) == 64, "round trip");
	}
	return (now() - begin) / count * 1e6;
}

static double stream(int fd, pid_t child, int count)
{
	if (child == 0) {
		for (int i = 0; i < count; i++)
			for (size_t sent = 0; sent < sizeof data;) {
				ssize_t n = send(fd, data + sent, sizeof data - sent, 0);
				must(n > 0, "send");
				sent += (size_t)n;
			}
		shutdown(fd, SHUT_WR);
		recv(fd, data, 1, 0);
		_exit(0);
	}
	double begin = now(), bytes = 0, all = (double)count * sizeof data;
	while (bytes < all) {
		ssize_t n = recv(fd, data, sizeof data, 0);
		must(n > 0, "recv");
		bytes += (double)n;
	}
	return bytes / (now() - begin) / 1e6;
}

// between is serve or dial.
static int between(const char *kind, int count, unsigned instance)
{
	struct sockaddr_tipc a = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR, .scope = TIPC_CLUSTER_SCOPE };
	int fd = socket(AF_TIPC, SOCK_SEQPACKET, 0);
	a.addr.name.name.type = 18888;
	a.addr.name.name.instance = instance;
	must(fd >= 0, "socket");
	if (strcmp(kind, "serve") == 0) {
		must(bind(fd, (void *)&a, sizeof a) == 0 && listen(fd, 1) == 0, "listen");
		must((fd = accept(fd, NULL, NULL)) >= 0, "accept");
		trips(fd, 0, 0);
	}
	must(connect(fd, (void *)&a, sizeof a) == 0, "connect");
	printf("%.3f\n", trips(fd, 1, count));
	return 0;
}

int main(int argc, char **argv)
{
	must(argc == 3 || argc == 4, "arguments");
	const char *kind = argv[1];
	if (argc == 4)
		return between(kind, atoi(argv[2]), (unsigned)atoi(argv[3]));
	int streams = kind[1] == 'c' || kind[0] == 's';
	int family = strcmp(kind, "unix") == 0 ? AF_UNIX : strcmp(kind, "tcp") == 0 ? AF_INET : AF_TIPC;
	pid_t child;
	int fd = join(family, streams ? SOCK_STREAM : SOCK_SEQPACKET, &child);
	double figure = streams ? stream(fd, child, atoi(argv[2])) : trips(fd, child, atoi(argv[2]));
	close(fd);
	int status;
	must(waitpid(child, &status, 0) == child && status == 0, "child");
	printf("%.3f\n", figure);
	return 0;
}
