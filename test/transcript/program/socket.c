/* SPDX-License-Identifier: Apache-2.0 */

/* Making sockets, and calls on what is none. */
#include "sections.h"

static void one_of(int type)
{
	static const int options[] = {SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ERROR, SO_ACCEPTCONN};
	int fd = Socket(type);
	for (size_t i = 0; i < COUNT(options); i++)
		Get(fd, SOL_SOCKET, options[i]);
	struct stat st;
	begin("fstat(%s)", name(fd));
	int r = fstat(fd, &st);
	result(r);
	add(" %s", S_ISSOCK(st.st_mode) ? "socket" : "no socket");
	end();
	begin("lseek(%s)", name(fd));
	finish(lseek(fd, 0, SEEK_CUR));
	Fcntl(fd, F_GETFD, "F_GETFD");
	Fcntl(fd, F_GETFL, "F_GETFL");
	Getsockname(fd);
	Getpeername(fd);
	Ready(fd);
	Recv(fd, 10, MSG_DONTWAIT);
	Send(fd, "x", MSG_DONTWAIT);
	Accept(fd);
	Shutdown(fd, SHUT_RDWR);
	Close(fd);
}

static void flags(void)
{
	static const int flags[] = {SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_CLOEXEC | SOCK_NONBLOCK};
	for (size_t i = 0; i < COUNT(types); i++)
		for (size_t k = 0; k < COUNT(flags); k++) {
			int fd = Socket(types[i] | flags[k]);
			Fcntl(fd, F_GETFD, "F_GETFD");
			Fcntl(fd, F_GETFL, "F_GETFL");
			Close(fd);
		}
}

static void errors(void)
{
	static const int bad_types[] = {0, SOCK_RAW, 6, 7, 10, 11, 15, SOCK_RDM | 0x100, SOCK_RDM | 0x100000};
	static const int protocols[] = {1, 6, 17, 255, -1, 1000};
	int second;
	for (size_t i = 0; i < COUNT(bad_types); i++)
		Socket(bad_types[i]);
	for (size_t i = 0; i < COUNT(protocols); i++)
		Socket_of(AF_TIPC, SOCK_RDM, protocols[i]);
	Socket_of(AF_TIPC, SOCK_RAW, 1);
	Socketpair(SOCK_RAW, &second);
	Socketpair(SOCK_RDM | 0x100, &second);
}

void socket_section(void)
{
	for (size_t i = 0; i < COUNT(types); i++)
		one_of(types[i]);
	flags();
	errors();
	for (size_t i = 0; i < COUNT(types); i++) {
		int second, first = Socketpair(types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, &second);
		Fcntl(first, F_GETFD, "F_GETFD");
		Fcntl(second, F_GETFL, "F_GETFL");
		Close(first);
		Close(second);
	}
}

/* Each call on a descriptor that is no TIPC socket. */
static void all_calls(int fd)
{
	address a = service(DATAGRAM_TYPE, 1);
	Bind(fd, a);
	Connect(fd, a);
	Listen(fd, 1);
	Accept(fd);
	Getsockname(fd);
	Getpeername(fd);
	Shutdown(fd, SHUT_RDWR);
	Send(fd, "x", 0);
	Sendto(fd, "x", 0, a);
	Recv(fd, 1, MSG_DONTWAIT);
	Recvmsg(fd, 1, MSG_DONTWAIT, 64);
	Get(fd, SOL_SOCKET, SO_TYPE);
	Set(fd, SOL_TIPC, TIPC_IMPORTANCE, 1);
}

void descriptor_section(void)
{
	int fds[2];
	if (pipe(fds) < 0)
		abort();
	note("a pipe");
	all_calls(fds[0]);
	note("a closed descriptor");
	all_calls(900);
	note("no descriptor");
	all_calls(-1);
	note("a UDP socket");
	int udp = socket(AF_INET, SOCK_DGRAM, 0);
	Set(udp, SOL_TIPC, TIPC_IMPORTANCE, 1);
	Get(udp, SOL_TIPC, TIPC_IMPORTANCE);
	Get(udp, SOL_SOCKET, SO_DOMAIN);
	note("a UNIX pair");
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		abort();
	Get(pair[0], SOL_SOCKET, SO_DOMAIN);
	Set(pair[0], SOL_TIPC, TIPC_IMPORTANCE, 1);
	Send(pair[0], "hello", 0);
	Recv(pair[1], 10, 0);
	note("closed twice");
	int fd = Socket(SOCK_RDM);
	Close(fd);
	begin("close again");
	finish(close(fd));
}
