/* SPDX-License-Identifier: Apache-2.0 */

/* Every way to receive a message. */
#include "sections.h"

static int sender, receiver;

static void some(const char *text)
{
	Send(sender, text, 0);
}

static void messages(bool truncates)
{
	note("room for less, more and nothing");
	some("0123456789");
	Recv(receiver, 4, 0);
	Recv(receiver, 4, MSG_DONTWAIT);
	some("0123456789");
	Recvmsg(receiver, 4, 0, 4096);
	some("0123456789");
	Recv(receiver, 0, MSG_DONTWAIT);
	Read(receiver, 0);
	Recvmsg(receiver, 0, MSG_DONTWAIT, 4096);
	Recv(receiver, 10, MSG_DONTWAIT);
	note("MSG_PEEK");
	some("0123456789");
	some("next");
	Recv(receiver, 20, MSG_PEEK);
	Recv(receiver, 4, MSG_PEEK);
	Recvmsg(receiver, 4, MSG_PEEK, 4096);
	Recv(receiver, 4, MSG_PEEK | MSG_TRUNC);
	Recv(receiver, 20, MSG_DONTWAIT);
	Recv(receiver, 20, MSG_PEEK | MSG_DONTWAIT);
	Recv(receiver, 20, MSG_DONTWAIT);
	Recv(receiver, 20, MSG_PEEK | MSG_DONTWAIT);
	note("MSG_TRUNC");
	some("0123456789");
	Recv(receiver, 4, MSG_TRUNC);
	Recv(receiver, 20, MSG_DONTWAIT);
	some("0123456789");
	Recvmsg(receiver, 20, MSG_TRUNC, 0);
	note("MSG_WAITALL");
	some("0123456789");
	Recv(receiver, 10, MSG_WAITALL);
	some("0123");
	if (truncates) {
		Recv(receiver, 10, MSG_WAITALL);
	} else {
		some("456789ab");
		Recv(receiver, 10, MSG_WAITALL);
		Recv(receiver, 10, MSG_WAITALL | MSG_DONTWAIT);
	}
	note("MSG_EOR");
	some("0123456789");
	Recvmsg(receiver, 4, MSG_EOR, 0);
	Ready(receiver);
	Recvmsg(receiver, 4, MSG_EOR | MSG_PEEK, 0);
	Recvmsg(receiver, 4, MSG_EOR, 0);
	Recvmsg(receiver, 4, MSG_EOR, 0);
	Recvmsg(receiver, 4, MSG_EOR | MSG_DONTWAIT, 0);
	some("0123456789");
	Recvmsg(receiver, 4, MSG_EOR, 0);
	Recvmsg(receiver, 20, MSG_DONTWAIT, 0);
	Recvmsg(receiver, 20, MSG_DONTWAIT, 0);
	note("other flags");
	static const int flags[] = {MSG_OOB, MSG_ERRQUEUE, MSG_NOSIGNAL, MSG_CMSG_CLOEXEC, MSG_DONTROUTE, MSG_CTRUNC, MSG_CONFIRM};
	for (size_t i = 0; i < COUNT(flags); i++) {
		some("flag");
		Recvmsg(receiver, 20, flags[i] | MSG_DONTWAIT, 0);
		Recvmsg(receiver, 20, MSG_DONTWAIT, 0);
	}
	note("empty messages");
	Send_data(sender, 0, 0);
	Recv(receiver, 20, MSG_DONTWAIT);
	Ready(receiver);
	Send_data(sender, 0, 0);
	some("after an empty one");
	Recv(receiver, 20, MSG_DONTWAIT);
	Recv(receiver, 20, MSG_DONTWAIT);
	note("room for the address");
	static const socklen_t rooms[] = {0, 4, 15, 16, 17, 32};
	for (size_t i = 0; i < COUNT(rooms); i++) {
		some("room");
		Recvfrom_room(receiver, 20, MSG_DONTWAIT, rooms[i], NULL);
	}
	note("recvmmsg");
	some("one");
	some("two");
	some("three");
	Recvmmsg(receiver, 2, 4, MSG_DONTWAIT);
	Recvmmsg(receiver, 8, 4, MSG_DONTWAIT);
	Recvmmsg(receiver, 8, 4, MSG_DONTWAIT);
	Sendmmsg(sender, (const char *[]){"four", "five", "", "six", NULL}, 0, NULL);
	Recvmmsg(receiver, 8, 10, MSG_WAITFORONE);
	note("several buffers");
	unsigned char a[4], b[4], c[4];
	struct iovec v[] = {{a, 4}, {NULL, 0}, {b, 4}, {c, 4}};
	some("0123456789");
	memset(c, '.', sizeof c);
	begin("readv(%s, 4, 0, 4, 4)", name(receiver));
	long r = readv(receiver, v, 4);
	result(r);
	add(" %.4s %.4s %.4s", (char *)a, (char *)b, (char *)c);
	end();
	Drain(receiver);
}

static void control(void)
{
	static const size_t rooms[] = {0, 1, 8, 15, 16, 20, 24, 27, 28, 32, 64};
	note("room for ancillary data");
	for (size_t i = 0; i < COUNT(rooms); i++) {
		some("control");
		Recvmsg(receiver, 20, MSG_DONTWAIT, rooms[i]);
	}
}

void receive_section(void)
{
	for (size_t i = 0; i < COUNT(datagram); i++) {
		note("type %s", type_text(datagram[i]));
		receiver = Socket(datagram[i]);
		sender = Socket(datagram[i]);
		Bind(receiver, service(RECEIVE_TYPE, (uint32_t)i));
		Connect(sender, service(RECEIVE_TYPE, (uint32_t)i));
		messages(true);
		control();
		Close(sender);
		Close(receiver);
	}
	for (size_t i = 0; i < COUNT(connected); i++) {
		note("type %s", type_text(connected[i]));
		address a = service(RECEIVE_TYPE + 1, (uint32_t)i);
		int l = Listener(connected[i], a);
		sender = Connected(connected[i], l, a, &receiver);
		Set(sender, SOL_TIPC, TIPC_NODELAY, 1);
		messages(connected[i] == SOCK_SEQPACKET);
		control();
		Close(sender);
		Close(receiver);
		Close(l);
	}
}
