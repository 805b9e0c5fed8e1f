/* SPDX-License-Identifier: Apache-2.0 */

/* Pointers to nothing. */
#include "sections.h"

static void *nothing(void)
{
	static volatile uintptr_t p = 8;
	return (void *)p;
}

void pointer_section(void)
{
	int s = Socket(SOCK_RDM), b, a = Socketpair(SOCK_STREAM, &b);
	socklen_t length = sizeof(address);
	begin("bind(%s, bad pointer)", name(s));
	finish(bind(s, nothing(), sizeof(address)));
	begin("connect(%s, bad pointer)", name(s));
	finish(connect(s, nothing(), sizeof(address)));
	begin("getsockname(%s, bad pointer)", name(s));
	finish(getsockname(s, nothing(), &length));
	begin("getpeername(%s, bad pointer)", name(a));
	finish(getpeername(a, nothing(), &length));
	begin("sendto(%s, bad address)", name(s));
	finish(sendto(s, "x", 1, 0, nothing(), sizeof(address)));
	begin("send(%s, bad buffer)", name(a));
	finish(send(a, nothing(), 10, MSG_DONTWAIT));
	begin("setsockopt(%s, bad value)", name(s));
	finish(setsockopt(s, SOL_TIPC, TIPC_IMPORTANCE, nothing(), 4));
	length = 4;
	begin("getsockopt(%s, bad value)", name(s));
	finish(getsockopt(s, SOL_TIPC, TIPC_IMPORTANCE, nothing(), &length));
	Send(a, "hello", 0);
	begin("recv(%s, bad buffer)", name(b));
	finish(recv(b, nothing(), 10, MSG_DONTWAIT));
	Recv(b, 10, MSG_DONTWAIT);
	begin("ioctl(%s, SIOCGETNODEID, bad pointer)", name(s));
	finish(ioctl(s, SIOCGETNODEID, nothing()));
	begin("recvmsg(%s, bad pointer)", name(s));
	finish(recvmsg(s, nothing(), MSG_DONTWAIT));
	begin("sendmsg(%s, bad pointer)", name(s));
	finish(sendmsg(s, nothing(), MSG_DONTWAIT));
}
