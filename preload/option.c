// SPDX-License-Identifier: Apache-2.0
//
// Options of sockets, and ioctl.
#include "embedded.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

static int join_group(int fd, const void *value, socklen_t len)
{
	struct tipc_group_req g;
	if (value == NULL || len < sizeof g) {
		errno = EINVAL;
		return -1;
	}
	if (!readable(value, sizeof g))
		return -1;
	memcpy(&g, value, sizeof g);
	struct record q = { .op = OP_JOIN, .arg0 = g.flags, .addr = { .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR } };
	q.addr.scope = g.scope <= TIPC_NODE_SCOPE ? (signed char)g.scope : -1;
	q.addr.addr.name.name.type = g.type;
	q.addr.addr.name.name.instance = g.instance;
	return simple(q, fd, NULL);
}

EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	struct name own;
	struct embedded *x = embedded_of(fd);
	if (x != NULL)
		return embedded_setsockopt(fd, x, level, name, value, len);
	if (plain_calls() && own_name(fd, &own) && tcp_kind(own.kind))
		return tcp_setsockopt(fd, &own, level, name, value, len);
	if (plain_calls() && level == SOL_SOCKET && name == SO_PEEK_OFF && own_name(fd, NULL)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (!plain_calls() || level == SOL_SOCKET || !own_name(fd, &own))
		return syscall(SYS_setsockopt, fd, level, name, value, len);
	int kernel = netlink_kernel(fd);
	if (kernel >= 0)
		return netlink_done(kernel, syscall(SYS_setsockopt, kernel, level, name, value, len));
	if (level == IPPROTO_TCP && own.kind == SOCK_STREAM)
		return 0;
	if (level != SOL_TIPC) {
		errno = ENOPROTOOPT;
		return -1;
	}
	if (name == TIPC_GROUP_JOIN)
		return join_group(fd, value, len);
	uint32_t v = 0;
	int without = name == TIPC_MCAST_BROADCAST || name == TIPC_MCAST_REPLICAST || name == TIPC_GROUP_LEAVE;
	if (without ? value != NULL || len > 0 : value == NULL || len < sizeof v) {
		errno = EINVAL;
		return -1;
	}
	if (!without && !readable(value, sizeof v))
		return -1;
	if (!without)
		memcpy(&v, value, sizeof v);
	if (name == TIPC_GROUP_LEAVE)
		return simple((struct record){ .op = OP_LEAVE }, fd, NULL);
	if (name == TIPC_IMPORTANCE && (int32_t)v < 0)
		v = 0; // as a kernel reads it
	struct option o = { .name = name, .value = v };
	struct record q = { .op = OP_SETOPTION }, r;
	return ask(&q, (struct payload){ &o, sizeof o }, fd, &r, NULL, (struct iovec){ 0 });
}

// of_socket answers the options of SOL_SOCKET that a plain socket has otherwise than its UNIX socket. It
// returns 0 if they are the same, and -1 with errno.
static int of_socket(int fd, int name, const struct name *own, int *v)
{
	struct record r;
	switch (name) {
	case SO_DOMAIN:
		*v = AF_TIPC;
		return 1;
	case SO_TYPE:
		*v = own->kind;
		return 1;
	case SO_ACCEPTCONN:
		*v = look_at(fd, NULL) == UNCONNECTED && simple((struct record){ .op = OP_STATE }, fd, &r) == 0 && r.arg0 == STATE_LISTENING;
		return 1;
	case SO_PEEK_OFF:
		errno = EOPNOTSUPP;
		return -1;
	case SO_PEERNAME:
		if (look_at(fd, NULL) == CONNECTED)
			return 0;
		errno = ENOTCONN;
		return -1;
	case SO_ERROR:
		*v = look_at(fd, NULL) == UNCONNECTED && simple((struct record){ .op = OP_STATE }, fd, &r) == 0 ? (int)r.arg1 : 0;
		return 1;
	}
	return 0;
}

EXPORT int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict len)
{
	struct name own;
	int v = 0, ours = 0, kernel;
	struct embedded *x = embedded_of(fd);
	if (x != NULL)
		return embedded_getsockopt(fd, x, level, name, value, len);
	if (plain_calls() && own_name(fd, &own) && tcp_kind(own.kind))
		return tcp_getsockopt(fd, &own, level, name, value, len);
	if ((level != SOL_SOCKET || name == SO_DOMAIN || name == SO_TYPE || name == SO_PROTOCOL) && (kernel = netlink_kernel(fd)) >= 0)
		return netlink_done(kernel, syscall(SYS_getsockopt, kernel, level, name, value, len));
	if (plain_calls() && own_name(fd, &own) && !is_netlink(fd))
		ours = level == SOL_SOCKET ? of_socket(fd, name, &own, &v) : 1;
	if (ours == 0)
		return syscall(SYS_getsockopt, fd, level, name, value, len);
	if (ours < 0 || !readable(len, sizeof *len))
		return -1;
	if (level == IPPROTO_TCP && own.kind == SOCK_STREAM) {
		*len = 0;
		return 0;
	}
	if (level != SOL_SOCKET && level != SOL_TIPC) {
		errno = ENOPROTOOPT;
		return -1;
	}
	if (level == SOL_TIPC && (name == TIPC_SOCK_RECVQ_DEPTH || name == TIPC_SOCK_RECVQ_USED) && *len >= sizeof v) {
		int used, depth = message_count(fd, &used);
		v = name == TIPC_SOCK_RECVQ_DEPTH ? depth : used;
	} else if (level == SOL_TIPC) {
		if (*len < sizeof v) {
			errno = EINVAL;
			return -1;
		}
		struct option o = { .name = name };
		struct record q = { .op = OP_GETOPTION }, r;
		if (ask(&q, (struct payload){ &o, sizeof o }, fd, &r, NULL, (struct iovec){ &o, sizeof o }) < 0)
			return -1;
		v = (int)o.value;
	}
	if (*len > sizeof v)
		*len = sizeof v;
	if (*len > 0 && !readable(value, *len))
		return -1;
	memcpy(value, &v, *len);
	return 0;
}

static int node_id(int fd, struct tipc_sioc_nodeid_req *a)
{
	struct record q = { .op = OP_INFO, .arg1 = a->peer }, r;
	return ask(&q, (struct payload){ 0 }, fd, &r, NULL, (struct iovec){ a->node_id, sizeof a->node_id });
}

static int link_name(int fd, struct tipc_sioc_ln_req *a)
{
	struct record q = { .op = OP_INFO, .arg0 = 1, .arg1 = a->peer, .wide = a->bearer_id }, r;
	memset(a->linkname, 0, sizeof a->linkname);
	return ask(&q, (struct payload){ 0 }, fd, &r, NULL, (struct iovec){ a->linkname, sizeof a->linkname - 1 });
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	va_start(ap, request);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	if (embedded_of(fd) != NULL && (request == FIONREAD || request == TIOCOUTQ || request == SIOCATMARK)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (!plain_calls() || !tipc_name(fd) || is_netlink(fd))
		return syscall(SYS_ioctl, fd, request, arg);
	switch (request) {
	case SIOCGETNODEID:
		if (!readable(arg, sizeof(struct tipc_sioc_nodeid_req)))
			return -1;
		return node_id(fd, arg);
	case SIOCGETLINKNAME:
		if (!readable(arg, sizeof(struct tipc_sioc_ln_req)))
			return -1;
		return link_name(fd, arg);
	case FIONREAD:
	case TIOCOUTQ:
	case SIOCATMARK:
		errno = ENOTTY;
		return -1;
	}
	return syscall(SYS_ioctl, fd, request, arg);
}
