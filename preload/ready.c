// SPDX-License-Identifier: Apache-2.0
//
// Readiness. It is the kernel's own, but for two things that a UNIX socket reports and TIPC does
// not: of one that has ended, that it is writable, and the peer's half of the end; and that it is
// writable in bands.
#include "embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

enum {
	BANDS = POLLWRNORM | POLLWRBAND,
	NOT_ENDED = POLLOUT | BANDS | POLLRDHUP | POLLERR, // what an ended socket does not report
	SIGNALS = 8, // bytes of the kernel's signal set
};

_Static_assert(EPOLLHUP == POLLHUP && EPOLLRDHUP == POLLRDHUP, "the bits of poll and epoll are the same");

// without_bands takes the bands out of what is asked of plain sockets, and reports whether that changed anything.
static int without_bands(struct pollfd *p, nfds_t n, short *asked)
{
	int changed = 0;
	for (nfds_t i = 0; i < n; i++) {
		asked[i] = p[i].events;
		if ((p[i].events & BANDS) != 0 && tipc_name(p[i].fd)) {
			p[i].events &= ~BANDS;
			changed = 1;
		}
	}
	return changed;
}

static int asks_for_bands(const struct pollfd *p, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++)
		if ((p[i].events & BANDS) != 0)
			return 1;
	return 0;
}

// as_ended takes out of p what an ended plain socket does not report.
static void as_ended(struct pollfd *p)
{
	if ((p->revents & POLLHUP) != 0 && (p->revents & NOT_ENDED) != 0 && tipc_name(p->fd))
		p->revents &= ~NOT_ENDED;
}

// worth reports whether a wait with a limit, or NULL, is long enough for looks before it: they delay its end by no more than
// the kernel's timers may.
static int worth(const struct timespec *limit)
{
	enum { SHORTEST_WAIT = 1000000 };
	return limit == NULL || limit->tv_sec > 0 || limit->tv_nsec >= SHORTEST_WAIT;
}

EXPORT int ppoll(struct pollfd *p, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct timespec rest, *limit = NULL;
	if (timeout != NULL) {
		rest = *timeout; // the kernel changes it
		limit = &rest;
	}
	if (!plain_calls())
		return waiting_call(SYS_ppoll, p, n, limit, mask, SIGNALS);
	int rc;
	if (p != NULL && embedded_poll(p, n, limit, mask, &rc))
		return rc;
	short *asked = NULL;
	int changed = 0, shut = shut_polled(p, n);
	if (shut > 0) {
		rest = (struct timespec){ 0 };
		limit = &rest;
	}
	if (p != NULL && asks_for_bands(p, n) && (asked = malloc(n * sizeof *asked)) != NULL)
		changed = without_bands(p, n, asked);
	int r = look_first(n > 0 && worth(limit), SYS_ppoll, p, n, &(struct timespec){ 0 }, mask, SIGNALS);
	if (r == 0)
		r = waiting_call(SYS_ppoll, p, n, limit, mask, SIGNALS);
	if (changed)
		for (nfds_t i = 0; i < n; i++)
			p[i].events = asked[i];
	free(asked);
	for (nfds_t i = 0; r > 0 && i < n; i++)
		as_ended(&p[i]);
	if (shut > 0 && r >= 0)
		r = shut_report(p, n, r);
	return r;
}

EXPORT int poll(struct pollfd *p, nfds_t n, int timeout)
{
	struct timespec t = { timeout / 1000, timeout % 1000 * 1000000L };
	return ppoll(p, n, timeout < 0 ? NULL : &t, NULL);
}

// The words of a set of descriptors, which may be larger than an fd_set.
enum { WORD = 8 * sizeof(unsigned long) };

// ended_writable takes ended plain sockets out of the set of those that may be written, and returns how many.
// With keep it only counts them.
static int ended_writable(int n, unsigned long *set, int keep)
{
	int k = 0;
	for (int fd = 0; fd < n; fd++) {
		unsigned long bit = 1UL << (fd % WORD);
		if (set[fd / WORD] == 0) {
			fd |= WORD - 1; // the next word
			continue;
		}
		struct pollfd p = { .fd = fd };
		if ((set[fd / WORD] & bit) == 0 || !tipc_name(fd) ||
		    syscall(SYS_ppoll, &p, 1, &(struct timespec){ 0 }, NULL, SIGNALS) <= 0 || (p.revents & POLLHUP) == 0)
			continue;
		k++;
		if (!keep)
			set[fd / WORD] &= ~bit;
	}
	return k;
}

