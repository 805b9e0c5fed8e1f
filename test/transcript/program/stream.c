/* SPDX-License-Identifier: Apache-2.0 */

/* Streams. */
#include "sections.h"

static int client, server;

static void waits_for_all(void *argument)
{
	(void)argument;
	Recv(server, 10, MSG_WAITALL);
	Set(server, SOL_SOCKET, SO_RCVLOWAT, 6);
	Recv(server, 20, 0);
	Set(server, SOL_SOCKET, SO_RCVLOWAT, 1);
	Recv(server, 20, MSG_WAITALL);
}

static void pieces(void)
{
	note("joined and cut");
	Send(client, "one ", 0);
	Send(client, "two ", 0);
	Send(client, "three", 0);
	Recv(server, 3, 0);
	Recv(server, 1, MSG_PEEK);
	Recv(server, 100, MSG_PEEK);
	Recv(server, 100, 0);
	Recv(server, 100, MSG_DONTWAIT);
	Sendmsg(client, (const char *[]){"a", "", "bc", NULL}, 0, NULL);
	Read(server, 2);
	Read(server, 2);
	note("long");
	Send_data(client, 100000, 0);
	Ready(server);
	Recv(server, 1000, 0);
	Recv(server, 50000, MSG_WAITALL);
	Recv(server, 48999, MSG_PEEK | MSG_WAITALL | MSG_DONTWAIT);
	Recv(server, 48999, MSG_WAITALL);
	Recv(server, 10, MSG_DONTWAIT);
	Ready(server);
	Recv(server, 1, MSG_DONTWAIT);
	Send(client, "0123456789", 0);
	Recv(server, 4, MSG_TRUNC);
	Recv(server, 4, MSG_TRUNC | MSG_PEEK | MSG_DONTWAIT);
	Drain(server);
}

static void waiting(void)
{
	note("a reader waits for all");
	actor reader = Start("reader", waits_for_all, NULL);
	Send(client, "0123", 0);
	Send(client, "4567", 0);
	Send(client, "89", 0);
	Let(&reader, 2);
	Send(client, "abc", 0);
	Send(client, "def", 0);
	Let(&reader, 2);
	Send(client, "end", 0);
	Shutdown(client, SHUT_RDWR);
	Let(&reader, 1);
	Finish(&reader);
	Recv(server, 10, MSG_DONTWAIT);
}

static void lowat(void)
{
	note("SO_RCVLOWAT");
	Set(server, SOL_SOCKET, SO_RCVLOWAT, 5);
	Send(client, "abc", 0);
	Ready(server);
	Recv(server, 10, MSG_DONTWAIT);
	Send(client, "defg", 0);
	Ready(server);
	Recv(server, 10, MSG_DONTWAIT);
	Drain(server);
	Set(server, SOL_SOCKET, SO_RCVLOWAT, 1);
}

/* Small writes in both modes of TIPC_NODELAY: what arrives is the same. */
static void small(uint32_t nodelay)
{
	note("small writes");
	Set(client, SOL_TIPC, TIPC_NODELAY, nodelay);
	for (int i = 0; i < 40; i++)
		if (send(client, "0123456789", 10, 0) != 10)
			note("send failed");
	Recv(server, 400, MSG_WAITALL);
	Recv(server, 10, MSG_DONTWAIT);
	Send(server, "answer", 0);
	Recv(client, 10, 0);
}

void stream_section(void)
{
	address a = service(STREAM_TYPE, 1);
	int l = Listener(SOCK_STREAM, a);
	client = Connected(SOCK_STREAM, l, a, &server);
	pieces();
	lowat();
	small(0);
	small(1);
	waiting();
	Close(client);
	Close(server);
	note("each end closes, the other has unread data");
	for (int i = 0; i < 2; i++) {
		client = Connected(SOCK_STREAM, l, a, &server);
		Send(client, "unread at the server", 0);
		Send(client, " and more", 0);
		Send(server, "unread at the client", 0);
		int first = i == 0 ? client : server, second = i == 0 ? server : client;
		Close(first);
		Wait(second, POLLHUP);
		Ready(second);
		Recv(second, 6, 0);
		Send(second, "x", 0);
		Recvmsg(second, 100, 0, 4096);
		Recvmsg(second, 100, MSG_DONTWAIT, 0);
		Recvmsg(second, 100, MSG_DONTWAIT, 4096);
		Recvmsg(second, 100, MSG_DONTWAIT, 4096);
		Get(second, SOL_SOCKET, SO_ERROR);
		Close(second);
	}
	note("sendfile and splice");
	client = Connected(SOCK_STREAM, l, a, &server);
	int fds[2];
	if (pipe(fds) < 0 || write(fds[1], "piped", 5) != 5)
		abort();
	begin("splice(pipe, %s, 5)", name(client));
	finish(splice(fds[0], NULL, client, NULL, 5, 0));
	Recv(server, 10, MSG_DONTWAIT);
	Send(server, "spliced", 0);
	begin("splice(%s, pipe, 7)", name(client));
	long r = splice(client, NULL, fds[1], NULL, 7, SPLICE_F_NONBLOCK);
	finish(r);
	Drain(client);
	struct iovec v[] = {{(void *)(uintptr_t) "vec", 3}, {(void *)(uintptr_t) "tor", 3}};
	begin("writev(%s, vec tor)", name(client));
	finish(writev(client, v, 2));
	Recv(server, 10, MSG_DONTWAIT);
	note("flags of send");
	static const int flags[] = {MSG_OOB, MSG_EOR, MSG_MORE, MSG_NOSIGNAL, MSG_DONTROUTE, MSG_CONFIRM, MSG_DONTWAIT};
	for (size_t i = 0; i < COUNT(flags); i++)
		Send(client, "flag ", flags[i]);
	Recv(server, 100, MSG_DONTWAIT);
	Recv(server, 100, MSG_OOB | MSG_DONTWAIT);
	Sendmmsg(client, (const char *[]){"m1 ", "m2 ", "m3", NULL}, 0, NULL);
	Recvmmsg(server, 4, 100, MSG_DONTWAIT);
	note("peeking at one message after the other");
	Send(server, "answer", 0); /* what follows is not joined */
	Recv(client, 10, 0);
	Send(client, "one", 0);
	Send(client, "two", 0);
	Send(client, "three", 0);
	Recv(server, 10, MSG_PEEK);
	Recv(server, 1, 0);
	Recv(server, 10, MSG_PEEK);
	Recv(server, 2, MSG_DONTWAIT);
	Recv(server, 2, MSG_PEEK);
	Recv(server, 4, MSG_DONTWAIT);
	Recv(server, 10, MSG_PEEK);
	Recv(server, 10, MSG_DONTWAIT);
	note("closed with unread messages");
	Send(server, "answer", 0);
	Recv(client, 10, 0);
	Send(client, "unread", 0);
	Send(client, "and more", 0);
	Close(server);
	Wait(client, POLLHUP);
	Recvmsg(client, 100, MSG_DONTWAIT, 4096);
}
