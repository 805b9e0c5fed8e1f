/* SPDX-License-Identifier: Apache-2.0 */

/* Calls that make, name, connect and end sockets. */
#include "transcript.h"

/* finish_new finishes a call that makes a socket, which gets a name. */
static int finish_new(int fd)
{
	int kept = errno;
	name_socket(fd);
	errno = kept;
	if (fd < 0) {
		finish(fd);
		return fd;
	}
	add(" = %s", name(fd));
	return fd;
}

int Socket(int type) { return Socket_of(AF_TIPC, type, 0); }

int Socket_of(int family, int type, int protocol)
{
	if (family == AF_TIPC && protocol == 0)
		begin("socket(%s)", type_text(type));
	else
		begin("socket(family %d, %s, %d)", family, type_text(type), protocol);
	int fd = finish_new(socket(family, type, protocol));
	if (fd >= 0)
		end();
	return fd;
}

int Socketpair(int type, int *second)
{
	int fds[2] = {-1, -1};
	begin("socketpair(%s)", type_text(type));
	int r = socketpair(AF_TIPC, type, 0, fds);
	finish_new(r < 0 ? r : fds[0]);
	name_socket(fds[1]);
	if (r == 0) {
		add(" %s", name(fds[1]));
		end();
	}
	*second = fds[1];
	return fds[0];
}

int Bind(int fd, address a) { return Bind_raw(fd, &a, sizeof a); }

int Bind_raw(int fd, const void *a, socklen_t length)
{
	begin("bind(%s, %s)", name(fd), address_text(a, length));
	int r = bind(fd, a, length);
	finish(r);
	return r;
}

int Connect(int fd, address a) { return Connect_raw(fd, &a, sizeof a); }

int Connect_raw(int fd, const void *a, socklen_t length)
{
	begin("connect(%s, %s)", name(fd), address_text(a, length));
	int r = connect(fd, a, length);
	finish(r);
	return r;
}

int Listen(int fd, int backlog)
{
	begin("listen(%s, %d)", name(fd), backlog);
	int r = listen(fd, backlog);
	finish(r);
	return r;
}

int Accept(int fd)
{
	begin("accept(%s)", name(fd));
	int new = finish_new(accept(fd, NULL, NULL));
	if (new >= 0)
		end();
	return new;
}

int Accept4(int fd, int flags, socklen_t length)
{
	address from;
	socklen_t got = length;
	memset(&from, 0xee, sizeof from);
	begin("accept4(%s, room %u, flags %s)", name(fd), length, type_text(flags));
	int new = finish_new(accept4(fd, (struct sockaddr *)&from, &got, flags));
	if (new < 0)
		return new;
	if (length >= sizeof from)
		add(" from %s", address_text(&from, got));
	else
		add(" length %u", got);
	end();
	return new;
}

static int finish_name(int r, const address *a, socklen_t length)
{
	result(r);
	if (r == 0)
		add(" %s", address_text(a, length));
	end();
	return r;
}

int Getsockname(int fd)
{
	address a = {0};
	socklen_t length = sizeof a;
	begin("getsockname(%s)", name(fd));
	return finish_name(getsockname(fd, (struct sockaddr *)&a, &length), &a, length);
}

int Getpeername(int fd)
{
	address a = {0};
	socklen_t length = sizeof a;
	begin("getpeername(%s)", name(fd));
	return finish_name(getpeername(fd, (struct sockaddr *)&a, &length), &a, length);
}

int Shutdown(int fd, int how)
{
	static const char *const names[] = {"RD", "WR", "RDWR"};
	if (how >= 0 && how <= 2)
		begin("shutdown(%s, %s)", name(fd), names[how]);
	else
		begin("shutdown(%s, %d)", name(fd), how);
	int r = shutdown(fd, how);
	finish(r);
	return r;
}

int Close(int fd)
{
	begin("close(%s)", name(fd));
	int r = close(fd);
	finish(r);
	return r;
}

int Dup(int fd)
{
	begin("dup(%s)", name(fd));
	int new = finish_new(dup(fd));
	if (new >= 0)
		end();
	return new;
}

int Fcntl(int fd, int command, const char *what)
{
	begin("fcntl(%s, %s)", name(fd), what);
	int r = fcntl(fd, command);
	if (command == F_GETFL && r >= 0)
		add(" = %s%s", (r & O_ACCMODE) == O_RDWR ? "RDWR" : "?", r & O_NONBLOCK ? "|NONBLOCK" : "");
	else
		result(r);
	end();
	return r;
}

int Nonblock(int fd, bool on)
{
	begin("nonblock(%s, %d)", name(fd), on);
	int flags = fcntl(fd, F_GETFL);
	int r = flags < 0 ? -1 : fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
	finish(r);
	return r;
}
