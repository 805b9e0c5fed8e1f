/* SPDX-License-Identifier: Apache-2.0 */

/* Two nodes: what a connection carries. */
#include "remote.h"

static const size_t lengths[] = {1, 2, 64, 1023, 1024, 1025, 1403, 1404, 1405, 1460, 1500, 4096, 14600, 32768, 65535, 65536, LONGEST};

static int dial(int type, uint32_t instance)
{
	int c = Socket(type);
	patient(c);
	Connect(c, service(ORDER, instance));
	return c;
}

void data_server(int type)
{
	int l = Listener(type, service(ORDER, 1)), last = Socket(SOCK_RDM);
	Bind(last, service(ORDER, 99));
	meet();
	note("sizes");
	int n = Accept(l);
	Set(n, SOL_TIPC, TIPC_NODELAY, 1);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		Recv(n, lengths[i], MSG_WAITALL);
		Send_data(n, lengths[i], 0);
	}
	Recv(n, 100, 0);
	meet();
	note("room for less");
	Wait(n, POLLIN);
	Recv(n, 4, MSG_PEEK);
	Recvmsg(n, 4, MSG_PEEK, 4096);
	Recv(n, 4, 0);
	if (type == SOCK_STREAM)
		Recv(n, 6, MSG_WAITALL);
	meet();
	Recvmsg(n, 4, MSG_EOR, 4096);
	Recvmsg(n, 4, MSG_EOR, 4096);
	Recvmsg(n, 4, MSG_EOR, 4096);
	Recv(n, 20, MSG_DONTWAIT);
	Recv(n, 20, MSG_PEEK | MSG_DONTWAIT);
	Ready(n);
	meet();
	note("MSG_WAITALL and MSG_TRUNC");
	Recv(n, 10, MSG_WAITALL);
	meet();
	Recv(n, 4, MSG_TRUNC);
	meet();
	note("nothing comes");
	Set_time(n, SO_RCVTIMEO, 20);
	Recv(n, 10, 0);
	Recvmsg(n, 10, 0, 100);
	Recv(n, 10, MSG_WAITALL);
	Recv(n, 0, 0);
	Read(n, 10);
	meet();
	note("written");
	Set_time(n, SO_RCVTIMEO, 0);
	Read(n, 20);
	Write(n, "written back");
	Sendmsg(n, (const char *[]){"in ", "three ", "parts", NULL}, 0, NULL);
	meet();
	note("an address with it");
	Sendto(n, "x", 0, service(ORDER, 1));
	Getsockname(n);
	Getpeername(n);
	Bind(n, service(ORDER, 2));
	Listen(n, 1);
	Connect(n, service(ORDER, 1));
	Accept(n);
	meet();
	Close(n);
	Close(last);
	Close(l);
}

void data_client(int type)
{
	static const size_t too_long[] = {LONGEST + 1, 1 << 20};
	meet();
	until_bound(ORDER, 99);
	note("sizes");
	int c = dial(type, 1);
	Set(c, SOL_TIPC, TIPC_NODELAY, 1);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		Send_data(c, lengths[i], 0);
		Recv(c, lengths[i], MSG_WAITALL);
	}
	for (size_t i = 0; type == SOCK_SEQPACKET && i < COUNT(too_long); i++)
		Send_data(c, too_long[i], 0);
	Send(c, "", 0);
	Send(c, "after an empty one", 0);
	meet();
	note("room for less");
	Send(c, "0123456789", 0);
	meet();
	Send(c, "0123456789", 0);
	meet();
	note("MSG_WAITALL and MSG_TRUNC");
	Send(c, "0123456789", 0);
	meet();
	Send(c, type == SOCK_STREAM ? "0123" : "0123456789", 0);
	meet();
	meet();
	note("written");
	Write(c, "written");
	Recv(c, 12, MSG_WAITALL);
	Recv(c, 14, MSG_WAITALL);
	meet();
	note("an address with it");
	Sendto(c, "x", 0, service(ORDER, 1));
	Getsockname(c);
	Getpeername(c);
	Bind(c, service(ORDER, 3));
	Listen(c, 1);
	Connect(c, service(ORDER, 1));
	Accept(c);
	meet();
	Wait(c, POLLHUP);
	Close(c);
}

/* waits_for is how long a writer waits for room before there is none. */
enum { waits_for = 500 };

/* count receives what fill has sent. */
static void count(int fd, uint32_t all, size_t length)
{
	static unsigned char room[LONGEST];
	uint64_t total = 0, wrong = 0;
	begin("recv(%s) of all that was sent", name(fd));
	while (total < all) {
		uint64_t want = all - total < length - total % length ? all - total : length - total % length;
		long r = recv(fd, room, want, 0);
		if (r <= 0)
			break;
		wrong += memcmp(room, (const unsigned char *)pattern(length) + total % length, (size_t)r) != 0;
		total += (uint64_t)r;
	}
	add(" %s, %u wrong", total == all ? "is all" : "is less", (unsigned)wrong);
	end();
}

static const size_t steps[] = {100, LONGEST};

void full_server(int type)
{
	int l = Listener(type, service(ORDER, 20)), last = Socket(SOCK_RDM);
	Bind(last, service(ORDER, 98));
	meet();
	for (size_t i = 0; i < COUNT(steps); i++) {
		note("messages of %zu bytes", steps[i]);
		int n = Accept(l);
		uint32_t sent = hear();
		Wait(n, POLLIN);
		count(n, sent, steps[i]);
		meet();
		note("the writer ends when there is no room");
		sent = hear();
		count(n, sent, steps[i]);
		Wait(n, POLLHUP);
		Recvmsg(n, 10, 0, 100);
		Close(n);
	}
	Close(last);
	Close(l);
}

/*
 * fill sends until there is no room for a while, and returns how many bytes. That is left out of the line, as is
 * how much of a message a stream takes at once.
 */
static uint32_t fill(int fd, size_t length)
{
	struct timeval t = {.tv_usec = waits_for * 1000};
	uint32_t total = 0;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
	begin("send(%s, %zu bytes) until there is no room", name(fd), length);
	long r;
	while ((r = send(fd, (const unsigned char *)pattern(length) + total % length, length - total % length, 0)) > 0)
		total += (uint32_t)r;
	add(", more than one: %d", total > length);
	finish(r);
	return total;
}

void full_client(int type)
{
	meet();
	until_bound(ORDER, 98);
	for (size_t i = 0; i < COUNT(steps); i++) {
		note("messages of %zu bytes", steps[i]);
		int c = Socket(type);
		patient(c);
		Connect(c, service(ORDER, 20));
		Set(c, SOL_TIPC, TIPC_NODELAY, 1);
		uint32_t sent = fill(c, steps[i]);
		Ready(c);
		Send_data(c, steps[i], MSG_DONTWAIT);
		tell(sent);
		Wait(c, POLLOUT);
		meet();
		note("the writer ends when there is no room");
		sent = fill(c, steps[i]);
		tell(sent);
		Shutdown(c, SHUT_RDWR);
		Close(c);
	}
}
