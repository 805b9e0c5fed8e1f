/* SPDX-License-Identifier: Apache-2.0 */

/* Two nodes: datagrams of all sizes, every way to receive one, and a receiver that does not read. */
#include "remote.h"

static const size_t lengths[] = {
	1, 2, 63, 64, 65, 1023, 1024, 1025, 1403, 1404, 1405, 1460, 1461, 1499, 1500, 2808, 4096, 14600, 32768, 65535, 65536, 65999, LONGEST,
};
static const size_t too_long[] = {LONGEST + 1, 70000, 1 << 20};

void sizes_server(int type)
{
	int s = Socket(type), last = Socket(SOCK_RDM);
	Bind(s, service(SIZES, 1));
	Bind(last, service(SIZES, 99));
	meet();
	for (size_t i = 0; i < COUNT(lengths); i++) {
		address from = Source(s, LONGEST);
		Sendto_data(s, lengths[i], 0, from);
	}
	note("an empty one is not seen");
	address from = Source(s, LONGEST);
	Sendto(s, "", 0, from);
	Sendto(s, "answer", 0, from);
	meet();
	Drain(s);
	Close(last);
	Close(s);
}

void sizes_client(int type)
{
	int c = Socket(type);
	address to = service(SIZES, 1);
	meet();
	until_bound(SIZES, 99);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		Sendto_data(c, lengths[i], 0, to);
		Recvmsg(c, LONGEST, 0, 4096);
	}
	note("an empty one is not seen");
	Sendto(c, "", 0, to);
	Sendto(c, "after an empty one", 0, to);
	Recv(c, 100, 0);
	note("too long");
	for (size_t i = 0; i < COUNT(too_long); i++) {
		Sendto_data(c, too_long[i], 0, to);
		Sendto_data(c, too_long[i], 0, service_at(SIZES, 1, other_node));
		Sendto_data(c, too_long[i], 0, range(SIZES, 1, 1));
	}
	meet();
	Drain(c);
	Close(c);
}

/* until_depth waits until so many messages wait at a socket. */
static void until_depth(int fd, uint32_t depth)
{
	begin("queue(%s)", name(fd));
	uint32_t v = 0;
	socklen_t length = sizeof v;
	for (int i = 0; i < limit(); i++) {
		if (getsockopt(fd, SOL_TIPC, TIPC_SOCK_RECVQ_DEPTH, &v, &length) < 0 || v == depth)
			break;
		poll(NULL, 0, 1);
	}
	add(" = %u", v);
	end();
}

void forms_server(int type)
{
	static const size_t rooms[] = {0, 12, 16, 20, 24, 28, 32, 64};
	static const socklen_t lengths_of_address[] = {0, 4, 15, 16, 17, 32};
	int s = Socket(type), last = Socket(SOCK_RDM);
	Bind(s, range(FORMS, 1, 10));
	Bind(last, service(FORMS, 99));
	Set_time(s, SO_RCVTIMEO, 20);
	Recv(s, 10, 0);
	Set_time(s, SO_RCVTIMEO, 0);
	meet();
	note("room for less, more and nothing");
	until_depth(s, 4);
	Ready(s);
	Recv(s, 4, 0);
	Recvmsg(s, 4, MSG_DONTWAIT, 4096);
	Recv(s, 4, MSG_TRUNC);
	Recv(s, 0, MSG_DONTWAIT);
	Recv(s, 20, MSG_DONTWAIT);
	until_depth(s, 0);
	meet();
	note("MSG_PEEK and MSG_WAITALL");
	Wait(s, POLLIN);
	Recv(s, 20, MSG_PEEK);
	Recv(s, 4, MSG_PEEK);
	Recvmsg(s, 4, MSG_PEEK, 4096);
	Recv(s, 4, MSG_PEEK | MSG_TRUNC);
	Recv(s, 20, MSG_WAITALL);
	Recv(s, 20, MSG_PEEK | MSG_DONTWAIT);
	meet();
	note("recvmmsg");
	Recvmmsg(s, 4, 4, 0);
	meet();
	note("room for ancillary data");
	for (size_t i = 0; i < COUNT(rooms); i++)
		Recvmsg(s, 20, 0, rooms[i]);
	meet();
	note("room for the address");
	for (size_t i = 0; i < COUNT(lengths_of_address); i++)
		Recvfrom_room(s, 20, 0, lengths_of_address[i], NULL);
	meet();
	note("read");
	Read(s, 4);
	Read(s, 20);
	meet();
	Close(last);
	Close(s);
	meet();
}

void forms_client(int type)
{
	static const char *const some[] = {"0123456789", "abc", NULL};
	int c = Socket(type);
	meet();
	until_bound(FORMS, 99);
	address to = service(FORMS, 1);
	for (int i = 0; i < 4; i++)
		Sendto(c, "0123456789", 0, to);
	meet();
	Sendto(c, "0123456789", 0, range(FORMS, 1, 1));
	meet();
	Sendmmsg(c, (const char *[]){"one", "two", "three", "four", NULL}, 0, &to);
	meet();
	for (int i = 0; i < 8; i++)
		Sendto(c, "control", 0, service(FORMS, (uint32_t)i + 1));
	meet();
	Connect(c, to);
	for (int i = 0; i < 6; i++)
		Send(c, "room", 0);
	meet();
	Write(c, "written");
	Sendmsg(c, (const char **)(uintptr_t)some, 0, NULL);
	meet();
	meet();
	note("nobody is bound to it any more");
	Send(c, "x", 0);
	Sendto(c, "x", 0, range(FORMS, 1, 10));
	Recv(c, 10, MSG_DONTWAIT);
	Ready(c);
	Get(c, SOL_SOCKET, SO_ERROR);
	Close(c);
}

/* whole reads until nothing comes for a while, and reports whether each message is as sent. */
static void whole(int fd, size_t length)
{
	static unsigned char room[LONGEST];
	struct pollfd p = {.fd = fd, .events = POLLIN};
	long n = 0, wrong = 0, r;
	while (poll(&p, 1, 500) == 1 && (r = recv(fd, room, sizeof room, MSG_DONTWAIT)) >= 0) {
		n++;
		wrong += (size_t)r != length || memcmp(room, pattern(length), length) != 0;
	}
	note("%s has %s, %ld of them wrong", name(fd), n > 1 ? "messages" : "nothing", wrong);
}

void overload_server(int type)
{
	int s = Socket(type), last = Socket(SOCK_RDM);
	Bind(s, service(FULL, 1));
	Bind(last, service(FULL, 99));
	meet();
	meet();
	Wait(s, POLLIN);
	whole(s, LONGEST);
	meet();
	Wait(s, POLLIN);
	Recvmsg(s, 100, 0, 4096);
	Close(last);
	Close(s);
}

void overload_client(int type)
{
	int c = Socket(type);
	meet();
	until_bound(FULL, 99);
	address to = service(FULL, 1);
	struct pollfd p = {.fd = c, .events = POLLIN};
	Set(c, SOL_TIPC, TIPC_DEST_DROPPABLE, 0);
	begin("%d bytes to one who does not read, until one comes back", LONGEST);
	long r = LONGEST;
	for (int i = 0; i < 400 && r == LONGEST && poll(&p, 1, 0) == 0; i++)
		r = sendto(c, pattern(LONGEST), LONGEST, 0, (const struct sockaddr *)&to, sizeof to);
	finish(r);
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	meet();
	meet();
	Sendto(c, "there is room again", 0, to);
	Close(c);
}