// look_at_sets makes the looks of select_plain, at copies: what finds nothing leaves a set empty. 0: nothing is ready, or it made
// none.
static int look_at_sets(int n, fd_set *const all[], const void *mask)
{
	enum { SETS = 3 };
	unsigned long copies[SETS][FD_SETSIZE / WORD], *to[SETS] = { NULL };
	size_t len = ((size_t)n + WORD - 1) / WORD * sizeof **copies;
	struct lane_wait w = { 0 };
	int k;
	if (!lane_on || !plain_calls() || n <= 0 || n > FD_SETSIZE)
		return 0;
	for (int i = 0; i < SETS; i++)
		if (all[i] != NULL && !readable(all[i], len))
			return 0;
	do {
		for (int i = 0; i < SETS; i++)
			if (all[i] != NULL)
				to[i] = memcpy(copies[i], all[i], len);
		k = syscall(SYS_pselect6, n, to[0], to[1], to[2], &(struct timespec){ 0 }, mask);
	} while (lane_again(&w, k != 0));
	for (int i = 0; k > 0 && i < SETS; i++)
		if (all[i] != NULL)
			memcpy(all[i], copies[i], len);
	return k;
}

// select_plain is pselect, which changes the timeout to what is left of it.
static int select_plain(int n, fd_set *r, fd_set *w, fd_set *x, struct timespec *timeout, const sigset_t *mask)
{
	struct {
		const sigset_t *mask;
		size_t size;
	} set = { mask, SIGNALS };
	int rc, at_once = timeout != NULL && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
	if (embedded_select(n, r, w, x, timeout, mask, &rc))
		return rc;
	unsigned long *shut = shut_selected(n, r);
	int k = shut == NULL && worth(timeout) ? look_at_sets(n, (fd_set *const[]){ r, w, x }, &set) : 0;
	if (k == 0)
		k = waiting_call(SYS_pselect6, n, r, w, x, shut != NULL ? &(struct timespec){ 0 } : timeout, &set);
	int more = shut != NULL && k >= 0 ? shut_readable(n, r, shut) : 0;
	free(shut);
	if (more > 0)
		return k + more;
	if (!plain_calls() || k <= 0 || w == NULL)
		return k;
	int ended = ended_writable(n, (void *)w, 1);
	if (ended < k || at_once) // else a call that waited would return for nothing
		k -= ended_writable(n, (void *)w, 0);
	return k;
}

EXPORT int pselect(int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x, const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
	struct timespec t;
	if (timeout != NULL)
		t = *timeout;
	return select_plain(n, r, w, x, timeout != NULL ? &t : NULL, mask);
}

EXPORT int select(int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x, struct timeval *restrict timeout)
{
	if (timeout == NULL)
		return select_plain(n, r, w, x, NULL, NULL);
	if (timeout->tv_sec < 0 || timeout->tv_usec < 0) {
		errno = EINVAL;
		return -1;
	}
	struct timespec t = { timeout->tv_sec + timeout->tv_usec / 1000000, timeout->tv_usec % 1000000 * 1000 };
	int k = select_plain(n, r, w, x, &t, NULL);
	timeout->tv_sec = t.tv_sec;
	timeout->tv_usec = t.tv_nsec / 1000;
	return k;
}

enum { MOST_TEXT = 65536, SHORTEST = 40 }; // of what /proc says of an epoll, and of one line of it

// registrations goes by what /proc says. Of a very large epoll it returns the first ones alone.
struct registration *registrations(int ep, int *count)
{
	char path[64], *text = malloc(MOST_TEXT + 1);
	struct registration *all = malloc(MOST_TEXT / SHORTEST * sizeof *all);
	*count = 0;
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", ep);
	int f = text != NULL && all != NULL ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
	size_t n = 0;
	for (ssize_t k = 1; f >= 0 && k > 0 && n < MOST_TEXT; n += k > 0 ? k : 0)
		k = syscall(SYS_read, f, text + n, MOST_TEXT - n);
	if (f >= 0) {
		syscall(SYS_close, f);
		text[n] = 0;
		for (char *at = text; *count < MOST_TEXT / SHORTEST && (at = strstr(at, "tfd:")) != NULL; at++) {
			struct registration *r = &all[*count];
			unsigned long long data;
			if (sscanf(at, "tfd: %d events: %x data: %llx", &r->fd, &r->events, &data) == 3) {
				r->data = data;
				++*count;
			}
		}
	}
	free(text);
	return all;
}

