// SPDX-License-Identifier: Apache-2.0
//
// The calls that make connections of TCP.
#include "embedded.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { PREFIX_BITS = 32 };

// The daemon's prefix. asked is 0 until it has said.
static struct {
	int asked;
	uint32_t ip, mask, own;
} prefix;

// given reads the prefix of the environment, without which the library leaves all sockets of TCP to the kernel, and returns
// 0 if there is none.
static int given(uint32_t *ip, uint32_t *mask)
{
	const char *text = tcp_variable();
	unsigned b[4], bits;
	if (text == NULL || sscanf(text, "%3u.%3u.%3u.%3u/%2u", &b[0], &b[1], &b[2], &b[3], &bits) != 5 || bits == 0 || bits > PREFIX_BITS)
		return 0;
	*mask = ~0U << (PREFIX_BITS - bits);
	*ip = (b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]) & *mask;
	return 1;
}

// ask_prefix returns 0 if the program is to have no sockets of the prefix. Where the daemon cannot be asked, it is that
// of the environment, for what is sent to it not to go elsewhere.
static int ask_prefix(void)
{
	uint32_t ip, mask;
	if (prefix.asked)
		return prefix.mask != 0;
	if (!given(&ip, &mask))
		return 0;
	struct record q = { .op = OP_TCP }, r;
	int e = errno;
	if (ask(&q, (struct payload){ 0 }, -1, &r, NULL, (struct iovec){ 0 }) == 0) {
		prefix.mask = ~0U << (PREFIX_BITS - r.arg1);
		prefix.ip = r.arg0;
		prefix.own = r.addr.addr.name.name.type;
		prefix.asked = 1;
	} else {
		prefix.mask = mask;
		prefix.ip = ip;
	}
	errno = e;
	return 1;
}

// endpoint reads an address, and returns 0 for one that is not of IPv4.
static int endpoint(const struct sockaddr *a, socklen_t len, struct endpoint *e)
{
	const struct sockaddr_in *in = (const void *)a;
	const struct sockaddr_in6 *in6 = (const void *)a;
	if (a == NULL || len < sizeof *in || !readable(a, len < sizeof *in6 ? len : sizeof *in6))
		return 0;
	if (a->sa_family == AF_INET) {
		*e = (struct endpoint){ ntohl(in->sin_addr.s_addr), ntohs(in->sin_port) };
		return 1;
	}
	if (a->sa_family != AF_INET6 || len < sizeof *in6 || !IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		return 0;
	*e = (struct endpoint){ ntohl(in6->sin6_addr.s6_addr32[3]), ntohs(in6->sin6_port) };
	return 1;
}

static int in_prefix(const struct sockaddr *a, socklen_t len, struct endpoint *e)
{
	return endpoint(a, len, e) && ask_prefix() && (e->ip & prefix.mask) == prefix.ip;
}

int give_endpoint(int kind, const struct name *n, struct sockaddr *a, socklen_t *len)
{
	union {
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} to;
	socklen_t size = sizeof to.in;
	memset(&to, 0, sizeof to);
	uint32_t ip = htonl(n->addr.addr.id.node);
	if (kind == KIND_TCP) {
		to.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(n->addr.addr.id.ref), .sin_addr.s_addr = ip };
	} else {
		size = sizeof to.in6;
		to.in6.sin6_family = AF_INET6;
		to.in6.sin6_port = htons(n->addr.addr.id.ref);
		if (ip != 0) {
			to.in6.sin6_addr.s6_addr32[2] = htonl(0xffff);
			to.in6.sin6_addr.s6_addr32[3] = ip;
		}
	}
	if (!readable(len, sizeof *len))
		return -1;
	if (*len > INT32_MAX) {
		errno = EINVAL;
		return -1;
	}
	socklen_t n_copied = *len < size ? *len : size;
	if (n_copied > 0 && !readable(a, n_copied))
		return -1;
	memcpy(a, &to, n_copied);
	*len = size;
	return 0;
}

static int number(int fd, int level, int name)
{
	int v = 0;
	socklen_t len = sizeof v;
	return syscall(SYS_getsockopt, fd, level, name, &v, &len) == 0 ? v : -1;
}

enum { MULTIPATH = 262 }; // IPPROTO_MPTCP

