/* SPDX-License-Identifier: Apache-2.0 */

/* Two nodes: how connections begin, or do not. */
#include "remote.h"

static int other_type(int type) { return type == SOCK_STREAM ? SOCK_SEQPACKET : SOCK_STREAM; }

void requests_server(int type)
{
	int l = Listener(type, service(REQUESTS, 1)), bound = Socket(type), rdm = Socket(SOCK_RDM), last = Socket(SOCK_RDM), n;
	Bind(bound, service(REQUESTS, 50));
	Bind(rdm, service(REQUESTS, 51));
	Bind(last, service(REQUESTS, 99));
	meet();
	note("nobody comes");
	Set_time(l, SO_RCVTIMEO, 20);
	Accept(l);
	Nonblock(l, true);
	Accept(l);
	Nonblock(l, false);
	Set_time(l, SO_RCVTIMEO, 0);
	meet();
	note("late");
	meet();
	Wait(l, POLLIN);
	Ready(l);
	n = Accept(l);
	Getpeername(n);
	Send(n, "accepted", 0);
	meet();
	Close(n);
	note("by the listener's own address");
	tell(own_address(l).addr.id.ref);
	n = Accept4(l, SOCK_NONBLOCK, 16);
	Recvmsg(n, 100, MSG_DONTWAIT, 4096);
	Send(n, "accepted", 0);
	Wait(n, POLLIN);
	Recvmsg(n, 100, 0, 4096);
	tell(own_address(n).addr.id.ref);
	meet();
	Close(n);
	note("of another type");
	meet();
	n = Accept(l);
	Send(n, "accepted", 0);
	meet();
	Close(n);
	note("with data");
	static const size_t lengths[] = {1, 1024, 1025, 5000, LONGEST};
	for (size_t i = 0; i < COUNT(lengths); i++) {
		n = Accept(l);
		Wait(n, POLLIN);
		Ready(n);
		Recvmsg(n, LONGEST, 0, 4096);
		Send(n, "accepted", 0);
		Wait(n, POLLHUP);
		Close(n);
	}
	note("several wait");
	meet();
	for (int i = 0; i < 3; i++) {
		n = Accept(l);
		Recv(n, 100, 0);
		Send(n, "accepted", 0);
		Wait(n, POLLHUP);
		Close(n);
	}
	note("given up");
	meet();
	n = Accept(l);
	Wait(n, POLLHUP);
	Recvmsg(n, 100, MSG_DONTWAIT, 4096);
	Recvmsg(n, 100, MSG_DONTWAIT, 4096);
	Close(n);
	note("to a datagram socket");
	meet();
	Wait(rdm, POLLIN);
	Recvmsg(rdm, 100, 0, 4096);
	meet();
	Drain(rdm);
	Close(last);
	Close(rdm);
	Close(bound);
	Close(l);
	meet();
}

/* answered reads the server's word, and closes. */
static void answered(int fd)
{
	Wait(fd, POLLIN);
	Recvmsg(fd, 100, 0, 4096);
	Close(fd);
}

static void refused(int type, address to, size_t length)
{
	int c = Socket(type);
	patient(c);
	if (Sendto_data(c, length, 0, to) >= 0) {
		Wait(c, POLLHUP);
		Ready(c);
		Get(c, SOL_SOCKET, SO_ERROR);
		Recvmsg(c, 100, MSG_DONTWAIT, 4096);
		Recvmsg(c, 100, MSG_DONTWAIT, 4096);
		Send(c, "x", 0);
	}
	Close(c);
}

void requests_client(int type)
{
	meet();
	until_bound(REQUESTS, 99);
	address a = service(REQUESTS, 1);
	meet();
	note("late");
	int c = Socket(type);
	Set(c, SOL_TIPC, TIPC_CONN_TIMEOUT, 50);
	Connect(c, a);
	Ready(c);
	Getpeername(c);
	Recv(c, 10, MSG_DONTWAIT);
	Send(c, "x", MSG_DONTWAIT);
	Nonblock(c, true);
	Connect(c, a);
	Nonblock(c, false);
	meet();
	answered(c);
	meet();
	note("by the listener's own address");
	address listener = port_at(hear(), other_node);
	c = Socket(type);
	patient(c);
	Connect(c, listener);
	Connect(c, listener);
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	Send(c, "request", 0);
	address connected_one = port_at(hear(), other_node);
	int other = Socket(type);
	patient(other);
	Connect(other, connected_one);
	Close(other);
	meet();
	Wait(c, POLLHUP);
	Close(c);
	note("of another type");
	c = Socket(other_type(type) | SOCK_NONBLOCK);
	patient(c);
	Connect(c, a);
	meet();
	Wait(c, POLLIN | POLLHUP);
	answered(c);
	meet();
	note("with data");
	static const size_t lengths[] = {1, 1024, 1025, 5000, LONGEST};
	for (size_t i = 0; i < COUNT(lengths); i++) {
		c = Socket(type);
		patient(c);
		Sendto_data(c, lengths[i], 0, a);
		answered(c);
	}
	c = Socket(type);
	Sendto_data(c, LONGEST + 1, 0, a);
	Close(c);
	note("several wait");
	int many[3];
	for (size_t i = 0; i < COUNT(many); i++) {
		many[i] = Socket(type | SOCK_NONBLOCK);
		patient(many[i]);
		Connect(many[i], a);
	}
	meet();
	for (size_t i = 0; i < COUNT(many); i++) {
		Wait(many[i], POLLOUT);
		Send(many[i], "request", 0);
		answered(many[i]);
	}
	note("given up");
	c = Socket(type | SOCK_NONBLOCK);
	patient(c);
	Connect(c, a);
	Connect(c, a);
	Close(c);
	meet();
	note("refused, with data");
	static const size_t back[] = {1, 1024, 1025, 5000};
	for (size_t i = 0; i < COUNT(back); i++) {
		refused(type, service(REQUESTS, 50), back[i]);
		refused(type, service_at(REQUESTS, 77, other_node), back[i]);
		refused(type, port_at(1234567, other_node), back[i]);
	}
	refused(type, service(REQUESTS, 77), 1);
	refused(type, service_at(REQUESTS, 1, 0x1001063), 1);
	note("to a datagram socket");
	c = Socket(type);
	Set(c, SOL_TIPC, TIPC_CONN_TIMEOUT, 50);
	Connect(c, service(REQUESTS, 51));
	Ready(c);
	Close(c);
	c = Socket(type);
	Sendto(c, "a request", MSG_DONTWAIT, service(REQUESTS, 51));
	Ready(c);
	meet();
	Close(c);
	note("refused");
	c = Socket(type);
	patient(c);
	Connect(c, service(REQUESTS, 50));
	Connect(c, a);
	Close(c);
	c = Socket(type);
	Set(c, SOL_TIPC, TIPC_CONN_TIMEOUT, 50);
	Connect(c, service_at(REQUESTS, 1, 0x1001063));
	Connect(c, port_at(1, 0x1001063));
	Connect(c, range(REQUESTS, 1, 1));
	Ready(c);
	Close(c);
	meet();
	meet();
	note("withdrawn");
	c = Socket(type);
	patient(c);
	Connect(c, a);
	Sendto(c, "x", 0, a);
	Connect(c, listener);
	Close(c);
}
