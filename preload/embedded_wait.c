// SPDX-License-Identifier: Apache-2.0
//
// Waiting for the node in the process, and for what the kernel has besides. A call looks at the node, which drives it, and at
// the kernel, and does so again for a short while. Then it sleeps in the kernel, with one descriptor more, to which the node
// writes when something is ready.
#include "embedded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	SECOND = 1000000000,
	SPIN = 50000, // ns for which a call that waits looks before it sleeps
	SIGNALS = 8,  // bytes of the kernel's signal set
	MOST = 64,    // handles of which a call asks at once
};

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static int processors(void)
{
	static int n;
	if (n == 0)
		n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	return n;
}

struct wait_limit limit_of(const struct timespec *timeout)
{
	struct wait_limit w = { .none = timeout == NULL };
	if (timeout != NULL && timeout->tv_sec == 0 && timeout->tv_nsec == 0) {
		w.at_once = 1;
		return w;
	}
	int64_t begun = now();
	w.spin = processors() > 1 ? begun + SPIN : 0; // one processor is the peer's, perhaps
	if (timeout != NULL)
		w.until = timeout->tv_sec > INT32_MAX ? INT64_MAX : begun + (int64_t)timeout->tv_sec * SECOND + timeout->tv_nsec;
	return w;
}

int wait_step(struct wait_limit *w, struct pollfd *p, nfds_t n, const sigset_t *mask, int (*ready)(void *of), void *of)
{
	struct timespec at_once = { 0 }, left;
	int64_t t = w->at_once ? 0 : now();
	if (w->at_once || t < w->spin || (!w->none && t >= w->until)) {
		int k = waiting_call(SYS_ppoll, p, n, &at_once, mask, SIGNALS);
		if (k != 0 || w->at_once || (!w->none && t >= w->until))
			return k;
		return -2;
	}
	int waker = embedded_library.arm();
	if (waker < 0) {
		errno = -waker;
		return -1;
	}
	int k = -2;
	if (!ready(of)) { // what came before it was armed
		p[n] = (struct pollfd){ .fd = waker, .events = POLLIN };
		left = (struct timespec){ .tv_sec = (w->until - t) / SECOND, .tv_nsec = (w->until - t) % SECOND };
		k = waiting_call(SYS_ppoll, p, n + 1, w->none ? NULL : &left, mask, SIGNALS);
		if (k > 0 && p[n].revents != 0)
			k = k == 1 ? -2 : k - 1;
		w->spin = k == -2 ? now() + (processors() > 1 ? SPIN : 0) : 0;
	}
	int e = errno;
	embedded_library.disarm(waker);
	errno = e;
	return k;
}

// A look is what a call of poll looks for.
struct look_for {
	struct pollfd *p;
	nfds_t n;
};

// count fills in what the node has for a program, and returns for how many descriptors.
static int count(const struct look_for *l, int turn)
{
	int32_t handles[MOST];
	uint16_t ready[MOST];
	nfds_t of[MOST];
	int found = 0;
	for (nfds_t i = 0; i < l->n;) {
		int k = 0;
		for (; i < l->n && k < MOST; i++) {
			struct embedded *x = embedded_any(l->p[i].fd);
			l->p[i].revents = 0;
			if (x != NULL) {
				handles[k] = x->handle;
				of[k++] = i;
			}
		}
		if (k == 0)
			continue;
		embedded_ready(handles, ready, k, turn);
		turn = 0;
		for (int j = 0; j < k; j++) {
			struct pollfd *p = &l->p[of[j]];
			p->revents = ready[j] & (p->events | POLLERR | POLLHUP | POLLNVAL);
			if ((p->events & POLLRDNORM) && (ready[j] & POLLIN))
				p->revents |= POLLRDNORM;
			if ((p->events & POLLWRNORM) && (ready[j] & POLLOUT))
				p->revents |= POLLWRNORM;
			found += p->revents != 0;
		}
	}
	return found;
}

static int found_any(void *of) { return count(of, 0) > 0; }

// own_part copies what the kernel is to look at: all but the connections of the node.
static void own_part(const struct look_for *l, struct pollfd *kernel)
{
	for (nfds_t i = 0; i < l->n; i++) {
		kernel[i] = l->p[i];
		if (embedded_of(l->p[i].fd) != NULL)
			kernel[i].fd = -1;
	}
}

