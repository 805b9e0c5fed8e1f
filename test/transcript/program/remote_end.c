/* SPDX-License-Identifier: Apache-2.0 */

/* Two nodes: how a connection ends, at either side. */
#include "remote.h"

#include <signal.h>

void after_end(int fd)
{
	Ready(fd);
	Get(fd, SOL_SOCKET, SO_ERROR);
	Getpeername(fd);
	Getsockname(fd);
	Recv(fd, 100, MSG_PEEK | MSG_DONTWAIT);
	Recv(fd, 100, MSG_DONTWAIT);
	Recv(fd, 100, MSG_DONTWAIT);
	Recvmsg(fd, 100, MSG_DONTWAIT, 4096);
	Recvmsg(fd, 100, MSG_DONTWAIT, 4096);
	Ready(fd);
	Send(fd, "x", 0);
	Send(fd, "x", MSG_NOSIGNAL);
	Set_time(fd, SO_RCVTIMEO, 20);
	Recv(fd, 100, 0);
	Connect(fd, service(ENDS, 1));
	Listen(fd, 1);
	Bind(fd, service(ENDS, 2));
	Shutdown(fd, SHUT_RDWR);
	Ready(fd);
	Recv(fd, 100, MSG_DONTWAIT);
	Close(fd);
}

/* A way is what the server does to end a connection; the client has sent what it says, in messages. */
typedef struct {
	const char *what;
	const char *sends[3]; /* the client */
	const char *says[3];  /* the server, before the end */
	int reads;            /* bytes that the server reads before */
	bool orderly;
} way;

static const way ways[] = {
	{"shut down", {0}, {0}, 0, true},
	{"closed", {0}, {0}, 0, false},
	{"shut down after data", {0}, {"last", "words"}, 0, true},
	{"closed after data", {0}, {"last", "words"}, 0, false},
	{"shut down with unread data", {"unread"}, {0}, 0, true},
	{"closed with unread data", {"unread"}, {0}, 0, false},
	{"closed with an unread part", {"unread"}, {0}, 2, false},
	{"closed with unread data, and after data", {"unread"}, {"last", "words"}, 0, false},
	{"closed when all was read", {"read"}, {0}, 4, false},
	{"shut down when all was read", {"read"}, {0}, 4, true},
};

static void end_server(int l, const way *w)
{
	note("%s", w->what);
	int n = Accept(l);
	for (size_t i = 0; i < COUNT(w->says) && w->says[i] != NULL; i++)
		Send(n, w->says[i], 0);
	meet();
	if (w->sends[0] != NULL)
		Wait(n, POLLIN);
	if (w->reads > 0)
		Recv(n, (size_t)w->reads, 0);
	if (w->orderly)
		Shutdown(n, SHUT_RDWR);
	Close(n);
	meet();
}

static void end_client(int type, const way *w)
{
	note("%s", w->what);
	int c = Socket(type);
	patient(c);
	Connect(c, service(ENDS, 1));
	for (size_t i = 0; i < COUNT(w->sends) && w->sends[i] != NULL; i++)
		Send(c, w->sends[i], 0);
	meet();
	meet();
	Wait(c, POLLHUP);
	after_end(c);
}

/* The client ends it. */
static void by_client_server(int l, bool orderly)
{
	int n = Accept(l);
	Send(n, "unread", 0);
	meet();
	Wait(n, POLLHUP);
	if (orderly)
		Recv(n, 5, MSG_WAITALL);
	after_end(n);
}

static void by_client_client(int type, bool orderly)
{
	int c = Socket(type);
	patient(c);
	Connect(c, service(ENDS, 1));
	Send(c, "words", 0);
	meet();
	Wait(c, POLLIN);
	if (orderly) {
		Shutdown(c, SHUT_RDWR);
		Ready(c);
		Recv(c, 10, MSG_DONTWAIT);
		Recv(c, 10, 0);
		Send(c, "x", 0);
		Getpeername(c);
		Shutdown(c, SHUT_RDWR);
	}
	Close(c);
}

static const size_t long_ones[] = {1024, 1025, 5000};

/* long_server closes a connection with a long message unread. */
static void long_server(int l, size_t length)
{
	int n = Accept(l);
	static unsigned char room[LONGEST];
	meet();
	Wait(n, POLLIN);
	while (recv(n, room, length, MSG_PEEK) < (long)length && limit() > 0) /* all of it is there */
		poll(NULL, 0, 1);
	Close(n);
}

static void long_client(int type, size_t length)
{
	int c = Socket(type);
	patient(c);
	Connect(c, service(ENDS, 1));
	Send_data(c, length, 0);
	meet();
	Wait(c, POLLHUP);
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	Close(c);
}

/* killed_server has a process that is killed have the connection. */
static void killed_server(int l)
{
	int n = Accept(l);
	pid_t pid = fork();
	if (pid == 0) {
		close(l);
		for (;;)
			pause();
	}
	close(n);
	meet();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void killed_client(int type)
{
	int c = Socket(type);
	patient(c);
	Connect(c, service(ENDS, 1));
	Ready(c);
	meet();
	Wait(c, POLLHUP);
	after_end(c);
}

void ends_server(int type)
{
	int l = Listener(type, service(ENDS, 1)), last = Socket(SOCK_RDM);
	Bind(last, service(ENDS, 99));
	meet();
	for (size_t i = 0; i < COUNT(ways); i++)
		end_server(l, &ways[i]);
	note("the client shuts down");
	by_client_server(l, true);
	note("the client closes");
	by_client_server(l, false);
	note("closed with a long message unread");
	for (size_t i = 0; i < COUNT(long_ones); i++)
		long_server(l, long_ones[i]);
	note("killed");
	killed_server(l);
	Close(last);
	Close(l);
}

void ends_client(int type)
{
	meet();
	until_bound(ENDS, 99);
	for (size_t i = 0; i < COUNT(ways); i++)
		end_client(type, &ways[i]);
	note("the client shuts down");
	by_client_client(type, true);
	note("the client closes");
	by_client_client(type, false);
	note("closed with a long message unread");
	for (size_t i = 0; i < COUNT(long_ones); i++)
		long_client(type, long_ones[i]);
	note("killed");
	killed_client(type);
}
