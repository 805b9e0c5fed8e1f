/* SPDX-License-Identifier: Apache-2.0 */

/* Addresses that calls return, with room for more or less. */
#include "sections.h"

static void with_room(int fd, socklen_t room, const char *call, int (*get)(int, struct sockaddr *, socklen_t *))
{
	unsigned char bytes[64];
	socklen_t length = room;
	memset(bytes, 0xee, sizeof bytes);
	begin("%s(%s, room %u)", call, name(fd), room);
	int r = get(fd, (struct sockaddr *)bytes, &length);
	result(r);
	if (r == 0) {
		unsigned written = 0;
		while (written < sizeof bytes && (bytes[written] != 0xee || (written + 1 < sizeof bytes && bytes[written + 1] != 0xee)))
			written++;
		add(" length %u, %s", length, written <= (room < 16 ? room : 16) ? "no more than the room written" : "more written");
	}
	end();
}

static int peer_name(int fd, struct sockaddr *a, socklen_t *n) { return getpeername(fd, a, n); }
static int own_name(int fd, struct sockaddr *a, socklen_t *n) { return getsockname(fd, a, n); }

void name_section(void)
{
	static const socklen_t rooms[] = {0, 1, 2, 8, 15, 16, 17, 32, 64, 0x80000000U};
	int s = Socket(SOCK_RDM);
	for (size_t i = 0; i < COUNT(rooms); i++)
		with_room(s, rooms[i], "getsockname", own_name);
	int b, a = Socketpair(SOCK_STREAM, &b);
	for (size_t i = 0; i < COUNT(rooms); i++)
		with_room(a, rooms[i], "getpeername", peer_name);
	note("names stay");
	Bind(s, service(NAME_TYPE, 1));
	Getsockname(s);
	Connect(s, own_address(a));
	Getsockname(s);
	Getpeername(s);
	Getsockname(a);
	Getpeername(a);
	Getsockname(b);
	Getpeername(b);
	Bind(a, service(NAME_TYPE, 2));
	Close(b);
	Getsockname(a);
	Getpeername(a);
	note("accepted");
	int l = Listener(SOCK_SEQPACKET, service(NAME_TYPE, 3));
	static const socklen_t accept_rooms[] = {0, 8, 16, 32};
	for (size_t i = 0; i < COUNT(accept_rooms); i++) {
		int c = Socket(SOCK_SEQPACKET | SOCK_NONBLOCK);
		Connect(c, service(NAME_TYPE, 3));
		Getsockname(c);
		Getpeername(c);
		Wait(l, POLLIN);
		int n = Accept4(l, i % 2 ? SOCK_CLOEXEC : SOCK_NONBLOCK, accept_rooms[i]);
		Fcntl(n, F_GETFD, "F_GETFD");
		Fcntl(n, F_GETFL, "F_GETFL");
		Getsockname(n);
		Getpeername(n);
		Wait(c, POLLOUT);
		Getpeername(c);
		Close(n);
		Close(c);
	}
	Getsockname(l);
	Getpeername(l);
}
