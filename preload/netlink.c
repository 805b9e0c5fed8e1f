// SPDX-License-Identifier: Apache-2.0
//
// Generic netlink. A socket of the kernel's stays what it is until the program asks it for the
// family TIPCv2. Then a plain socket takes the place of its descriptor: what is for that family is
// answered there by the daemon, and what comes from the kernel comes there too. The kernel's socket
// is in the daemon; all other calls are made on it, by this process.
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

int netlink_used;

enum { FAMILY = 1023, HEAD = NLMSG_HDRLEN + GENL_HDRLEN };

// A request is the beginning of a message.
struct request {
	struct nlmsghdr h;
	struct genlmsghdr g;
};

// names_family reports whether attributes name the family TIPCv2, by its name or number.
static int names_family(const char *p, size_t n)
{
	struct nlattr a;
	uint16_t id;
	while (n >= sizeof a) {
		memcpy(&a, p, sizeof a);
		if (a.nla_len < sizeof a || a.nla_len > n)
			return 0;
		size_t len = a.nla_len - sizeof a, step = NLA_ALIGN(a.nla_len);
		if (a.nla_type == CTRL_ATTR_FAMILY_NAME && len >= sizeof "TIPCv2" && strncmp(p + sizeof a, "TIPCv2", len) == 0)
			return 1;
		if (a.nla_type == CTRL_ATTR_FAMILY_ID && len >= sizeof id) {
			memcpy(&id, p + sizeof a, sizeof id);
			if (id == FAMILY)
				return 1;
		}
		if (step >= n)
			return 0;
		p += step;
		n -= step;
	}
	return 0;
}

// for_family reports whether a datagram is for the family TIPCv2, or asks for it. What stands in a
// datagram behind its first message goes the same way.
static int for_family(const struct msghdr *m, size_t len)
{
	enum { MOST = 4096 };
	struct request r;
	void *room;
	if (len < HEAD || (m->msg_iovlen == 1 && !readable(m->msg_iov[0].iov_base, len < MOST ? len : MOST)))
		return 0;
	const char *all = gather(m, len, &room);
	if (all == NULL)
		return 0;
	memcpy(&r, all, sizeof r);
	int is = r.h.nlmsg_type == FAMILY;
	if (r.h.nlmsg_type == GENL_ID_CTRL && r.g.cmd == CTRL_CMD_GETFAMILY && r.h.nlmsg_len >= HEAD && r.h.nlmsg_len <= len)
		is = names_family(all + HEAD, r.h.nlmsg_len - HEAD);
	free(room);
	return is;
}

// is_generic reports whether a descriptor is a generic netlink socket of the kernel's. It keeps errno.
static int is_generic(int fd)
{
	int domain = 0, protocol = 0, e = errno;
	socklen_t len = sizeof domain;
	int is = syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_NETLINK &&
		 syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) == 0 && protocol == NETLINK_GENERIC;
	errno = e;
	return is;
}

int is_netlink(int fd)
{
	struct name own;
	return netlink_used && own_name(fd, &own) && own.kind == SOCK_RAW;
}

int takes_netlink(int fd) { return is_netlink(fd) || (netlink_used && is_generic(fd)); }

// take_place puts a plain socket in the place of a netlink socket, and returns 0 if that cannot be.
static int take_place(int fd)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof a;
	struct record q = { .op = OP_NETLINK }, r;
	int got = -1, flags = syscall(SYS_fcntl, fd, F_GETFD), e = errno;
	if (syscall(SYS_getsockname, fd, &a, &len) == 0 && a.nl_pid == 0) // as the first send does
		syscall(SYS_bind, fd, &(struct sockaddr_nl){ .nl_family = AF_NETLINK }, sizeof a);
	int done = ask(&q, (struct payload){ 0 }, fd, &r, &got, (struct iovec){ 0 }) == 0 && got >= 0 &&
		   syscall(SYS_dup3, got, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0) >= 0;
	if (got >= 0)
		syscall(SYS_close, got);
	errno = e;
	return done;
}

int netlink_kernel(int fd)
{
	struct record q = { .op = OP_KERNEL }, r;
	int got = -1;
	if (!is_netlink(fd))
		return -1;
	if (ask(&q, (struct payload){ 0 }, fd, &r, &got, (struct iovec){ 0 }) < 0 || got < 0)
		return -1;
	return got;
}

long netlink_done(int kernel, long rc)
{
	int e = errno;
	syscall(SYS_close, kernel);
	errno = e;
	return rc;
}

int netlink_send(int fd, const struct msghdr *m, size_t len, int flags, ssize_t *rc)
{
	int plain = is_netlink(fd);
	if (!netlink_used || (!plain && !is_generic(fd)))
		return 0;
	int family = for_family(m, len);
	if (plain && !family) {
		int kernel = netlink_kernel(fd);
		*rc = kernel < 0 ? -1 : netlink_done(kernel, syscall(SYS_sendmsg, kernel, m, flags));
		return 1;
	}
	if (!family || (!plain && !take_place(fd))) // the kernel says that there is no such family
		return 0;
	struct msghdr own = { .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen };
	*rc = waiting_call(SYS_sendmsg, fd, &own, (flags & MSG_DONTWAIT) | MSG_NOSIGNAL);
	if (*rc < 0 && errno == EPIPE)
		errno = ENETDOWN;
	return 1;
}

ssize_t netlink_receive(int fd, struct msghdr *m, int flags)
{
	static const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr k = { .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen };
	ssize_t n = waiting_call(SYS_recvmsg, fd, &k, flags);
	if (n < 0 && errno == ECONNRESET)
		errno = ENETDOWN;
	if (n == 0 && hung_up(fd)) {
		errno = ENETDOWN;
		n = -1;
	}
	if (n < 0)
		return n;
	m->msg_flags = (k.msg_flags & MSG_TRUNC) | (flags & MSG_CMSG_CLOEXEC);
	m->msg_controllen = 0;
	if (m->msg_name != NULL) {
		memcpy(m->msg_name, &kernel, m->msg_namelen < sizeof kernel ? m->msg_namelen : sizeof kernel);
		m->msg_namelen = sizeof kernel;
	}
	return n;
}
