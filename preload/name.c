// SPDX-License-Identifier: Apache-2.0
//
// What a descriptor is, by the names of its two ends.
#include "embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/un.h>

int plain_active;

static const char prefix[] = "utipc1/";

static uint64_t hexes(const char *p, int n)
{
	uint64_t v = 0;
	for (int i = 0; i < n; i++)
		v = v << 4 | (uint64_t)(p[i] <= '9' ? p[i] - '0' : p[i] - 'a' + 10);
	return v;
}

static uint32_t hex(const char *p) { return (uint32_t)hexes(p, 8); }

// parse reads "utipc1/KIND/PORTNODE/COOKIE/SERVICE/CHECK".
static int parse(const struct sockaddr_un *a, socklen_t len, struct name *n)
{
	enum { KIND = sizeof prefix - 1, ADDR = KIND + 2, COOKIE = ADDR + 17, SERVICE = COOKIE + 17 };
	const char *p = a->sun_path + 1;
	if (a->sun_family != AF_UNIX || len < offsetof(struct sockaddr_un, sun_path) + 1 + SERVICE + 2 || a->sun_path[0] != 0 ||
	    memcmp(p, prefix, sizeof prefix - 1) != 0)
		return 0;
	if (n == NULL)
		return 1;
	*n = (struct name){ .kind = p[KIND] - '0', .addr = { .family = AF_TIPC, .addrtype = TIPC_SOCKET_ADDR } };
	n->addr.addr.id.ref = hex(p + ADDR);
	n->addr.addr.id.node = hex(p + ADDR + 8);
	n->cookie = hexes(p + COOKIE, 16);
	n->named = p[SERVICE] != '-';
	if (n->named) {
		n->service[0] = hex(p + SERVICE);
		n->service[1] = hex(p + SERVICE + 8);
	}
	return 1;
}

int own_name(int fd, struct name *own)
{
	struct sockaddr_un a;
	socklen_t len = sizeof a;
	int e = errno;
	int ok = syscall(SYS_getsockname, fd, &a, &len) == 0 && parse(&a, len, own);
	errno = e;
	return ok;
}

int peer_name(int fd, struct name *peer)
{
	struct sockaddr_un a;
	socklen_t len = sizeof a;
	int e = errno;
	int ok = syscall(SYS_getpeername, fd, &a, &len) == 0 && parse(&a, len, peer);
	errno = e;
	return ok;
}

enum look look_at(int fd, struct name *peer)
{
	struct sockaddr_un a;
	socklen_t len = sizeof a;
	if (!plain_calls())
		return FOREIGN;
	if (embedded_of(fd) != NULL)
		return EMBEDDED;
	int e = errno;
	enum look is = FOREIGN;
	struct name own;
	if (syscall(SYS_getpeername, fd, &a, &len) == 0 && a.sun_family == AF_UNIX) {
		struct name n;
		if (parse(&a, len, &n)) {
			is = tcp_kind(n.kind) ? TCP_CONNECTED : CONNECTED;
			if (peer != NULL)
				*peer = n;
		} else if (len <= offsetof(struct sockaddr_un, sun_path) && own_name(fd, &own))
			is = tcp_kind(own.kind) ? TCP_IDLE : own.kind == SOCK_RDM || own.kind == SOCK_DGRAM ? MESSAGES : own.kind == SOCK_RAW ? NETLINK : UNCONNECTED;
	}
	errno = e;
	return is;
}

// reports reports whether poll says one of what of a descriptor.
static int reports(int fd, short what)
{
	struct pollfd p = { .fd = fd, .events = what };
	int e = errno;
	struct timespec none = { 0 };
	int n = syscall(SYS_ppoll, &p, 1, &none, NULL, 0);
	errno = e;
	return n > 0 && (p.revents & what) != 0;
}

int hung_up(int fd) { return reports(fd, POLLHUP); }

int tipc_name(int fd)
{
	struct name own;
	return own_name(fd, &own) && !tcp_kind(own.kind);
}

int nonblocking(int fd) { return (syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) != 0; }

int readable(const void *p, size_t len)
{
	enum { NO_WAY = -1, WORD = 8, PAGE = 4096 }; // a change of the signal mask that there is not, the bytes of one, and a page's
	uintptr_t at = (uintptr_t)p, last = at + len - 1;
	int e = errno, ok;
	for (;; at = (at / PAGE + 1) * PAGE) { // a page has all of an aligned word, or nothing
		ok = syscall(SYS_rt_sigprocmask, NO_WAY, at / WORD * WORD, NULL, WORD) == 0 || errno != EFAULT;
		if (!ok || at / PAGE >= last / PAGE)
			break;
	}
	errno = ok ? e : EFAULT;
	return ok;
}

int give_address(const struct sockaddr_tipc *from, struct sockaddr *to, socklen_t *len)
{
	if (to == NULL || len == NULL)
		return 0;
	if (*len > INT32_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (*len > 0 && !readable(to, *len < sizeof *from ? *len : sizeof *from))
		return -1;
	memcpy(to, from, *len < sizeof *from ? *len : sizeof *from);
	*len = sizeof *from;
	return 0;
}

// Programs that are started by others may have got plain sockets from them.
__attribute__((constructor)) static void look_at_inherited(void)
{
	enum { FEW = 64 };
	struct name own;
	for (int fd = 0; fd < FEW; fd++) {
		if (!own_name(fd, &own))
			continue;
		plain_active = 1;
		netlink_used |= own.kind == SOCK_RAW;
	}
}