// merge adds what the kernel has found, and returns for how many descriptors something is there.
static int merge(const struct look_for *l, const struct pollfd *kernel)
{
	int found = 0;
	for (nfds_t i = 0; i < l->n; i++) {
		if (kernel[i].fd >= 0)
			l->p[i].revents |= kernel[i].revents;
		found += l->p[i].revents != 0;
	}
	return found;
}

int embedded_poll(struct pollfd *p, nfds_t n, const struct timespec *timeout, const sigset_t *mask, int *rc)
{
	enum { FEW = 32 };
	struct pollfd few[FEW + 1], *kernel = few;
	nfds_t any = 0;
	for (nfds_t i = 0; embedded_used && i < n; i++)
		any += embedded_any(p[i].fd) != NULL;
	if (any == 0)
		return 0;
	*rc = -1;
	if (n > FEW && (kernel = malloc((n + 1) * sizeof *kernel)) == NULL) {
		errno = ENOMEM;
		return 1;
	}
	struct look_for l = { p, n };
	struct wait_limit w = limit_of(timeout);
	for (;;) {
		if (count(&l, 1) > 0)
			w.at_once = 1;
		own_part(&l, kernel);
		int k = wait_step(&w, kernel, n, mask, found_any, &l);
		if (k == -2)
			continue;
		*rc = k;
		if (k < 0)
			break;
		if (!w.at_once)
			count(&l, 0);
		*rc = merge(&l, kernel);
		if (*rc > 0 || k == 0)
			break;
	}
	int e = errno;
	if (kernel != few)
		free(kernel);
	errno = e;
	return 1;
}

int embedded_wait(int fd, short events, int option)
{
	struct pollfd p = { .fd = fd, .events = events };
	struct timeval t = { 0 };
	socklen_t len = sizeof t;
	syscall(SYS_getsockopt, fd, SOL_SOCKET, option, &t, &len);
	struct timespec limit = { t.tv_sec, t.tv_usec * 1000 };
	int rc = -1;
	if (!embedded_poll(&p, 1, t.tv_sec != 0 || t.tv_usec != 0 ? &limit : NULL, NULL, &rc)) {
		errno = EBADF; // it was closed
		return -1;
	}
	if (rc == 0)
		errno = EAGAIN;
	return rc > 0 ? 0 : -1;
}

enum { WORD = 8 * sizeof(unsigned long) };

static int has(const fd_set *s, int fd) { return s != NULL && ((const unsigned long *)(const void *)s)[fd / WORD] >> (fd % WORD) & 1; }

static int keep(fd_set *s, int fd, int on)
{
	if (!has(s, fd))
		return 0;
	if (!on)
		((unsigned long *)(void *)s)[fd / WORD] &= ~(1UL << (fd % WORD));
	return on;
}

int embedded_select(int n, fd_set *r, fd_set *w, fd_set *x, struct timespec *timeout, const sigset_t *mask, int *rc)
{
	int any = 0, k = 0;
	for (int fd = 0; embedded_used && fd < n; fd++)
		any += (has(r, fd) || has(w, fd) || has(x, fd)) && embedded_any(fd) != NULL;
	if (any == 0)
		return 0;
	*rc = -1;
	struct pollfd *p = calloc(n, sizeof *p);
	if (p == NULL) {
		errno = ENOMEM;
		return 1;
	}
	for (int fd = 0; fd < n; fd++) {
		short events = (has(r, fd) ? POLLIN : 0) | (has(w, fd) ? POLLOUT : 0) | (has(x, fd) ? POLLPRI : 0);
		if (events != 0)
			p[k++] = (struct pollfd){ .fd = fd, .events = events };
	}
	int64_t begun = timeout != NULL ? now() : 0;
	if (embedded_poll(p, k, timeout, mask, rc) && *rc >= 0) {
		*rc = 0;
		for (int i = 0; i < k && *rc >= 0; i++) {
			short e = p[i].revents;
			if (e & POLLNVAL) {
				errno = EBADF;
				*rc = -1;
				break;
			}
			*rc += keep(r, p[i].fd, (e & (POLLIN | POLLHUP | POLLERR)) != 0);
			*rc += keep(w, p[i].fd, (e & (POLLOUT | POLLERR)) != 0);
			*rc += keep(x, p[i].fd, (e & POLLPRI) != 0);
		}
		if (timeout != NULL) {
			int64_t left = (int64_t)timeout->tv_sec * SECOND + timeout->tv_nsec - (now() - begun);
			left = left > 0 ? left : 0;
			*timeout = (struct timespec){ left / SECOND, left % SECOND };
		}
	}
	int e = errno;
	free(p);
	errno = e;
	return 1;
}
