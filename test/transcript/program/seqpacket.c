/* SPDX-License-Identifier: Apache-2.0 */

/* Messages over a connection. */
#include "sections.h"

void seqpacket_section(void)
{
	static const size_t lengths[] = {0, 1, 1000, 1404, 1500, 9000, 65999, LONGEST, LONGEST + 1, 100000};
	address a = service(SEQPACKET_TYPE, 1);
	int server, l = Listener(SOCK_SEQPACKET, a);
	int client = Connected(SOCK_SEQPACKET, l, a, &server);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		Send_data(client, lengths[i], 0);
		Ready(server);
		Recv(server, 100000, MSG_DONTWAIT);
	}
	Send(client, "one", 0);
	Send(client, "two", 0);
	Sendmsg(client, (const char *[]){"th", "", "ree", NULL}, 0, NULL);
	Recv(server, 2, 0);
	Recv(server, 100, MSG_WAITALL);
	Recvmsg(server, 100, 0, 4096);
	Recv(server, 100, MSG_DONTWAIT);
	Sendmmsg(server, (const char *[]){"m1", "m2", "m3", NULL}, 0, NULL);
	Recvmmsg(client, 4, 100, MSG_DONTWAIT);
	note("SO_RCVLOWAT");
	Set(server, SOL_SOCKET, SO_RCVLOWAT, 100);
	Send(client, "less", 0);
	Ready(server);
	Recv(server, 100, MSG_DONTWAIT);
	note("flags of send");
	static const int flags[] = {MSG_OOB, MSG_EOR, MSG_MORE, MSG_NOSIGNAL, MSG_DONTROUTE, MSG_CONFIRM, MSG_DONTWAIT};
	for (size_t i = 0; i < COUNT(flags); i++) {
		Send(client, "flag", flags[i]);
		Recvmsg(server, 100, MSG_DONTWAIT, 4096);
	}
	note("importance");
	Set(client, SOL_TIPC, TIPC_IMPORTANCE, 3);
	Send(client, "critical", 0);
	Recv(server, 100, 0);
	Get(server, SOL_TIPC, TIPC_IMPORTANCE);
	note("closed with unread messages at both ends");
	for (int i = 0; i < 3; i++)
		Send(client, "unread at the server", 0);
	Send(server, "unread at the client", 0);
	Close(server);
	Wait(client, POLLHUP);
	Recvmsg(client, 100, 0, 4096);
	Recvmsg(client, 100, 0, 0);
	Recvmsg(client, 100, 0, 0);
	Recvmsg(client, 100, 0, 4096);
	Recvmsg(client, 100, MSG_DONTWAIT, 4096);
	Ready(client);
	Close(client);
	note("closed with a long unread message");
	client = Connected(SOCK_SEQPACKET, l, a, &server);
	Send_data(client, 3000, 0);
	Close(server);
	Wait(client, POLLHUP);
	Recvmsg(client, 100, 0, 4096);
	Close(client);
	client = Connected(SOCK_SEQPACKET, l, a, &server);
	Send_data(client, 3000, 0);
	Close(server);
	Wait(client, POLLHUP);
	Recvmsg(client, 100, 0, 40);
	Recvmsg(client, 100, MSG_DONTWAIT, 40);
	Close(client);
	note("three clients of one listener");
	int c[3], n[3];
	for (int i = 0; i < 3; i++) {
		c[i] = Socket(SOCK_SEQPACKET | SOCK_NONBLOCK);
		Connect(c[i], a);
	}
	for (int i = 0; i < 3; i++) {
		n[i] = Accept4(l, SOCK_NONBLOCK, 16);
		Send(n[i], "hello", 0);
	}
	for (int i = 0; i < 3; i++) {
		Wait(c[i], POLLIN);
		Ready(c[i]);
		Recv(c[i], 100, 0);
		Close(c[i]);
		Wait(n[i], POLLHUP);
		Recv(n[i], 100, 0);
		Send(n[i], "x", 0);
		Close(n[i]);
	}
}
