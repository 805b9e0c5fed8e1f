// SPDX-License-Identifier: Apache-2.0
//
// A program that asks a generic netlink socket for the family TIPCv2, and for others: it prints
// each call that answers otherwise than with a kernel that has TIPC, and where it is, then "all is
// well" if there was none. With an argument, a descriptor, it is one that was started with it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/tipc_netlink.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { TYPES = 8192, SEQUENCE = 77 };

static struct message {
	struct nlmsghdr h;
	struct genlmsghdr g;
	char rest[TYPES];
} m;

static union {
	struct nlmsghdr h;
	struct message m;
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} error;
	char bytes[65536];
} answer;

static struct sockaddr_nl from;
static int flags;

// request makes a message in m, without attributes.
static void request(int type, int command, int f)
{
	memset(&m, 0, sizeof m);
	m.h = (struct nlmsghdr){ NLMSG_HDRLEN + GENL_HDRLEN, type, NLM_F_REQUEST | f, SEQUENCE, 0 };
	m.g.cmd = command;
	m.g.version = 1;
}

static void attribute(int type, const void *data, int n)
{
	struct nlattr a = { NLA_HDRLEN + n, type };
	char *p = (char *)&m + m.h.nlmsg_len;
	memcpy(p, &a, sizeof a);
	memcpy(p + NLA_HDRLEN, data, n);
	m.h.nlmsg_len += NLA_ALIGN(a.nla_len);
}

static int put(int fd)
{
	static const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	return sendto(fd, &m, m.h.nlmsg_len, 0, (const void *)&kernel, sizeof kernel) == m.h.nlmsg_len;
}

// get receives a datagram, and returns its length and fills from and flags.
static int get(int fd, int f)
{
	struct iovec v = { &answer, sizeof answer };
	struct msghdr k = { .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &v, .msg_iovlen = 1 };
	memset(&from, 1, sizeof from);
	int n = recvmsg(fd, &k, f);
	if (n >= 0) {
		IS(k.msg_namelen, sizeof from);
		IS(from.nl_family, AF_NETLINK);
		IS(from.nl_pid, 0);
		IS(from.nl_groups, 0);
	}
	flags = k.msg_flags;
	return n;
}

// family asks for a family by name, and returns its number.
static int family(int fd, const char *name)
{
	request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	attribute(CTRL_ATTR_FAMILY_NAME, name, strlen(name) + 1);
	IS(put(fd), 1);
	int n = get(fd, 0), id = -1;
	if (answer.h.nlmsg_type == NLMSG_ERROR)
		return answer.error.e.error;
	IS(answer.h.nlmsg_seq, SEQUENCE);
	for (char *p = (char *)&answer + NLMSG_HDRLEN + GENL_HDRLEN; p < (char *)&answer + n; p += NLA_ALIGN(((struct nlattr *)p)->nla_len))
		if (((struct nlattr *)p)->nla_type == CTRL_ATTR_FAMILY_ID)
			id = *(uint16_t *)(p + NLA_HDRLEN);
	return id;
}

static struct sockaddr_nl own(int fd)
{
	struct sockaddr_nl a = { 0 };
	socklen_t n = sizeof a;
	IS(getsockname(fd, (void *)&a, &n), 0);
	IS(n, sizeof a);
	IS(a.nl_family, AF_NETLINK);
	return a;
}

static int option(int fd, int level, int name)
{
	int v = -1;
	socklen_t n = sizeof v;
	IS(getsockopt(fd, level, name, &v, &n), 0);
	return v;
}

static int open_socket(int more) { return socket(AF_NETLINK, SOCK_RAW | more, NETLINK_GENERIC); }

// list asks for a list, and returns how many messages it has. All are to this socket.
static int list(int fd, int type, int command)
{
	unsigned port = own(fd).nl_pid;
	request(type, command, NLM_F_DUMP);
	IS(put(fd), 1);
	for (int count = 0;;) {
		int n = get(fd, 0);
		if (n <= 0)
			return -errno;
		for (struct nlmsghdr *h = &answer.h; NLMSG_OK(h, (unsigned)n); h = NLMSG_NEXT(h, n)) {
			IS(h->nlmsg_seq, SEQUENCE);
			IS(h->nlmsg_pid, port);
			if (h->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(h))->error;
			if (h->nlmsg_type == NLMSG_DONE)
				return count;
			count++;
		}
	}
}

