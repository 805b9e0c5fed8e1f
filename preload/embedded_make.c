// SPDX-License-Identifier: Apache-2.0
//
// The calls that make connections of the node in the process.
#include "embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

// locate says to the daemon at which socket of the node a plain socket is, unless that is NULL, and asks where an address is,
// unless that is NULL.
static int locate(int fd, const struct utipc_embedded_at *own, const struct endpoint *of, struct utipc_embedded_at *found)
{
	struct record q = { .op = OP_TCP_AT }, r;
	if (own != NULL) {
		q.addr2 = (struct sockaddr_tipc){ .family = AF_TIPC, .addrtype = TIPC_SOCKET_ADDR };
		q.addr2.addr.id.ref = own->ref;
		q.addr2.addr.id.node = own->node;
	}
	if (of != NULL) {
		q.addr = (struct sockaddr_tipc){ .family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR };
		q.addr.addr.name.name.type = of->ip;
		q.addr.addr.name.name.instance = of->port;
	}
	if (simple(q, fd, &r) < 0)
		return -1;
	if (found != NULL) {
		*found = (struct utipc_embedded_at){ 0 };
		if (r.addr2.family == AF_TIPC) {
			found->node = r.addr2.addr.id.node;
			found->ref = r.addr2.addr.id.ref;
		}
	}
	return 0;
}

// new_socket makes a socket of a handle, and fd its descriptor, which no other program is to have. Errors: with the handle closed.
static struct embedded *new_socket(int fd, int handle, int kind, struct endpoint local, struct endpoint peer, int listens)
{
	struct embedded *x = calloc(1, sizeof *x);
	if (x != NULL)
		*x = (struct embedded){ .handle = handle, .kind = kind, .local = local, .peer = peer, .listens = listens };
	if (x == NULL || embedded_put(fd, x) < 0) {
		embedded_library.close(handle, 1);
		free(x);
		return NULL;
	}
	if (!listens)
		syscall(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
	return x;
}

// outcome is how a connection has begun: 0, or -1 with errno.
static int outcome(struct embedded *x)
{
	int e = embedded_library.error(x->handle);
	if (e == 0) {
		x->connected = 1;
		return 0;
	}
	errno = e < 0 ? -e : e;
	return -1;
}

// give_up takes a socket that was refused out again: the descriptor is a plain socket's as before.
static void give_up(int fd)
{
	int e = errno;
	struct embedded *x = embedded_take(fd);
	if (x != NULL) {
		embedded_library.close(x->handle, 1);
		free(x);
	}
	errno = e;
}

int embedded_connect(int fd, struct endpoint own, struct endpoint to, int *rc)
{
	struct name n;
	int node = embedded_node();
	if (node <= 0) {
		*rc = -1;
		return node < 0;
	}
	*rc = -1;
	if (own_name(fd, &n) == 0)
		return 0;
	struct utipc_embedded_at from = { .ip = own.ip, .port = own.port, .node = embedded_address() }, at;
	if (locate(fd, &from, &to, &at) < 0) {
		if (errno == EOPNOTSUPP) // a daemon that knows of no such nodes
			return 0;
		return 1;
	}
	if (at.node == 0) // a program without a node of its own
		return 0;
	at.ip = to.ip;
	at.port = to.port;
	int handle = embedded_library.connect(&from, &at);
	if (handle < 0) {
		errno = -handle;
		return 1;
	}
	struct embedded *x = new_socket(fd, handle, n.kind, own, to, 0);
	if (x == NULL)
		return 1;
	move_registrations(fd, embedded_registered);
	if (nonblocking(fd)) {
		errno = EINPROGRESS;
		return 1;
	}
	if (embedded_wait(fd, POLLOUT, SO_SNDTIMEO) < 0) {
		errno = errno == EAGAIN ? EINPROGRESS : errno;
		return 1;
	}
	*rc = outcome(x);
	if (*rc < 0)
		give_up(fd);
	return 1;
}

int embedded_connect_again(int fd, const struct sockaddr *a, socklen_t len)
{
	struct embedded *x = embedded_of(fd);
	uint16_t ready = 0;
	embedded_ready(&x->handle, &ready, 1, 1);
	if (x->connected) {
		errno = EISCONN;
		return -1;
	}
	if (ready == 0 && !nonblocking(fd)) {
		if (embedded_wait(fd, POLLOUT, SO_SNDTIMEO) < 0)
			return -1;
		embedded_ready(&x->handle, &ready, 1, 0);
	}
	if (ready == 0) {
		errno = EALREADY;
		return -1;
	}
	if ((ready & POLLERR) == 0) {
		x->connected = 1;
		errno = EISCONN;
		return -1;
	}
	int e = embedded_library.error(x->handle);
	give_up(fd);
	if (e == 0) // it was reported
		return tcp_connect_again(fd, a, len);
	errno = e < 0 ? -e : e;
	return -1;
}

int embedded_listen(int fd, const struct name *own, struct endpoint at, int backlog)
{
	int node = embedded_node();
	if (node <= 0 || embedded_any(fd) != NULL)
		return node < 0 ? -1 : 0;
	struct utipc_embedded_at to = { .ip = at.ip, .port = at.port };
	int handle = embedded_library.listen(&to, backlog);
	if (handle < 0) {
		errno = -handle;
		return -1;
	}
	if (locate(fd, &to, NULL, NULL) < 0) {
		int e = errno;
		embedded_library.close(handle, 1);
		errno = e;
		return errno == EOPNOTSUPP ? 0 : -1;
	}
	if (new_socket(fd, handle, own->kind, at, (struct endpoint){ 0 }, 1) == NULL)
		return -1;
	move_registrations(fd, embedded_registered);
	return 0;
}

// accept_own takes a connection of the node, and returns -2 if there is none.
static int accept_own(int fd, struct embedded *l)
{
	for (;;) {
		struct utipc_embedded_at from = { 0 }, at;
		int handle = embedded_library.accept(l->handle, &from);
		if (handle == -EAGAIN)
			return -2;
		if (handle < 0) {
			errno = -handle;
			return -1;
		}
		struct endpoint peer = { from.ip, from.port };
		if (locate(fd, NULL, &peer, &at) < 0 || at.node != from.node) { // it is from an address that is not its own
			embedded_library.close(handle, 1);
			continue;
		}
		int got = syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), e;
		struct embedded *x = got >= 0 ? new_socket(got, handle, l->kind, l->local, peer, 0) : NULL;
		if (x != NULL) {
			x->connected = 1;
			return got;
		}
		e = errno;
		if (got >= 0)
			syscall(SYS_close, got);
		else
			embedded_library.close(handle, 1);
		errno = e;
		return -1;
	}
}

int embedded_accept(int fd)
{
	struct embedded *l = embedded_any(fd);
	uint16_t ready;
	for (;;) {
		embedded_ready(&l->handle, &ready, 1, 1);
		int got = accept_own(fd, l);
		if (got != -2)
			return got;
		got = take_descriptor(fd, MSG_DONTWAIT);
		if (got >= 0 || errno != EAGAIN || nonblocking(fd) || embedded_wait(fd, POLLIN, SO_RCVTIMEO) < 0)
			return got;
	}
}
