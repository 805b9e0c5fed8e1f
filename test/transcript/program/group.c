/* SPDX-License-Identifier: Apache-2.0 */

/* Communication groups. */
#include "sections.h"

int Join(int fd, uint32_t type, uint32_t instance, uint32_t scope, uint32_t flags)
{
	struct tipc_group_req q = {type, instance, scope, flags};
	begin("join(%s, %u, instance %u, scope %u, flags %u)", name(fd), type, instance, scope, flags);
	int r = setsockopt(fd, SOL_TIPC, TIPC_GROUP_JOIN, &q, sizeof q);
	finish(r);
	return r;
}

int Leave(int fd)
{
	begin("leave(%s)", name(fd));
	int r = setsockopt(fd, SOL_TIPC, TIPC_GROUP_LEAVE, NULL, 0);
	finish(r);
	return r;
}

static void wrong(void)
{
	int s = Socket(SOCK_RDM);
	note("what is refused");
	Leave(s);
	Join(s, 63, 1, 0, 0);
	Join(s, 0, 1, 0, 0);
	Join(s, GROUP_TYPE, 1, 4, 0);
	Join(s, GROUP_TYPE, 1, 0xffffffff, 0);
	Set_raw(s, SOL_TIPC, TIPC_GROUP_JOIN, pattern(16), 12);
	Get(s, SOL_TIPC, TIPC_GROUP_JOIN);
	Join(s, GROUP_TYPE, 1, 2, 0);
	note("alone in it");
	Get(s, SOL_TIPC, TIPC_GROUP_JOIN);
	Get_raw(s, SOL_TIPC, TIPC_GROUP_JOIN, 16);
	Getsockname(s);
	Ready(s);
	Join(s, GROUP_TYPE, 1, 2, 0);
	Join(s, GROUP_TYPE + 1, 1, 2, 0);
	Bind(s, service(GROUP_TYPE + 2, 1));
	Bind(s, scoped(service(GROUP_TYPE, 1), -2));
	Connect(s, service(GROUP_TYPE + 2, 1));
	address none = {.family = AF_UNSPEC};
	Connect(s, none);
	Listen(s, 1);
	Send(s, "x", MSG_DONTWAIT);
	Sendto(s, "x", MSG_DONTWAIT, service(GROUP_TYPE, 1));
	Sendto(s, "x", MSG_DONTWAIT, service(GROUP_TYPE, 2));
	Sendto(s, "x", MSG_DONTWAIT, range(GROUP_TYPE, 1, 1));
	Sendto(s, "x", MSG_DONTWAIT, own_address(s));
	Recv(s, 10, MSG_DONTWAIT);
	Get(s, SOL_SOCKET, SO_RCVBUF);
	Set_raw(s, SOL_TIPC, TIPC_GROUP_LEAVE, pattern(4), 4);
	Leave(s);
	Leave(s);
	Get(s, SOL_TIPC, TIPC_GROUP_JOIN);
	Ready(s);
	Send(s, "x", MSG_DONTWAIT);
	Bind(s, service(GROUP_TYPE + 2, 1));
	Join(s, GROUP_TYPE, 1, 0, 0);
	Leave(s);
	Close(s);
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

void Members(int fd, int count)
{
	char texts[8][ROOM];
	if (count > (int)COUNT(texts))
		abort();
	begin("members(%s)", name(fd));
	for (int i = 0; i < count; i++) {
		address from[2] = {0};
		struct iovec v = {texts[i], ROOM};
		struct msghdr m = {.msg_name = from, .msg_namelen = sizeof from, .msg_iov = &v, .msg_iovlen = 1};
		struct pollfd p = {.fd = fd, .events = POLLIN};
		poll(&p, 1, limit());
		if (recvmsg(fd, &m, MSG_DONTWAIT) < 0) {
			add(" after %d", i);
			finish(-1);
			return;
		}
		bool joined = m.msg_flags == MSG_OOB, left = m.msg_flags == (MSG_OOB | MSG_EOR);
		snprintf(texts[i], ROOM, "%s %s as %s", joined ? "joined" : left ? "left" : "other", address_text(&from[0], sizeof from[0]),
			address_text(&from[1], sizeof from[1]));
	}
	qsort(texts, (size_t)count, sizeof texts[0], by_text);
	for (int i = 0; i < count; i++)
		add("%s %s", i == 0 ? " =" : ",", texts[i]);
	end();
}

/*
 * until waits for what a send of no data to a member gives: 0 once that one has joined, as it is
 * known here. Receivers see nothing of it. Members learn of each other after the call that joins.
 */
static void until(int fd, int member, int error)
{
	address to = own_address(member);
	for (int i = 0; i < limit(); i++) {
		long r = sendto(fd, "", 0, MSG_DONTWAIT, (const struct sockaddr *)&to, sizeof to);
		if (r == 0 ? error == 0 : errno == error)
			return;
		poll(NULL, 0, 1);
	}
	note("%s does not know %s", name(fd), name(member));
}

enum { MEMBERS = 3 };

/* all_know waits until each of the members knows each other one, itself as well in some groups. */
static void all_know(const int *s, bool loopback)
{
	for (int i = 0; i < MEMBERS; i++)
		for (int k = 0; k < MEMBERS; k++)
			if (i != k || loopback)
				until(s[i], s[k], 0);
}

static void all_receive(const int *s, int n)
{
	for (int i = 0; i < n; i++)
		Drain(s[i]);
}

static void members(int type, uint32_t scope, uint32_t flags)
{
	uint32_t id = GROUP_TYPE + 10 + (uint32_t)type * 10 + scope * 2 + (flags & 1);
	int s[MEMBERS];
	static const uint32_t instance[MEMBERS] = {1, 2, 2};
	note("%s, scope %u, flags %u", type_text(type), scope, flags);
	for (int i = 0; i < MEMBERS; i++) {
		s[i] = Socket(type);
		Join(s[i], id, instance[i], scope, flags);
	}
	bool loopback = flags & TIPC_GROUP_LOOPBACK, events = flags & TIPC_GROUP_MEMBER_EVTS;
	all_know(s, loopback);
	for (int i = 0; i < MEMBERS; i++) {
		Wait(s[i], POLLOUT);
		if (events)
			Members(s[i], loopback ? MEMBERS : MEMBERS - 1);
	}
	all_receive(s, MEMBERS);
	note("to all");
	Send(s[0], "broadcast", MSG_DONTWAIT);
	all_receive(s, MEMBERS);
	Send(s[1], "broadcast again", MSG_DONTWAIT);
	all_receive(s, MEMBERS);
	note("to one");
	Sendto(s[0], "to the third", MSG_DONTWAIT, own_address(s[2]));
	Sendto(s[0], "to itself", MSG_DONTWAIT, own_address(s[0]));
	Sendto(s[0], "to nobody", MSG_DONTWAIT, port_at(1234567, own_node()));
	all_receive(s, MEMBERS);
	note("to any of an instance");
	for (int i = 0; i < 4; i++)
		Sendto(s[0], "anycast", MSG_DONTWAIT, service(id, 2));
	Sendto(s[0], "anycast", MSG_DONTWAIT, service(1, 2));
	Sendto(s[0], "anycast", MSG_DONTWAIT, service(id, 1));
	Sendto(s[0], "anycast", MSG_DONTWAIT, service(id, 9));
	all_receive(s, MEMBERS);
	note("to all of an instance");
	Sendto(s[0], "multicast", MSG_DONTWAIT, range(id, 2, 2));
	Sendto(s[0], "multicast", MSG_DONTWAIT, range(id, 2, 7));
	Sendto(s[1], "to the first", MSG_DONTWAIT, range(id, 1, 1));
	Sendto(s[1], "to none", MSG_DONTWAIT, range(id, 9, 9));
	all_receive(s, MEMBERS);
	note("lengths, and an option that does not matter");
	Send_data(s[0], LONGEST, MSG_DONTWAIT);
	Send_data(s[0], LONGEST + 1, MSG_DONTWAIT);
	Send_data(s[0], 0, MSG_DONTWAIT);
	all_receive(s, MEMBERS);
	Set(s[0], SOL_TIPC, TIPC_DEST_DROPPABLE, 0);
	Set(s[0], SOL_TIPC, TIPC_IMPORTANCE, 3);
	Send(s[0], "important", MSG_DONTWAIT);
	all_receive(s, MEMBERS);
	note("an order of several kinds");
	Send(s[0], "1", MSG_DONTWAIT);
	Sendto(s[0], "2", MSG_DONTWAIT, own_address(s[2]));
	Send(s[0], "3", MSG_DONTWAIT);
	Sendto(s[0], "4", MSG_DONTWAIT, range(id, 2, 2));
	Sendto(s[0], "5", MSG_DONTWAIT, service(id, 1));
	all_receive(s, MEMBERS);
	note("MSG_PEEK and short reads");
	Send(s[0], "0123456789", MSG_DONTWAIT);
	Recvmsg(s[1], 100, MSG_PEEK | MSG_DONTWAIT, 4096);
	Recvmsg(s[1], 4, MSG_DONTWAIT, 4096);
	Recvfrom_room(s[2], 100, MSG_DONTWAIT, 16, NULL);
	all_receive(s, MEMBERS);
	note("from outside");
	int o = Socket(SOCK_RDM);
	Sendto(o, "x", MSG_DONTWAIT, own_address(s[0]));
	Sendto(o, "x", MSG_DONTWAIT, service(id, 2));
	Sendto(o, "x", MSG_DONTWAIT, range(id, 2, 2));
	all_receive(s, MEMBERS);
	Close(o);
	note("one leaves, one closes");
	Leave(s[2]);
	all_receive(s, 2);
	Ready(s[2]);
	Send(s[2], "x", MSG_DONTWAIT);
	Send(s[0], "to the rest", MSG_DONTWAIT);
	all_receive(s, MEMBERS);
	/* Another socket: one that joins again may be taken for leaving once more, as events of its first binding come late. */
	int left = s[2];
	s[2] = Socket(type);
	Join(s[2], id, 5, scope, flags);
	Close(left);
	all_know(s, loopback);
	Wait(s[2], POLLOUT);
	for (int i = 0; events && i < MEMBERS; i++)
		Members(s[i], i < 2 ? 1 : loopback ? MEMBERS : MEMBERS - 1);
	all_receive(s, MEMBERS);
	Close(s[1]);
	all_receive(s, 1);
	Sendto(s[0], "instance 5", MSG_DONTWAIT, service(id, 5));
	Drain(s[2]);
	Close(s[2]);
	Drain(s[0]);
	Ready(s[0]);
	Send(s[0], "x", MSG_DONTWAIT);
	Close(s[0]);
}

/* A member that does not read holds back those who send to it, and no others. */
static void window(void)
{
	int s[MEMBERS];
	note("a member that does not read");
	for (int i = 0; i < MEMBERS; i++) {
		s[i] = Socket(SOCK_RDM);
		Join(s[i], GROUP_TYPE + 5, (uint32_t)i, 2, 0);
	}
	all_know(s, false);
	all_receive(s, MEMBERS);
	address third = own_address(s[2]), second = own_address(s[1]);
	Fill(s[0], 100, &third);
	Ready(s[0]);
	Send(s[0], "to all", MSG_DONTWAIT);
	Sendto(s[0], "to the second", MSG_DONTWAIT, second);
	Sendto(s[0], "any", MSG_DONTWAIT, service(0, 2));
	Recv(s[1], 100, MSG_DONTWAIT);
	Recv(s[2], 100, MSG_DONTWAIT);
	Fill(s[0], 100, &third);
	for (int i = 0; i < MEMBERS; i++)
		Close(s[i]);
}

static void names(void)
{
	note("a binding of another socket in the group's type");
	int s = Socket(SOCK_RDM), o = Socket(SOCK_RDM);
	Join(s, GROUP_TYPE + 6, 1, 2, TIPC_GROUP_MEMBER_EVTS);
	Bind(o, service(GROUP_TYPE + 6, 2));
	until(s, o, EAGAIN);
	Ready(s);
	Send(s, "x", MSG_DONTWAIT);
	Sendto(s, "x", MSG_DONTWAIT, own_address(o));
	Drain(o);
	Close(o);
	Drain(s);
	note("joined with bindings");
	Close(s);
	s = Socket(SOCK_RDM);
	Bind(s, service(GROUP_TYPE + 7, 9));
	Join(s, GROUP_TYPE + 8, 1, 2, 0);
	o = Socket(SOCK_RDM);
	Sendto(o, "by the name", MSG_DONTWAIT, service(GROUP_TYPE + 7, 9));
	Drain(s);
	Bind_raw(s, NULL, 0);
	Close(s);
	Close(o);
}

void group_section(void)
{
	wrong();
	members(SOCK_RDM, 2, 0);
	members(SOCK_RDM, 3, TIPC_GROUP_MEMBER_EVTS);
	members(SOCK_RDM, 2, TIPC_GROUP_LOOPBACK);
	members(SOCK_DGRAM, 2, TIPC_GROUP_LOOPBACK | TIPC_GROUP_MEMBER_EVTS);
	note("connected types");
	for (size_t i = 0; i < COUNT(connected); i++) {
		int s = Socket(connected[i]);
		Join(s, GROUP_TYPE + 9, 1, 2, 0);
		Ready(s);
		Leave(s);
		Close(s);
	}
	window();
	names();
}
