// SPDX-License-Identifier: Apache-2.0
//
// The calls that make sockets and connections.
#include "embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <linux/netlink.h>

// set_flags gives a descriptor the flags of socket and accept4.
int set_flags(int fd, int flags)
{
	if (!(flags & SOCK_CLOEXEC))
		syscall(SYS_fcntl, fd, F_SETFD, 0);
	if (flags & SOCK_NONBLOCK)
		syscall(SYS_fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK);
	return fd;
}

EXPORT int socket(int domain, int type, int protocol)
{
	if (domain != AF_TIPC) {
		int kernel = syscall(SYS_socket, domain, type, protocol);
		if (kernel >= 0 && domain == AF_NETLINK && protocol == NETLINK_GENERIC)
			plain_active = netlink_used = 1;
		return kernel;
	}
	enum { TYPES = 11, MASK = 15 };
	int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK), fd = -1;
	if ((kind & ~MASK) != 0 || kind >= TYPES) {
		errno = EINVAL;
		return -1;
	}
	if (protocol != 0) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	struct record q = { .op = OP_SOCKET, .arg0 = kind }, r;
	if (ask(&q, (struct payload){ 0 }, -1, &r, &fd, (struct iovec){ 0 }) < 0)
		return -1;
	plain_active = 1;
	mark_first(fd, 0);
	return set_flags(fd, type);
}

EXPORT int socketpair(int domain, int type, int protocol, int pair[2])
{
	if (domain != AF_TIPC)
		return syscall(SYS_socketpair, domain, type, protocol, pair);
	int a = socket(domain, type, protocol), b;
	if (a < 0)
		return -1;
	struct record q = { .op = OP_PAIR }, r;
	if (ask(&q, (struct payload){ 0 }, a, &r, &b, (struct iovec){ 0 }) < 0) {
		int e = errno;
		syscall(SYS_close, a);
		errno = e;
		return -1;
	}
	mark_first(b, 0);
	pair[0] = a;
	pair[1] = set_flags(b, type);
	return 0;
}

int bad_address(const struct sockaddr *a, socklen_t len)
{
	const struct sockaddr_tipc *t = (const void *)a;
	if (len >= sizeof *t && !readable(a, sizeof *t))
		return -1;
	if (a != NULL && len >= sizeof *t && t->family == AF_TIPC)
		return 0;
	errno = EINVAL;
	return -1;
}

EXPORT int bind(int fd, const struct sockaddr *a, socklen_t len)
{
	struct name own;
	int rc;
	if (!plain_calls() || !own_name(fd, &own))
		return tcp_bind(fd, a, len, &rc) ? rc : (int)syscall(SYS_bind, fd, a, len);
	if (tcp_kind(own.kind)) {
		errno = EINVAL;
		return -1;
	}
	int kernel = netlink_kernel(fd);
	if (kernel >= 0)
		return netlink_done(kernel, syscall(SYS_bind, kernel, a, len));
	struct record q = { .op = OP_BIND };
	if (len > 0) { // 0: all names are taken back
		if (bad_address(a, len) < 0)
			return -1;
		memcpy(&q.addr, a, sizeof q.addr);
	}
	return simple(q, fd, NULL);
}

