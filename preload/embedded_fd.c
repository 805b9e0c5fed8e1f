// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of the node in the process: their names, options and copies, and what is refused.
#include "embedded.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>

int embedded_name(struct embedded *x, int peer, struct sockaddr *a, socklen_t *len)
{
	uint16_t ready = 0;
	if (peer && !x->connected) {
		embedded_ready(&x->handle, &ready, 1, 1);
		if (ready == 0 || (ready & POLLERR) != 0) {
			errno = ENOTCONN;
			return -1;
		}
		x->connected = 1;
	}
	struct endpoint e = peer ? x->peer : x->local;
	struct name n = { .kind = x->kind };
	n.addr.addr.id.node = e.ip;
	n.addr.addr.id.ref = e.port;
	return give_endpoint(x->kind, &n, a, len);
}

int embedded_shutdown(struct embedded *x, int how)
{
	if (how < SHUT_RD || how > SHUT_RDWR) {
		errno = EINVAL;
		return -1;
	}
	int rc = embedded_library.shutdown(x->handle, how);
	errno = rc < 0 ? -rc : errno;
	return rc < 0 ? -1 : 0;
}

int embedded_getsockopt(int fd, struct embedded *x, int level, int name, void *value, socklen_t *len)
{
	struct name own = { .kind = x->kind };
	if (level != SOL_SOCKET || name != SO_ERROR)
		return tcp_getsockopt(fd, &own, level, name, value, len);
	if (!readable(len, sizeof *len) || (*len > 0 && !readable(value, *len < sizeof(int) ? *len : sizeof(int))))
		return -1;
	int e = embedded_library.error(x->handle);
	if (e < 0) {
		errno = -e;
		return -1;
	}
	if (*len > sizeof e)
		*len = sizeof e;
	memcpy(value, &e, *len);
	return 0;
}

int embedded_setsockopt(int fd, struct embedded *x, int level, int name, const void *value, socklen_t len)
{
	struct name own = { .kind = x->kind };
	return tcp_setsockopt(fd, &own, level, name, value, len);
}

// release ends what a descriptor stands for, if it was the last.
static void release(int fd, int abort)
{
	if (embedded_borrowed())
		return;
	embedded_forget(fd);
	struct embedded *x = embedded_take(fd);
	if (x == NULL)
		return;
	embedded_library.close(x->handle, abort);
	free(x);
}

void embedded_close(int fd)
{
	struct linger l = { 0 };
	socklen_t len = sizeof l;
	if (!embedded_used)
		return;
	int e = errno;
	if (embedded_any(fd) != NULL)
		syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_LINGER, &l, &len);
	release(fd, l.l_onoff != 0 && l.l_linger == 0);
	errno = e;
}

// copied makes to a copy of a descriptor, which may have been another before.
static int copied(int from, int to)
{
	struct embedded *x = embedded_any(from);
	if (to < 0 || embedded_borrowed())
		return to;
	if (to != from && embedded_any(to) != NULL)
		release(to, 0);
	if (x == NULL || to == from)
		return to;
	if (embedded_put(to, x) < 0) {
		syscall(SYS_close, to);
		return -1;
	}
	if (!x->listens)
		syscall(SYS_fcntl, to, F_SETFD, FD_CLOEXEC);
	return to;
}

EXPORT int dup(int fd) { return copied(fd, (int)syscall(SYS_dup, fd)); }

EXPORT int dup3(int from, int to, int flags) { return copied(from, (int)syscall(SYS_dup3, from, to, flags)); }

EXPORT int dup2(int from, int to)
{
	if (from == to)
		return syscall(SYS_fcntl, from, F_GETFD) < 0 ? -1 : to;
	return dup3(from, to, 0);
}

static int control(int fd, int op, void *arg)
{
	int rc = (int)waiting_call(SYS_fcntl, fd, op, arg);
	if (op == F_DUPFD || op == F_DUPFD_CLOEXEC)
		return copied(fd, rc);
	if (op == F_SETFD && rc == 0 && embedded_of(fd) != NULL) // no other program has the node
		syscall(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
	return rc;
}

EXPORT int fcntl(int fd, int op, ...)
{
	va_list ap;
	va_start(ap, op);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	return control(fd, op, arg);
}

EXPORT int fcntl64(int fd, int op, ...)
{
	va_list ap;
	va_start(ap, op);
	void *arg = va_arg(ap, void *);
	va_end(ap);
	return control(fd, op, arg);
}

EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	enum { CLOSE_ON_EXEC = 1 << 2 };
	for (unsigned int fd = first; embedded_used && (flags & CLOSE_ON_EXEC) == 0 && fd < EMBEDDED_MOST && fd <= last; fd++)
		if (embedded_any((int)fd) != NULL)
			release((int)fd, 0);
	return (int)syscall(SYS_close_range, first, last, flags);
}

EXPORT void closefrom(int first)
{
	if (close_range(first > 0 ? first : 0, ~0U, 0) == 0)
		return;
	for (int fd = first > 0 ? first : 0; fd < EMBEDDED_MOST; fd++) // a kernel older than 5.9
		syscall(SYS_close, fd);
}

// What the kernel would do with the descriptor by itself.

EXPORT ssize_t sendfile(int out, int in, off_t *off, size_t n)
{
	if (embedded_any(out) == NULL && embedded_any(in) == NULL)
		return waiting_call(SYS_sendfile, out, in, off, n);
	errno = EINVAL; // by which programs know to read and write
	return -1;
}

EXPORT ssize_t sendfile64(int out, int in, off64_t *off, size_t n) { return sendfile(out, in, (off_t *)off, n); }

EXPORT ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned int flags)
{
	if (embedded_any(out) == NULL && embedded_any(in) == NULL)
		return waiting_call(SYS_splice, in, in_at, out, out_at, n, flags);
	errno = EINVAL;
	return -1;
}

EXPORT FILE *fdopen(int fd, const char *mode)
{
	static FILE *(*next)(int, const char *);
	if (embedded_any(fd) != NULL) { // its reads and writes are none that are caught here
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (next == NULL) {
		void *f = dlsym(RTLD_NEXT, "fdopen");
		memcpy(&next, &f, sizeof f);
	}
	return next(fd, mode);
}

int passes_embedded(const struct msghdr *m)
{
	if (!embedded_used || m->msg_control == NULL || m->msg_controllen < sizeof(struct cmsghdr))
		return 0;
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h != NULL; h = CMSG_NXTHDR((struct msghdr *)(uintptr_t)m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (h->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(h) + i * sizeof fd, sizeof fd);
			if (embedded_of(fd) != NULL)
				return 1;
		}
	}
	return 0;
}
