/* SPDX-License-Identifier: Apache-2.0 */

/* Messages to a range. */
#include "sections.h"

static void among(int type)
{
	int s[4], c = Socket(type);
	note("overlapping ranges");
	for (uint32_t i = 0; i < 4; i++) {
		s[i] = Socket(datagram[i % 2]);
		Bind(s[i], range(MULTICAST_TYPE, i * 10, i * 10 + 14));
	}
	Bind(s[3], range(MULTICAST_TYPE, 0, 100));
	static const struct {
		uint32_t lower, upper;
	} to[] = {{0, 9}, {0, 10}, {0, 0xffffffff}, {12, 12}, {14, 20}, {45, 99}, {100, 200}};
	for (size_t i = 0; i < COUNT(to); i++) {
		Sendto(c, "to many", 0, range(MULTICAST_TYPE, to[i].lower, to[i].upper));
		for (int k = 0; k < 4; k++)
			Recvmsg(s[k], 100, MSG_DONTWAIT, 4096);
	}
	note("nobody");
	Sendto(c, "x", 0, range(MULTICAST_TYPE, 101, 200));
	Sendto(c, "x", 0, range(MULTICAST_TYPE + 1, 0, 100));
	Sendto(c, "x", 0, range(0, 0, 100));
	note("the sender has the name, too");
	Bind(c, service(MULTICAST_TYPE, 3));
	Sendto(c, "also to me", 0, range(MULTICAST_TYPE, 3, 3));
	for (int k = 0; k < 4; k++)
		Recvmsg(s[k], 100, MSG_DONTWAIT, 4096);
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	note("methods");
	Set_raw(c, SOL_TIPC, TIPC_MCAST_BROADCAST, NULL, 0);
	Sendto(c, "broadcast", 0, range(MULTICAST_TYPE, 45, 99));
	Set_raw(c, SOL_TIPC, TIPC_MCAST_REPLICAST, NULL, 0);
	Sendto(c, "replicast", 0, range(MULTICAST_TYPE, 45, 99));
	Drain(s[3]);
	note("lengths");
	Sendto_data(c, 0, 0, range(MULTICAST_TYPE, 45, 99));
	Sendto_data(c, LONGEST, 0, range(MULTICAST_TYPE, 45, 99));
	Sendto_data(c, LONGEST + 1, 0, range(MULTICAST_TYPE, 45, 99));
	Drain(s[3]);
	note("not droppable, to a receiver that closes");
	Set(c, SOL_TIPC, TIPC_DEST_DROPPABLE, 0);
	Sendto(c, "unread", 0, range(MULTICAST_TYPE, 45, 99));
	Close(s[3]);
	Drain(c);
	for (int k = 0; k < 3; k++)
		Close(s[k]);
	Close(c);
}

void multicast_section(void)
{
	for (size_t i = 0; i < COUNT(datagram); i++) {
		note("type %s", type_text(datagram[i]));
		among(datagram[i]);
	}
	note("node scope");
	int a = Socket(SOCK_RDM), b = Socket(SOCK_RDM);
	Bind(a, scoped(service(MULTICAST_TYPE + 2, 1), 3));
	Bind(b, scoped(service(MULTICAST_TYPE + 2, 1), 2));
	Sendto(b, "both", 0, range(MULTICAST_TYPE + 2, 0, 5));
	Recv(a, 10, MSG_DONTWAIT);
	Recv(b, 10, MSG_DONTWAIT);
	note("connected types send, but get none");
	for (size_t i = 0; i < COUNT(connected); i++) {
		int s = Socket(connected[i]);
		Bind(s, service(MULTICAST_TYPE + 3, 1));
		Sendto(a, "x", 0, range(MULTICAST_TYPE + 3, 0, 5));
		Ready(s);
		Sendto(s, "from it", 0, range(MULTICAST_TYPE + 2, 0, 5));
		Recvmsg(a, 10, MSG_DONTWAIT, 4096);
		Recvmsg(b, 10, MSG_DONTWAIT, 4096);
		Ready(s);
		Close(s);
	}
}