// kernel_tcp returns the kind for a socket of the kernel's TCP, or 0.
static int kernel_tcp(int fd)
{
	int e = errno, domain = number(fd, SOL_SOCKET, SO_DOMAIN), protocol = number(fd, SOL_SOCKET, SO_PROTOCOL);
	int is = (domain == AF_INET || domain == AF_INET6) && number(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM &&
		 (protocol == IPPROTO_TCP || protocol == MULTIPATH);
	errno = e;
	return !is ? 0 : domain == AF_INET ? KIND_TCP : KIND_TCP6;
}

// What a request for a socket has in arg0 beside its kind.
enum { REUSE_ADDR = 1 << 8, REUSE_PORT = 1 << 9, LISTENS = 1 << 10 };

// replace has a plain socket take the place of fd. kernel is a listener that the daemon is to have, or -1.
static int replace(int fd, int kind, struct endpoint at, int kernel, int backlog)
{
	struct record q = { .op = OP_TCP_SOCKET, .arg0 = kind, .arg1 = backlog, .addr = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR } }, r;
	q.addr.addr.name.name.type = at.ip;
	q.addr.addr.name.name.instance = at.port;
	q.arg0 |= number(fd, SOL_SOCKET, SO_REUSEADDR) > 0 ? REUSE_ADDR : 0;
	q.arg0 |= number(fd, SOL_SOCKET, SO_REUSEPORT) > 0 ? REUSE_PORT : 0;
	q.arg0 |= kernel >= 0 ? LISTENS : 0;
	int plain = -1;
	if (ask(&q, (struct payload){ 0 }, kernel, &r, &plain, (struct iovec){ 0 }) < 0) {
		if (errno == EAFNOSUPPORT || errno == EOPNOTSUPP)
			errno = ENETUNREACH;
		return -1;
	}
	plain_active = 1;
	keep_options(fd, plain);
	if (kernel >= 0)
		raise_barrier(plain);
	take_place(plain, fd);
	return 0;
}

int tcp_bind(int fd, const struct sockaddr *a, socklen_t len, int *rc)
{
	struct endpoint at;
	int kind;
	if (!in_prefix(a, len, &at) || (kind = kernel_tcp(fd)) == 0)
		return 0;
	*rc = replace(fd, kind, at, -1, 0);
	return 1;
}

// listen_embedded has the node in the process listen as well.
static int listen_embedded(int fd, int backlog)
{
	struct name own;
	if (!own_name(fd, &own))
		return 0;
	struct endpoint at = { prefix.own, (uint16_t)own.addr.addr.id.ref };
	return embedded_listen(fd, &own, at, backlog);
}

int tcp_listen(int fd, int backlog, int *rc)
{
	struct sockaddr_in6 own;
	socklen_t len = sizeof own;
	struct endpoint at = { 0 };
	int kind, e = errno;
	if (!ask_prefix() || (kind = kernel_tcp(fd)) == 0)
		return 0;
	*rc = syscall(SYS_listen, fd, backlog);
	if (*rc < 0 || syscall(SYS_getsockname, fd, &own, &len) < 0)
		return 1;
	int any = kind == KIND_TCP ? ((struct sockaddr_in *)&own)->sin_addr.s_addr == INADDR_ANY :
				     IN6_IS_ADDR_UNSPECIFIED(&own.sin6_addr) && number(fd, IPPROTO_IPV6, IPV6_V6ONLY) <= 0;
	at.port = ntohs(own.sin6_port); // at the place of sin_port
	if (any)
		*rc = replace(fd, kind, at, fd, backlog);
	if (any && *rc == 0)
		*rc = listen_embedded(fd, backlog);
	if (*rc == 0)
		errno = e;
	return 1;
}

int tcp_listen_again(int fd, int backlog)
{
	struct record r;
	if (simple((struct record){ .op = OP_STATE }, fd, &r) < 0 || simple((struct record){ .op = OP_LISTEN, .arg0 = backlog }, fd, NULL) < 0)
		return -1;
	if (r.arg0 != STATE_LISTENING)
		raise_barrier(fd);
	return listen_embedded(fd, backlog);
}

// raise_all writes until the socket is not writable.
static uint32_t raise_all(int fd)
{
	uint32_t all = 0, more;
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		more = raise_barrier(fd);
		all += more;
		if (more == 0 || syscall(SYS_ppoll, &p, 1, &(struct timespec){ 0 }, NULL, 0) <= 0 || (p.revents & POLLOUT) == 0)
			return all;
	}
}

// connect_plain connects a plain socket that is bound.
static int connect_plain(int fd, struct endpoint to)
{
	struct record q = { .op = OP_CONNECT, .arg0 = nonblocking(fd), .addr = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR } };
	struct name own;
	int rc;
	if (own_name(fd, &own)) {
		struct endpoint from = { own.addr.addr.id.node != 0 ? own.addr.addr.id.node : prefix.own, (uint16_t)own.addr.addr.id.ref };
		if (embedded_connect(fd, from, to, &rc))
			return rc;
	}
	q.addr.addr.name.name.type = to.ip;
	q.addr.addr.name.name.instance = to.port;
	if (q.arg0 == 0)
		q.wide = send_limit(fd);
	q.arg1 = raise_all(fd);
	return simple(q, fd, NULL);
}

int tcp_connect(int fd, const struct sockaddr *a, socklen_t len, int *rc)
{
	struct sockaddr_in6 own;
	socklen_t n = sizeof own;
	struct endpoint to;
	int kind;
	if (!in_prefix(a, len, &to) || (kind = kernel_tcp(fd)) == 0)
		return 0;
	struct endpoint at = { prefix.own, 0 };
	if (syscall(SYS_getsockname, fd, &own, &n) == 0)
		at.port = ntohs(own.sin6_port); // 0, unless it is bound
	*rc = replace(fd, kind, at, -1, 0);
	if (*rc == 0)
		*rc = connect_plain(fd, to);
	return 1;
}

