// SPDX-License-Identifier: Apache-2.0
//
// epoll of sockets of the node in the process. What an epoll has of them is kept here; of a socket that listens the kernel has
// it as well, as its connections may come by the daemon.
#include "embedded.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// An entry is what an epoll has of a descriptor.
struct entry {
	int ep, fd;
	uint32_t events; // 0: it has reported, once
	uint32_t last;   // of EPOLLET, what was there when it last looked
	epoll_data_t data;
};

static struct {
	pthread_mutex_t lock; // of the rest
	struct entry *all;
	int n, room;
} sets = { .lock = PTHREAD_MUTEX_INITIALIZER };

// entry returns what an epoll has of a descriptor, or NULL. The lock is held.
static struct entry *entry(int ep, int fd)
{
	for (int i = 0; i < sets.n; i++)
		if (sets.all[i].ep == ep && sets.all[i].fd == fd)
			return &sets.all[i];
	return NULL;
}

enum { FLAGS = EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE | EPOLLWAKEUP };

// change does an epoll_ctl, and returns an errno.
static int change(int ep, int op, int fd, const struct epoll_event *e)
{
	struct entry *at = entry(ep, fd);
	if (op == EPOLL_CTL_ADD ? at != NULL : at == NULL)
		return op == EPOLL_CTL_ADD ? EEXIST : ENOENT;
	if (op == EPOLL_CTL_DEL) {
		*at = sets.all[--sets.n];
		return 0;
	}
	if (at == NULL && sets.n == sets.room) {
		int room = sets.room > 0 ? 2 * sets.room : 16;
		struct entry *all = realloc(sets.all, room * sizeof *all);
		if (all == NULL)
			return ENOMEM;
		sets.all = all;
		sets.room = room;
	}
	if (at == NULL)
		at = &sets.all[sets.n++];
	*at = (struct entry){ .ep = ep, .fd = fd, .events = e->events | EPOLLERR | EPOLLHUP, .data = e->data };
	return 0;
}

EXPORT int epoll_ctl(int ep, int op, int fd, struct epoll_event *e)
{
	struct embedded *x = embedded_any(fd);
	if (x == NULL || x->listens) {
		int rc = (int)syscall(SYS_epoll_ctl, ep, op, fd, e);
		if (x == NULL || rc < 0)
			return rc;
	} else if (syscall(SYS_epoll_ctl, ep, EPOLL_CTL_MOD, ep, e) < 0 && errno != EINVAL) { // as the kernel, of what is no epoll
		return -1;
	}
	if (op != EPOLL_CTL_DEL && !readable(e, sizeof *e))
		return -1;
	pthread_mutex_lock(&sets.lock);
	int wrong = change(ep, op, fd, e);
	pthread_mutex_unlock(&sets.lock);
	if (wrong == 0)
		return 0;
	errno = wrong;
	return -1;
}

void embedded_registered(int ep, int fd, struct epoll_event e)
{
	struct embedded *x = embedded_any(fd);
	if (x == NULL || x->listens)
		syscall(SYS_epoll_ctl, ep, EPOLL_CTL_ADD, fd, &e);
	if (x == NULL)
		return;
	pthread_mutex_lock(&sets.lock);
	change(ep, EPOLL_CTL_ADD, fd, &e);
	pthread_mutex_unlock(&sets.lock);
}

void embedded_forget(int fd)
{
	pthread_mutex_lock(&sets.lock);
	for (int i = 0; i < sets.n;)
		if (sets.all[i].ep == fd || sets.all[i].fd == fd)
			sets.all[i] = sets.all[--sets.n];
		else
			i++;
	pthread_mutex_unlock(&sets.lock);
}

void embedded_tried(struct embedded *x, uint32_t events)
{
	if (sets.n == 0)
		return;
	pthread_mutex_lock(&sets.lock);
	for (int i = 0; i < sets.n; i++)
		if (sets.all[i].last != 0 && embedded_any(sets.all[i].fd) == x)
			sets.all[i].last &= ~events;
	pthread_mutex_unlock(&sets.lock);
}

// A batch is what a call of epoll_wait looks for.
struct batch {
	int ep, most, turn;
	struct epoll_event *e;
	int n; // found
};

enum { MOST = 64 }; // handles of which a call asks at once

// report adds an event if an entry has one.
static void report(struct batch *b, struct entry *at, uint32_t ready)
{
	uint32_t events = ready & at->events & ~FLAGS;
	if (b->n == b->most) // an edge is for a call that has room
		return;
	if (at->events & EPOLLET) {
		uint32_t news = events & ~at->last;
		at->last = events;
		if (news == 0)
			return;
	}
	if (events == 0)
		return;
	if (at->events & EPOLLONESHOT)
		at->events = 0;
	b->e[b->n].events = events;
	b->e[b->n++].data = at->data;
}

// collect fills in what the node has for an epoll. The first to be asked is another each time, so that all get their turn.
static int collect(struct batch *b)
{
	static unsigned int first;
	int32_t handles[MOST];
	uint16_t ready[MOST];
	int of[MOST], k = 0;
	b->n = 0;
	pthread_mutex_lock(&sets.lock);
	for (int i = 0; i < sets.n && b->n < b->most; i++) {
		int at = (int)((i + first) % (unsigned int)sets.n);
		struct embedded *x = sets.all[at].ep == b->ep && sets.all[at].events != 0 ? embedded_any(sets.all[at].fd) : NULL;
		if (x != NULL) {
			handles[k] = x->handle;
			of[k++] = at;
		}
		if (k == MOST || (k > 0 && i == sets.n - 1)) {
			embedded_ready(handles, ready, k, b->turn);
			b->turn = 0;
			for (int j = 0; j < k; j++)
				report(b, &sets.all[of[j]], ready[j]);
			k = 0;
		}
	}
	first++;
	pthread_mutex_unlock(&sets.lock);
	return b->n;
}

static int found_any(void *of) { return collect(of) > 0; }

// has_own reports whether an epoll has sockets of the node.
static int has_own(int ep)
{
	int found = 0;
	pthread_mutex_lock(&sets.lock);
	for (int i = 0; i < sets.n && !found; i++)
		found = sets.all[i].ep == ep;
	pthread_mutex_unlock(&sets.lock);
	return found;
}

int embedded_epoll(int ep, struct epoll_event *e, int most, const struct timespec *timeout, const sigset_t *mask, int *rc)
{
	if (sets.n == 0 || most <= 0 || !has_own(ep))
		return 0;
	struct wait_limit w = limit_of(timeout);
	for (;;) {
		struct batch b = { .ep = ep, .most = most, .turn = 1, .e = e };
		struct pollfd p[2] = { { .fd = ep, .events = POLLIN } };
		int own = collect(&b), n = own < most ? plain_epoll(ep, e + own, most - own, 0, mask) : 0;
		if (own > 0 || n != 0) {
			*rc = n > 0 ? own + n : own > 0 ? own : n;
			return 1;
		}
		if (w.at_once) {
			*rc = 0;
			return 1;
		}
		n = wait_step(&w, p, 1, mask, found_any, &b);
		if (n == -2 && b.n > 0) { // taken while it was armed
			*rc = b.n;
			return 1;
		}
		if (n == 0 || n == -1) {
			*rc = n;
			return 1;
		}
	}
}
