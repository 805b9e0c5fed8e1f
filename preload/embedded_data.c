// SPDX-License-Identifier: Apache-2.0
//
// Data of the node in the process.
#include "embedded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 1024 };

static ssize_t fail(int e)
{
	errno = e;
	return -1;
}

// A rest is what is left of the parts of a message.
struct rest {
	struct iovec few[8], *all, *v;
	int n;
};

static int begin(struct rest *r, const struct msghdr *m)
{
	if (m->msg_iovlen > PARTS)
		return (int)fail(EMSGSIZE);
	r->all = r->few;
	if (m->msg_iovlen > sizeof r->few / sizeof *r->few && (r->all = malloc(m->msg_iovlen * sizeof *r->all)) == NULL)
		return (int)fail(ENOMEM);
	r->v = r->all;
	r->n = 0;
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		struct iovec v = m->msg_iov[i];
		if (v.iov_len == 0)
			continue;
		if (!readable(v.iov_base, v.iov_len)) {
			if (r->all != r->few)
				free(r->all);
			return -1;
		}
		r->v[r->n++] = v;
	}
	return 0;
}

static void advance(struct rest *r, size_t k)
{
	while (r->n > 0 && k >= r->v->iov_len) {
		k -= r->v->iov_len;
		r->v++;
		r->n--;
	}
	if (r->n > 0) {
		r->v->iov_base = (char *)r->v->iov_base + k;
		r->v->iov_len -= k;
	}
}

static void end(struct rest *r)
{
	int e = errno;
	if (r->all != r->few)
		free(r->all);
	errno = e;
}

ssize_t embedded_send(int fd, struct embedded *x, const struct msghdr *m, int flags)
{
	struct rest r;
	size_t done = 0;
	if (flags & MSG_OOB)
		return fail(EOPNOTSUPP);
	if (begin(&r, m) < 0)
		return -1;
	ssize_t k = 0;
	while (r.n > 0) {
		k = embedded_library.send(x->handle, r.v, r.n);
		if (k > 0) {
			done += k;
			advance(&r, k);
			continue;
		}
		if (k != -EAGAIN)
			break;
		embedded_tried(x, EPOLLOUT);
		if ((flags & MSG_DONTWAIT) || nonblocking(fd))
			break;
		if (embedded_wait(fd, POLLOUT, SO_SNDTIMEO) < 0) {
			k = -errno;
			break;
		}
	}
	end(&r);
	if (done > 0 || k >= 0)
		return (ssize_t)done;
	return k == -EPIPE ? tcp_broken(flags) : fail((int)-k);
}

ssize_t embedded_receive(int fd, struct embedded *x, struct msghdr *m, int flags)
{
	struct rest r;
	size_t done = 0;
	if (flags & (MSG_OOB | MSG_ERRQUEUE))
		return fail(flags & MSG_OOB ? EINVAL : EAGAIN);
	if (begin(&r, m) < 0)
		return -1;
	ssize_t k = 0;
	while (r.n > 0) {
		k = embedded_library.recv(x->handle, r.v, r.n, (flags & MSG_PEEK) != 0);
		embedded_tried(x, EPOLLIN | EPOLLRDHUP);
		if (k > 0) {
			done += k;
			advance(&r, k);
			if ((flags & MSG_WAITALL) == 0 || (flags & MSG_PEEK))
				break;
			continue;
		}
		if (k != -EAGAIN || (flags & MSG_DONTWAIT) || nonblocking(fd))
			break;
		if (embedded_wait(fd, POLLIN, SO_RCVTIMEO) < 0) {
			k = -errno;
			break;
		}
	}
	end(&r);
	if (k < 0 && done == 0)
		return fail((int)-k);
	m->msg_namelen = 0;
	m->msg_controllen = 0;
	m->msg_flags = 0;
	return (ssize_t)done;
}
