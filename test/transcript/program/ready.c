/* SPDX-License-Identifier: Apache-2.0 */

/* Readiness. */
#include "transcript.h"

/* What is asked for. POLLWRNORM and POLLWRBAND are another matter: section poll has them. */
enum { ASKED = POLLIN | POLLPRI | POLLOUT | POLLRDNORM | POLLRDHUP };

static unsigned by_epoll(int fd)
{
	struct epoll_event e = {.events = ASKED}, got = {0};
	int ep = epoll_create1(EPOLL_CLOEXEC);
	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) < 0)
		abort();
	if (epoll_wait(ep, &got, 1, 0) <= 0)
		got.events = 0;
	close(ep);
	return got.events;
}

void Ready(int fd)
{
	struct pollfd p = {.fd = fd, .events = ASKED};
	begin("ready(%s)", name(fd));
	if (poll(&p, 1, 0) < 0) {
		finish(-1);
		return;
	}
	add(" = %s", events_text((unsigned short)p.revents));
	fd_set r, w, x;
	FD_ZERO(&r);
	FD_SET(fd, &r);
	w = x = r;
	struct timeval now = {0};
	if (select(fd + 1, &r, &w, &x, &now) < 0) {
		add(" select");
		result(-1);
	} else {
		add("; select %s%s%s", FD_ISSET(fd, &r) ? "r" : "-", FD_ISSET(fd, &w) ? "w" : "-", FD_ISSET(fd, &x) ? "x" : "-");
	}
	unsigned e = by_epoll(fd);
	if (e != (unsigned short)p.revents)
		add("; epoll %s", events_text(e));
	end();
}

void Wait(int fd, unsigned events)
{
	struct pollfd p = {.fd = fd, .events = (short)events};
	begin("wait(%s, %s)", name(fd), events_text(events));
	int r;
	do
		r = poll(&p, 1, limit());
	while (r < 0 && errno == EINTR);
	if (r == 0)
		add(" = nothing came");
	else if (r < 0)
		result(r);
	else
		add(" = %s", events_text((unsigned short)p.revents));
	end();
}

void Await_end(int fd)
{
	struct pollfd p = {.fd = fd};
	while (poll(&p, 1, limit()) < 0 && errno == EINTR)
		;
}
