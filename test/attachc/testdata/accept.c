/* SPDX-License-Identifier: Apache-2.0
 *
 * accept PATH TYPE INSTANCE: listens under a name, takes one connection as a descriptor,
 * sends back what comes on it until its end, and says how much that was. Beside it, a
 * request that cannot succeed.
 */
#include <errno.h>
#include <linux/tipc.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { HELLO = 1, SOCKET = 16, BIND = 32, LISTEN = 34, ACCEPT = 35, SETOPTION = 38, SEND = 64, MESSAGE = 65, END = 67, REPLY = 1 };

struct record {
	uint16_t op, flags;
	uint32_t error, id, len;
	struct sockaddr_tipc addr, addr2;
	uint32_t arg0, arg1;
	uint64_t wide;
};

static char data[66000];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void put(int fd, struct record r, const void *p, size_t n)
{
	struct iovec v[2] = { { &r, sizeof r }, { (void *)p, n } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	v[0].iov_base = &r;
	r.len = n;
	if (sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
		fail("sendmsg");
}

static struct record get(int fd, int *got)
{
	union { struct cmsghdr h; char b[CMSG_SPACE(sizeof(int))]; } c;
	struct record r;
	struct iovec v[2] = { { &r, sizeof r }, { data, sizeof data } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2, .msg_control = &c, .msg_controllen = CMSG_LEN(sizeof(int)) };
	ssize_t n = recvmsg(fd, &m, MSG_TRUNC | MSG_CMSG_CLOEXEC);

	if (n < (ssize_t)sizeof r || (size_t)n != sizeof r + r.len)
		errno = n < 0 ? errno : EPROTO, fail("recvmsg");
	if (got && CMSG_FIRSTHDR(&m))
		memcpy(got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return r;
}

int main(int argc, char **argv)
{
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	struct sockaddr_tipc name = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR, .scope = TIPC_CLUSTER_SCOPE };
	struct { uint32_t number, zero; int64_t value; } option = { TIPC_IMPORTANCE, 0, 9 };
	struct record r;
	unsigned long total = 0;
	int fd, conn = -1;

	if (argc != 4)
		return 2;
	strncpy(path.sun_path, argv[1], sizeof path.sun_path - 1);
	name.addr.name.name.type = strtoul(argv[2], NULL, 10);
	name.addr.name.name.instance = strtoul(argv[3], NULL, 10);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&path, sizeof path) < 0)
		fail("connect");

	/* Nothing is waited for before the last: the answers come in order. */
	put(fd, (struct record){ .op = HELLO, .id = 1, .arg0 = 0x43505455, .arg1 = 1 }, "accept", 6);
	put(fd, (struct record){ .op = SOCKET, .id = 2, .arg0 = 5 }, NULL, 0);
	put(fd, (struct record){ .op = SETOPTION, .id = 3 }, &option, sizeof option);
	put(fd, (struct record){ .op = BIND, .id = 4, .addr = name }, NULL, 0);
	put(fd, (struct record){ .op = LISTEN, .id = 5 }, NULL, 0);
	for (uint32_t id = 1; id <= 5; id++) {
		r = get(fd, NULL);
		if (r.id != id || !(r.flags & REPLY) || r.error != (id == 3 ? EINVAL : 0))
			return fprintf(stderr, "answer %u: id %u, op %u, error %u\n", id, r.id, r.op, r.error), 1;
	}
	put(fd, (struct record){ .op = ACCEPT, .id = 6 }, NULL, 0);
	printf("listening\n");
	fflush(stdout);
	if (poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1) != 1)
		fail("poll");
	r = get(fd, &conn);
	if (r.id != 6 || r.error || conn < 0)
		return fprintf(stderr, "accept: id %u, error %u, descriptor %d\n", r.id, r.error, conn), 1;
	printf("%x:%u to %u:%u\n", r.addr.addr.id.node, r.addr.addr.id.ref, r.addr2.addr.name.name.type, r.addr2.addr.name.name.instance);
	fflush(stdout);
	for (;;) {
		r = get(conn, NULL);
		if (r.op == END) {
			printf("%lu bytes, end %u\n", total, r.error);
			return 0;
		}
		if (r.op == MESSAGE) {
			total += r.len;
			put(conn, (struct record){ .op = SEND }, data, r.len);
		}
	}
}