// registered returns the descriptor that an epoll has with data, or -1.
static int registered(int ep, uint64_t data)
{
	int count, found = -1;
	struct registration *all = registrations(ep, &count);
	for (int i = 0; i < count && found < 0; i++)
		if (all[i].data == data)
			found = all[i].fd;
	free(all);
	return found;
}

static int of_epoll(int ep, struct epoll_event *e, int n)
{
	if (!plain_calls())
		return n;
	int err = errno;
	for (int i = 0; i < n; i++)
		if ((e[i].events & EPOLLHUP) != 0 && (e[i].events & NOT_ENDED) != 0 && tipc_name(registered(ep, e[i].data.u64)))
			e[i].events &= ~NOT_ENDED;
	errno = err;
	return n;
}

// shut_in returns what an epoll has if there are sockets among it that were shut down without a connection, else
// NULL.
static struct registration *shut_in(int ep, int *count)
{
	if (!shut_used)
		return NULL;
	int e = errno;
	struct registration *all = registrations(ep, count);
	if (shut_registered(all, *count) == 0) {
		free(all);
		all = NULL;
	}
	errno = e;
	return all;
}

// with_shut adds what they report.
static int with_shut(struct registration *all, int count, struct epoll_event *e, int n, int most)
{
	if (all != NULL && n >= 0)
		n = shut_events(all, count, e, n, most);
	free(all);
	return n;
}

int plain_epoll(int ep, struct epoll_event *e, int most, int timeout, const sigset_t *mask)
{
	int count;
	struct registration *shut = shut_in(ep, &count);
	int n = look_first(shut == NULL && timeout != 0, SYS_epoll_pwait, ep, e, most, 0, mask, SIGNALS);
	if (n == 0)
		n = waiting_call(SYS_epoll_pwait, ep, e, most, shut != NULL ? 0 : timeout, mask, SIGNALS);
	return with_shut(shut, count, e, of_epoll(ep, e, n), most);
}

EXPORT int epoll_pwait(int ep, struct epoll_event *e, int most, int timeout, const sigset_t *mask)
{
	int rc;
	struct timespec t = { timeout / 1000, timeout % 1000 * 1000000L };
	if (embedded_epoll(ep, e, most, timeout < 0 ? NULL : &t, mask, &rc))
		return rc;
	return plain_epoll(ep, e, most, timeout, mask);
}

EXPORT int epoll_wait(int ep, struct epoll_event *e, int most, int timeout) { return epoll_pwait(ep, e, most, timeout, NULL); }

EXPORT int epoll_pwait2(int ep, struct epoll_event *e, int most, const struct timespec *timeout, const sigset_t *mask)
{
	int count, rc;
	if (embedded_epoll(ep, e, most, timeout, mask, &rc))
		return rc;
	struct registration *shut = shut_in(ep, &count);
	int n = look_first(shut == NULL && worth(timeout), SYS_epoll_pwait2, ep, e, most, &(struct timespec){ 0 }, mask, SIGNALS);
	if (n == 0)
		n = waiting_call(SYS_epoll_pwait2, ep, e, most, shut != NULL ? &(struct timespec){ 0 } : timeout, mask, SIGNALS);
	return with_shut(shut, count, e, of_epoll(ep, e, n), most);
}

// The names that calls have with _FORTIFY_SOURCE.
int __poll_chk(struct pollfd *p, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *p, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room);

EXPORT int __poll_chk(struct pollfd *p, nfds_t n, int timeout, size_t room)
{
	if (n > room / sizeof *p)
		abort();
	return poll(p, n, timeout);
}

EXPORT int __ppoll_chk(struct pollfd *p, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room)
{
	if (n > room / sizeof *p)
		abort();
	return ppoll(p, n, timeout, mask);
}