// Both families on one socket, in turn, and lists of both.
static void both_families(void)
{
	int fd = open_socket(SOCK_CLOEXEC);
	IS(family(fd, "nlctrl"), GENL_ID_CTRL);
	unsigned port = own(fd).nl_pid;
	int tipc = family(fd, "TIPCv2");
	IS(tipc > GENL_ID_CTRL, 1);
	IS(own(fd).nl_pid, port);
	IS(family(fd, "nlctrl"), GENL_ID_CTRL);
	IS(family(fd, "no such"), -ENOENT);
	IS(family(fd, "TIPCv2"), tipc);
	IS(list(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY) > 0, 1);
	IS(list(fd, tipc, TIPC_NL_MEDIA_GET), 2);
	IS(list(fd, tipc, TIPC_NL_NODE_GET), 0);
	IS(list(fd, tipc, TIPC_NL_BEARER_DISABLE), -EOPNOTSUPP);
	IS(fcntl(fd, F_GETFD), FD_CLOEXEC);
	IS(option(fd, SOL_SOCKET, SO_DOMAIN), AF_NETLINK);
	IS(option(fd, SOL_SOCKET, SO_TYPE), SOCK_RAW);
	IS(option(fd, SOL_SOCKET, SO_PROTOCOL), NETLINK_GENERIC);
	int room = 100000;
	IS(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
	struct sockaddr_nl a = own(fd);
	IS(bind(fd, (void *)&a, sizeof a), 0);
	a.nl_pid++;
	FAILS(bind(fd, (void *)&a, sizeof a), EINVAL);
	FAILS(listen(fd, 1), EOPNOTSUPP);
	FAILS(accept(fd, NULL, NULL), EOPNOTSUPP);
	FAILS(shutdown(fd, SHUT_RDWR), EOPNOTSUPP);
	IS(close(fd), 0);
	FAILS(close(fd), EBADF);
}

// Errors have what the options say behind them, also if these come later than the first request.
static void acknowledgements(void)
{
	int fd = open_socket(0), on = 1, tipc = family(fd, "TIPCv2");
	request(tipc, TIPC_NL_MEDIA_GET, NLM_F_ACK);
	struct {
		struct nlattr a;
		char name[4];
	} name = { { NLA_HDRLEN + 4, TIPC_NLA_MEDIA_NAME }, "foo" };
	attribute(TIPC_NLA_MEDIA | NLA_F_NESTED, &name, sizeof name);
	int whole = m.h.nlmsg_len;
	IS(put(fd), 1);
	IS(get(fd, 0), NLMSG_HDRLEN + 4 + whole);
	IS(answer.error.e.error, -EINVAL);
	IS(answer.h.nlmsg_flags, 0);
	IS(memcmp(&answer.error.e.msg, &m, whole), 0);
	IS(setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on), 0);
	IS(setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on), 0);
	IS(option(fd, SOL_NETLINK, NETLINK_EXT_ACK), 1);
	IS(put(fd), 1);
	IS(get(fd, 0), NLMSG_HDRLEN + 4 + NLMSG_HDRLEN + NLA_HDRLEN + sizeof "Media not found");
	IS(answer.h.nlmsg_flags, NLM_F_CAPPED | NLM_F_ACK_TLVS);
	IS(strcmp((char *)&answer.error.e.msg + NLMSG_HDRLEN + NLA_HDRLEN, "Media not found"), 0);
	request(tipc, TIPC_NL_MON_GET, NLM_F_ACK);
	IS(put(fd), 1);
	IS(get(fd, 0), 32);
	IS(get(fd, 0), 36);
	IS(answer.error.e.error, 0);
	request(tipc, 200, NLM_F_ACK);
	IS(put(fd), 1);
	IS(get(fd, 0), 36);
	IS(answer.error.e.error, -EOPNOTSUPP);
	FAILS(get(fd, MSG_DONTWAIT), EAGAIN);
	close(fd);
}

