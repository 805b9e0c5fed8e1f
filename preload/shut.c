// SPDX-License-Identifier: Apache-2.0
//
// Sockets that were shut down without a connection. As with a kernel the call fails, and the socket
// serves on, but is readable and hung up for poll from then on. The kernel keeps that with the UNIX
// socket, in an option that has no other use there. Processes in which no socket was shut down so, by
// them or before they were forked, do not ask for it.
#include "plain.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

int shut_used;

enum { READABLE = POLLIN | POLLRDNORM | POLLRDHUP }; // if asked for

void shut_unconnected(int fd)
{
	int on = 1, e = errno;
	char unread[64];
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SELECT_ERR_QUEUE, &on, sizeof on);
	shut_used = 1;
	if (look_at(fd, NULL) == MESSAGES)
		while (syscall(SYS_recvfrom, fd, unread, sizeof unread, MSG_DONTWAIT, NULL, NULL) >= 0)
			;
	errno = e;
}

// was_shut reports whether shut_unconnected was called of a descriptor, and it has not ended since.
static int was_shut(int fd)
{
	int on = 0, e = errno;
	socklen_t len = sizeof on;
	if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_SELECT_ERR_QUEUE, &on, &len) < 0)
		on = 0;
	on = on != 0 && tipc_name(fd) && !hung_up(fd);
	errno = e;
	return on;
}

int shut_polled(struct pollfd *p, nfds_t n)
{
	int k = 0;
	for (nfds_t i = 0; shut_used && i < n; i++)
		k += was_shut(p[i].fd);
	return k;
}

int shut_report(struct pollfd *p, nfds_t n, int ready)
{
	for (nfds_t i = 0; i < n; i++) {
		if (!was_shut(p[i].fd))
			continue;
		ready += p[i].revents == 0;
		p[i].revents |= POLLHUP | (p[i].events & READABLE);
	}
	return ready;
}

enum { WORD = 8 * sizeof(unsigned long) };

unsigned long *shut_selected(int n, const fd_set *r)
{
	const unsigned long *set = (const void *)r;
	unsigned long *shut = NULL;
	for (int fd = 0; shut_used && r != NULL && fd < n; fd++) {
		if ((set[fd / WORD] >> (fd % WORD) & 1) == 0 || !was_shut(fd))
			continue;
		if (shut == NULL && (shut = calloc((size_t)n / WORD + 1, sizeof *shut)) == NULL)
			return NULL;
		shut[fd / WORD] |= 1UL << (fd % WORD);
	}
	return shut;
}

int shut_readable(int n, fd_set *r, const unsigned long *shut)
{
	unsigned long *set = (void *)r;
	int more = 0;
	for (int i = 0; i * (int)WORD < n; i++) {
		more += __builtin_popcountl(shut[i] & ~set[i]);
		set[i] |= shut[i];
	}
	return more;
}

// with_event adds an event to those that there are.
static int with_event(struct epoll_event *e, int n, int most, uint64_t data, uint32_t events)
{
	for (int i = 0; i < n; i++)
		if (e[i].data.u64 == data) {
			e[i].events |= events;
			return n;
		}
	if (n < most) {
		e[n].events = events;
		e[n++].data.u64 = data;
	}
	return n;
}

int shut_registered(const struct registration *all, int count)
{
	int k = 0;
	for (int i = 0; i < count; i++)
		k += (all[i].events & (EPOLLET | EPOLLONESHOT)) == 0 && was_shut(all[i].fd);
	return k;
}

int shut_events(const struct registration *all, int count, struct epoll_event *e, int n, int most)
{
	for (int i = 0; i < count; i++)
		if (shut_registered(&all[i], 1))
			n = with_event(e, n, most, all[i].data, EPOLLHUP | (all[i].events & READABLE));
	return n;
}