// renew has another plain socket take the place of one whose connection was refused: TCP connects such a socket again.
static int renew(int fd, const struct name *own)
{
	struct endpoint at = { own->addr.addr.id.node, 0 };
	return replace(fd, own->kind, at, -1, 0);
}

int tcp_connect_again(int fd, const struct sockaddr *a, socklen_t len)
{
	struct endpoint to;
	struct name own, peer;
	struct record r;
	if (!own_name(fd, &own) || !in_prefix(a, len, &to)) {
		errno = a != NULL && len >= sizeof a->sa_family && readable(a, sizeof a->sa_family) && a->sa_family == AF_UNSPEC ? EOPNOTSUPP : ENETUNREACH;
		return -1;
	}
	if (simple((struct record){ .op = OP_STATE }, fd, &r) < 0)
		return -1;
	switch (r.arg0) {
	case STATE_OPEN:
		return connect_plain(fd, to);
	case STATE_CONNECTING:
		if (!nonblocking(fd)) {
			struct record q = { .op = OP_CONNECT, .addr = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR }, .wide = send_limit(fd) };
			q.addr.addr.name.name.type = to.ip;
			q.addr.addr.name.name.instance = to.port;
			return simple(q, fd, NULL);
		}
		errno = EALREADY;
		return -1;
	case STATE_ENDED:
		if (peer_name(fd, &peer)) // it was connected, and TCP connects such a socket to nothing else
			break;
		if (r.arg1 != 0) { // the error is reported once
			errno = (int)r.arg1;
			return -1;
		}
		return renew(fd, &own) < 0 ? -1 : connect_plain(fd, to);
	}
	errno = EISCONN;
	return -1;
}

int tcp_accept(int fd, struct sockaddr *a, socklen_t *len, int flags)
{
	struct name own, peer;
	struct record r;
	struct embedded *x;
	int node = embedded_any(fd) != NULL, got = node ? embedded_accept(fd) : take_descriptor(fd, MSG_DONTWAIT), e = errno;
	if (got < 0 && !node && errno == EAGAIN && !nonblocking(fd)) {
		if (simple((struct record){ .op = OP_STATE }, fd, &r) == 0 && r.arg0 != STATE_LISTENING) {
			errno = EINVAL;
			return -1;
		}
		errno = e;
		got = take_descriptor(fd, 0);
	}
	if (got < 0)
		return -1;
	keep_options(fd, got);
	if ((x = embedded_of(got)) != NULL) {
		if (a != NULL && len != NULL)
			embedded_name(x, 1, a, len);
		return set_flags(got, flags | SOCK_CLOEXEC);
	}
	if (a != NULL && len != NULL) {
		if (!own_name(got, &own)) // one of the kernel
			syscall(SYS_getpeername, got, a, len);
		else if (peer_name(got, &peer))
			give_endpoint(own.kind, &peer, a, len);
	}
	return set_flags(got, flags);
}

int tcp_shutdown(int fd, int how)
{
	struct record r;
	if (look_at(fd, NULL) == TCP_IDLE && simple((struct record){ .op = OP_STATE }, fd, &r) == 0 && r.arg0 != STATE_LISTENING) {
		errno = ENOTCONN;
		return -1;
	}
	return syscall(SYS_shutdown, fd, how);
}

int tcp_sockname(int fd, struct sockaddr *a, socklen_t *len)
{
	struct name own;
	own_name(fd, &own);
	return give_endpoint(own.kind, &own, a, len);
}

int tcp_peername(int fd, struct sockaddr *a, socklen_t *len)
{
	struct name own, peer;
	struct pollfd p = { .fd = fd };
	int reset = syscall(SYS_ppoll, &p, 1, &(struct timespec){ 0 }, NULL, 0) == 1 && (p.revents & POLLERR) != 0;
	if (own_name(fd, &own) && peer_name(fd, &peer) && !reset) // TCP keeps the name until this end closes as well
		return give_endpoint(own.kind, &peer, a, len);
	errno = ENOTCONN;
	return -1;
}

int tcp_close(int fd)
{
	struct name own;
	struct linger l = { 0 };
	socklen_t len = sizeof l;
	int idle = look_at(fd, NULL) == TCP_IDLE;
	if (!idle && syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_LINGER, &l, &len) == 0 && l.l_onoff != 0 && l.l_linger == 0)
		return close_unread(fd);
	own_name(fd, &own);
	int rc = waiting_call(SYS_close, fd), e = errno;
	if (idle && rc == 0) // its port is free when this returns
		simple((struct record){ .op = OP_CLOSED, .wide = own.cookie }, -1, NULL);
	errno = e;
	return rc;
}
