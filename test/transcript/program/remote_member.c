/* SPDX-License-Identifier: Apache-2.0 */

/* Two nodes: groups whose members come and go, and names that do. */
#include "remote.h"

#include <signal.h>

static const size_t lengths[] = {1, 1404, 9000, LONGEST};

void members_server(void)
{
	int a = Socket(SOCK_RDM), last = Socket(SOCK_RDM);
	Join(a, MEMBERS, 10, 2, TIPC_GROUP_MEMBER_EVTS);
	Bind(last, service(MEMBERS_READY, 99));
	meet();
	note("another joins");
	Wait(a, POLLIN);
	address from = {0};
	Recvfrom_room(a, 100, 0, 32, &from);
	Send(a, "welcome", 0);
	meet();
	note("sizes");
	for (size_t i = 0; i < COUNT(lengths); i++) {
		Wait(a, POLLIN);
		Recvmsg(a, LONGEST, MSG_PEEK, 4096);
		Recvmsg(a, LONGEST, 0, 4096);
		Sendto_data(a, lengths[i], 0, from);
		Send_data(a, lengths[i], 0);
	}
	Send_data(a, LONGEST + 1, 0);
	meet();
	note("who is not in it");
	Sendto(a, "x", MSG_DONTWAIT, service(MEMBERS, 77));
	Sendto(a, "x", MSG_DONTWAIT, range(MEMBERS, 77, 78));
	Sendto(a, "x", MSG_DONTWAIT, port_at(1234567, other_node));
	Sendto(a, "x", MSG_DONTWAIT, service(ECHO, 78));
	meet();
	note("a member of one node");
	int b = Socket(SOCK_RDM);
	Join(b, MEMBERS, 11, 3, TIPC_GROUP_MEMBER_EVTS);
	Recv(a, 10, MSG_DONTWAIT);
	meet();
	meet();
	Close(b);
	Recv(a, 10, MSG_DONTWAIT);
	note("a process that is killed");
	pid_t pid = fork();
	if (pid == 0) {
		int d = socket(AF_TIPC, SOCK_RDM, 0);
		struct tipc_group_req q = {MEMBERS, 12, 2, 0};
		setsockopt(d, SOL_TIPC, TIPC_GROUP_JOIN, &q, sizeof q);
		for (;;)
			pause();
	}
	Members(a, 1);
	meet();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	Members(a, 1);
	meet();
	note("the other closes");
	Wait(a, POLLIN);
	Recvmsg(a, 100, 0, 4096);
	Ready(a);
	Send(a, "x", MSG_DONTWAIT);
	Sendto(a, "x", MSG_DONTWAIT, from);
	Close(a);
	Close(last);
}

void members_client(void)
{
	meet();
	until_bound(MEMBERS_READY, 99);
	note("another joins");
	int c = Socket(SOCK_RDM);
	Join(c, MEMBERS, 1, 2, TIPC_GROUP_MEMBER_EVTS);
	Wait(c, POLLIN);
	address from = {0};
	Recvfrom_room(c, 100, 0, 32, &from);
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	meet();
	note("sizes");
	for (size_t i = 0; i < COUNT(lengths); i++) {
		Send_data(c, lengths[i], 0);
		for (int k = 0; k < 2; k++) {
			Wait(c, POLLIN);
			Recvmsg(c, LONGEST, 0, 4096);
		}
	}
	meet();
	note("who is not in it");
	Sendto(c, "x", MSG_DONTWAIT, service(MEMBERS, 77));
	Sendto(c, "x", MSG_DONTWAIT, port_at(1234567, other_node));
	meet();
	note("a member of one node");
	meet();
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	meet();
	note("a process that is killed");
	Members(c, 1);
	meet();
	Members(c, 1);
	meet();
	Sendto(c, "x", MSG_DONTWAIT, service(MEMBERS, 12));
	Close(c);
}