uint32_t raise_barrier(int fd)
{
	static const char zeros[BARRIER];
	ssize_t k = syscall(SYS_sendto, fd, zeros, sizeof zeros, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
	return k > 0 ? k : 0;
}

EXPORT int listen(int fd, int backlog)
{
	struct name own;
	int rc;
	if (!plain_calls() || !own_name(fd, &own))
		return tcp_listen(fd, backlog, &rc) ? rc : (int)syscall(SYS_listen, fd, backlog);
	if (tcp_kind(own.kind))
		return tcp_listen_again(fd, backlog);
	if (is_netlink(fd)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (simple((struct record){ .op = OP_LISTEN }, fd, NULL) < 0)
		return -1;
	raise_barrier(fd);
	return 0;
}

EXPORT int connect(int fd, const struct sockaddr *a, socklen_t len)
{
	struct record q = { .op = OP_CONNECT }, r;
	int barrier = 1, kernel, rc;
	switch (look_at(fd, NULL)) {
	case EMBEDDED:
		return embedded_connect_again(fd, a, len);
	case FOREIGN:
		return tcp_connect(fd, a, len, &rc) ? rc : (int)waiting_call(SYS_connect, fd, a, len);
	case TCP_CONNECTED:
	case TCP_IDLE:
		return tcp_connect_again(fd, a, len);
	case CONNECTED:
		if (bad_address(a, len) < 0)
			return -1;
		errno = hung_up(fd) ? EINVAL : EISCONN;
		return -1;
	case MESSAGES:
		barrier = 0;
		if (a != NULL && len == sizeof q.addr && readable(a, len) && a->sa_family == AF_UNSPEC)
			return simple(q, fd, NULL);
		if (len != sizeof q.addr)
			len = 0;
		break;
	case NETLINK:
		kernel = netlink_kernel(fd);
		return kernel < 0 ? -1 : netlink_done(kernel, syscall(SYS_connect, kernel, a, len));
	case UNCONNECTED:
		break;
	}
	if (bad_address(a, len) < 0)
		return -1;
	memcpy(&q.addr, a, sizeof q.addr);
	q.arg0 = nonblocking(fd);
	if (simple((struct record){ .op = OP_STATE }, fd, &r) < 0)
		return -1;
	if (r.arg0 == STATE_OPEN && barrier)
		q.arg1 = raise_barrier(fd);
	return simple(q, fd, NULL);
}

int take_descriptor(int fd, int flags)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	int ticket;
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
	ssize_t k = waiting_call(SYS_recvmsg, fd, &m, flags | MSG_CMSG_CLOEXEC);
	if (k < 0)
		return -1;
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	if (k == 0 || h == NULL || h->cmsg_type != SCM_RIGHTS) {
		errno = EINVAL;
		return -1;
	}
	memcpy(&ticket, CMSG_DATA(h), sizeof ticket);
	return ticket;
}

static int listening(int fd)
{
	struct record r;
	if (simple((struct record){ .op = OP_STATE }, fd, &r) < 0)
		return 0;
	return r.arg0 == STATE_LISTENING;
}

EXPORT int accept4(int fd, struct sockaddr *a, socklen_t *len, int flags)
{
	switch (look_at(fd, NULL)) {
	case FOREIGN:
		return waiting_call(SYS_accept4, fd, a, len, flags);
	case TCP_IDLE:
		return tcp_accept(fd, a, len, flags);
	case TCP_CONNECTED:
	case CONNECTED:
	case EMBEDDED:
		errno = EINVAL;
		return -1;
	case MESSAGES:
	case NETLINK:
		errno = EOPNOTSUPP;
		return -1;
	case UNCONNECTED:
		break;
	}
	int wait = MSG_DONTWAIT, e = errno;
	for (;;) {
		int ticket = take_descriptor(fd, wait);
		if (ticket < 0 && errno == EAGAIN && wait != 0) {
			if (!listening(fd)) {
				errno = EINVAL;
				return -1;
			}
			wait = 0; // as the descriptor has it
			errno = e;
			continue;
		}
		if (ticket < 0)
			return -1;
		struct record q = { .op = OP_ACCEPT }, r;
		int got = -1, rc = ask_on(ticket, &q, (struct payload){ 0 }, -1, &r, &got, (struct iovec){ 0 }), failed = errno;
		syscall(SYS_close, ticket);
		if (rc < 0 && failed == EAGAIN) // the request is gone
			continue;
		if (rc < 0) {
			errno = failed;
			return -1;
		}
		give_address(&r.addr, a, len);
		mark_first(got, 0);
		return set_flags(got, flags);
	}
}

EXPORT int accept(int fd, struct sockaddr *a, socklen_t *len) { return accept4(fd, a, len, 0); }

EXPORT int shutdown(int fd, int how)
{
	struct name own;
	struct embedded *x = embedded_of(fd);
	if (x != NULL)
		return embedded_shutdown(x, how);
	if (!plain_calls() || !own_name(fd, &own))
		return syscall(SYS_shutdown, fd, how);
	if (tcp_kind(own.kind))
		return tcp_shutdown(fd, how);
	if (is_netlink(fd)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (how != SHUT_RDWR) {
		errno = EINVAL;
		return -1;
	}
	if (simple((struct record){ .op = OP_SHUTDOWN }, fd, NULL) < 0) {
		if (errno == ENOTCONN)
			shut_unconnected(fd);
		return -1;
	}
	syscall(SYS_shutdown, fd, SHUT_RDWR);
	char unread[4096];
	int e = errno;
	while (syscall(SYS_recvfrom, fd, unread, sizeof unread, MSG_DONTWAIT, NULL, NULL) > 0)
		;
	errno = e;
	return 0;
}

EXPORT int getsockname(int fd, struct sockaddr *restrict a, socklen_t *restrict len)
{
	struct name own;
	struct embedded *x = embedded_of(fd);
	if (x != NULL)
		return embedded_name(x, 0, a, len);
	if (!plain_calls() || !own_name(fd, &own))
		return syscall(SYS_getsockname, fd, a, len);
	if (tcp_kind(own.kind))
		return tcp_sockname(fd, a, len);
	int kernel = netlink_kernel(fd);
	if (kernel >= 0)
		return netlink_done(kernel, syscall(SYS_getsockname, kernel, a, len));
	return give_address(&own.addr, a, len);
}

EXPORT int getpeername(int fd, struct sockaddr *restrict a, socklen_t *restrict len)
{
	struct name peer;
	struct record r;
	int kernel;
	switch (look_at(fd, &peer)) {
	case EMBEDDED:
		return embedded_name(embedded_of(fd), 1, a, len);
	case FOREIGN:
		return syscall(SYS_getpeername, fd, a, len);
	case TCP_CONNECTED:
	case TCP_IDLE:
		return tcp_peername(fd, a, len);
	case CONNECTED:
		if (!hung_up(fd))
			return give_address(&peer.addr, a, len);
		break;
	case MESSAGES:
		if (simple((struct record){ .op = OP_STATE }, fd, &r) == 0 && r.addr2.family == AF_TIPC)
			return give_address(&r.addr2, a, len);
		break;
	case NETLINK:
		kernel = netlink_kernel(fd);
		return kernel < 0 ? -1 : netlink_done(kernel, syscall(SYS_getpeername, kernel, a, len));
	case UNCONNECTED:
		break;
	}
	errno = ENOTCONN;
	return -1;
}

EXPORT int close(int fd)
{
	struct name own;
	char byte;
	int before = errno;
	embedded_close(fd);
	enum look is = look_at(fd, NULL);
	if (is == TCP_CONNECTED || is == TCP_IDLE)
		return tcp_close(fd);
	if (is == MESSAGES || (is == CONNECTED && !hung_up(fd))) {
		if (syscall(SYS_recvfrom, fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) > 0)
			return close_unread(fd);
		errno = before;
	}
	int told = (is == MESSAGES || is == UNCONNECTED) && own_name(fd, &own);
	int rc = waiting_call(SYS_close, fd), e = errno;
	if (told && rc == 0) // the daemon has taken it back when this returns, unless there is another descriptor
		simple((struct record){ .op = OP_CLOSED, .wide = own.cookie }, -1, NULL);
	errno = e;
	return rc;
}