// A socket waits as it did before, and its datagrams are read in the ways that there are.
static void reading(void)
{
	struct timeval soon = { .tv_usec = 1000 };
	int fd = open_socket(0);
	IS(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon), 0);
	IS(family(fd, "TIPCv2") > 0, 1);
	FAILS(get(fd, 0), EAGAIN);
	close(fd);

	fd = open_socket(SOCK_NONBLOCK);
	request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	attribute(CTRL_ATTR_FAMILY_NAME, "TIPCv2", 7);
	IS(write(fd, &m, m.h.nlmsg_len), m.h.nlmsg_len);
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };
	while (poll(&p, 1, -1) > 0 && !(p.revents & POLLIN))
		;
	IS(p.revents, POLLIN | POLLOUT);
	struct iovec nothing = { NULL, 0 };
	struct msghdr k = { .msg_iov = &nothing, .msg_iovlen = 1 };
	int n = recvmsg(fd, &k, MSG_PEEK | MSG_TRUNC);
	IS(n > 100, 1);
	IS(get(fd, MSG_PEEK), n);
	nothing = (struct iovec){ &answer, 20 };
	IS(recvmsg(fd, &k, 0), 20);
	IS(k.msg_flags, MSG_TRUNC);
	FAILS(get(fd, 0), EAGAIN);
	struct iovec parts[2] = { { &m, 10 }, { (char *)&m + 10, m.h.nlmsg_len - 10 } };
	struct msghdr s = { .msg_iov = parts, .msg_iovlen = 2 };
	IS(sendmsg(fd, &s, 0), m.h.nlmsg_len);
	poll(&p, 1, -1);
	p.events = POLLIN;
	poll(&p, 1, -1);
	IS(read(fd, &answer, sizeof answer), n);
	close(fd);
}

// What is no message for the family is the kernel's, whatever it is, and nothing is taken.
static void others(void)
{
	int fd = open_socket(0), route = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	for (int n = 1; n < 40; n++) {
		request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
		attribute(CTRL_ATTR_FAMILY_NAME, "TIPCv2", 7);
		m.h.nlmsg_len = n < 20 ? n : n * 100;
		IS(sendto(fd, &m, n < 20 ? n : 28, 0, NULL, 0), n < 20 ? n : 28);
		if (n < 16 || n >= 20)
			FAILS(get(fd, MSG_DONTWAIT), EAGAIN); // it is cut
		else
			IS(get(fd, 0) > 0, 1);
	}
	for (int n = 0; n < 4; n++) { // of attributes that have no end
		request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
		attribute(CTRL_ATTR_FAMILY_NAME, "TIPCv2", 7);
		m.rest[0] = n;
		IS(put(fd), 1);
		IS(get(fd, 0) > 0, 1);
		IS(answer.error.e.error, -EINVAL);
	}
	FAILS(sendto(fd, (void *)-1, 100, 0, NULL, 0), EFAULT);
	request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	attribute(CTRL_ATTR_FAMILY_NAME, "TIPCv2", 7);
	IS(put(route), 1);
	int pipes[2];
	IS(pipe(pipes), 0);
	IS(write(pipes[1], &m, m.h.nlmsg_len), m.h.nlmsg_len);
	IS(read(pipes[0], &answer, sizeof answer), m.h.nlmsg_len);
	char name[7] = { 0 };
	socklen_t len = 0;
	IS(getsockopt(fd, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, name, &len), 0);
	close(fd);
	close(route);
}

// Children and programs that are started have the socket too, and ask it.
static void children(const char *self)
{
	int fd = open_socket(0);
	IS(family(fd, "TIPCv2") > 0, 1);
	for (int i = 0; i < 2; i++) {
		pid_t p = fork();
		if (p == 0 && i == 0)
			_exit(list(fd, family(fd, "TIPCv2"), TIPC_NL_MEDIA_GET) != 2 || family(fd, "nlctrl") != GENL_ID_CTRL);
		char number[12];
		snprintf(number, sizeof number, "%d", fd);
		if (p == 0)
			_exit(execl(self, self, number, (char *)NULL));
		int status = -1;
		waitpid(p, &status, 0);
		IS(status, 0);
	}
	int copy = dup(fd);
	close(fd);
	IS(family(copy, "TIPCv2") > 0, 1);
	close(copy);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		int fd = atoi(argv[1]);
		return list(fd, family(fd, "TIPCv2"), TIPC_NL_MEDIA_GET) != 2 || family(fd, "nlctrl") != GENL_ID_CTRL;
	}
	both_families();
	acknowledgements();
	reading();
	others();
	children(argv[0]);
	if (!wrong)
		puts("all is well");
	return 0;
}
