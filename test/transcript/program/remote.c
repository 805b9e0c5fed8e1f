/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Two nodes: the client's part on one, the server's on the other. The parts are in step by a
 * connection of their own: what one has sent before they meet has arrived after.
 */
#include "remote.h"

static int meeting; /* the connection */
uint32_t other_node;

void meet(void)
{
	char c = 0;
	struct pollfd p = {.fd = meeting, .events = POLLIN};
	if (send(meeting, "m", 1, 0) != 1 || poll(&p, 1, limit()) != 1 || recv(meeting, &c, 1, MSG_DONTWAIT) != 1) {
		note("the other part is gone");
		exit(6);
	}
}

void tell(uint32_t value)
{
	if (send(meeting, &value, sizeof value, 0) != sizeof value)
		exit(6);
}

uint32_t hear(void)
{
	uint32_t value = 0;
	struct pollfd p = {.fd = meeting, .events = POLLIN};
	if (poll(&p, 1, limit()) != 1 || recv(meeting, &value, sizeof value, MSG_DONTWAIT) != sizeof value) {
		note("the other part is gone");
		exit(6);
	}
	return value;
}

/* begin_server and begin_client make the connection; no line is printed of it. */
static void begin_server(void)
{
	int l = socket(AF_TIPC, SOCK_SEQPACKET, 0);
	address a = service(REMOTE_TYPE, 0), from = {0};
	socklen_t length = sizeof from;
	if (listen(l, 1) < 0 || bind(l, (const struct sockaddr *)&a, sizeof a) < 0 || (meeting = accept(l, (struct sockaddr *)&from, &length)) < 0) {
		perror("transcript: the connection of the parts");
		exit(6);
	}
	other_node = from.addr.id.node;
	close(l);
	meet();
}

static void begin_client(void)
{
	int top = socket(AF_TIPC, SOCK_SEQPACKET, 0);
	address a = service(TIPC_TOP_SRV, TIPC_TOP_SRV), to = service(REMOTE_TYPE, 0);
	socklen_t length = sizeof a;
	meeting = socket(AF_TIPC, SOCK_SEQPACKET, 0);
	patient(meeting);
	if (connect(top, (const struct sockaddr *)&a, sizeof a) < 0) {
		perror("transcript: the topology server");
		exit(6);
	}
	Await_name(top, REMOTE_TYPE, 0);
	close(top);
	if (connect(meeting, (const struct sockaddr *)&to, sizeof to) < 0 || getpeername(meeting, (struct sockaddr *)&a, &length) < 0) {
		perror("transcript: the connection of the parts");
		exit(6);
	}
	other_node = a.addr.id.node;
	meet();
}

void until_bound(uint32_t type, uint32_t instance)
{
	int top = socket(AF_TIPC, SOCK_SEQPACKET, 0);
	address a = service(TIPC_TOP_SRV, TIPC_TOP_SRV);
	if (connect(top, (const struct sockaddr *)&a, sizeof a) == 0)
		Await_name(top, type, instance);
	close(top);
}

static const size_t lengths[] = {1, 1000, 1404, 1500, 9000, LONGEST};

/* Datagrams. */
static void datagrams_server(int type)
{
	int s = Socket(type), last = Socket(SOCK_RDM);
	Bind(s, range(ECHO, 1, 10));
	Bind(s, scoped(service(ECHO, 20), 3));
	Bind(last, service(ECHO, 99));
	meet();
	for (size_t i = 0; i < 4 + COUNT(lengths); i++) {
		Wait(s, POLLIN);
		address from = Source(s, LONGEST);
		Sendto(s, "echo", 0, from);
	}
	meet();
	note("closed with unread messages");
	Wait(s, POLLIN);
	Ready(s);
	Close(s);
	meet();
	Close(last);
}

static void datagrams_client(int type)
{
	int c = Socket(type);
	meet();
	until_bound(ECHO, 99);
	address to[] = {service(ECHO, 1), service_at(ECHO, 2, other_node), service_at(ECHO, 20, other_node), range(ECHO, 3, 3)}, from = {0};
	for (size_t i = 0; i < COUNT(to); i++) {
		Sendto(c, "by name", 0, to[i]);
		Wait(c, POLLIN);
		Recvfrom_room(c, 100, 0, 32, &from);
	}
	for (size_t i = 0; i < COUNT(lengths); i++) {
		Sendto_data(c, lengths[i], 0, from);
		Wait(c, POLLIN);
		Recvmsg(c, 100, 0, 4096);
	}
	note("what is not there");
	Sendto(c, "x", 0, service(ECHO, 20));
	Sendto(c, "x", 0, service(ECHO, 77));
	Sendto(c, "x", 0, service_at(ECHO, 77, other_node));
	Sendto(c, "x", 0, port_at(1234567, other_node));
	note("returned");
	Set(c, SOL_TIPC, TIPC_DEST_DROPPABLE, 0);
	Sendto(c, "no name", 0, service_at(ECHO, 77, other_node));
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	Sendto(c, "no port", 0, port_at(1234567, other_node));
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	Sendto_data(c, 5000, 0, port_at(1234567, other_node));
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	Sendto(c, "first", 0, service(ECHO, 1));
	Sendto_data(c, 2000, 0, from);
	meet();
	meet();
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	Close(c);
}

/* Connections. */
static void connections_server(int type)
{
	static unsigned char room[1 << 20];
	int l = Listener(type, range(CONNECTION, 1, 10)), bound = Socket(type), last = Socket(SOCK_RDM), n;
	Bind(bound, service(CONNECTION, 50));
	Bind(last, service(CONNECTION, 99));
	meet();
	for (int i = 0; i < 3; i++) {
		Wait(l, POLLIN);
		n = Accept4(l, 0, 16);
		Getpeername(n);
		Wait(n, POLLIN);
		Recvmsg(n, 100, 0, 4096);
		Send(n, "answer", 0);
		Get(n, SOL_TIPC, TIPC_IMPORTANCE);
		Wait(n, POLLHUP);
		Ready(n);
		Recvmsg(n, 100, MSG_DONTWAIT, 4096);
		Recv(n, 100, MSG_DONTWAIT);
		Send(n, "x", 0);
		Close(n);
	}
	note("a request with data");
	Wait(l, POLLIN);
	n = Accept(l);
	Recvmsg(n, 100, 0, 4096);
	Shutdown(n, SHUT_RDWR);
	Close(n);
	meet();
	note("a mebibyte");
	n = Accept(l);
	size_t total = 0;
	ssize_t r;
	begin("recv(%s) again and again", name(n));
	while ((r = recv(n, room + total, sizeof room - total, 0)) > 0)
		total += (size_t)r;
	add(": %zu bytes %s", total, data_text(room, total));
	end();
	Close(n);
	note("closed with unread data at both ends");
	n = Accept(l);
	Send(n, "unread", 0);
	meet();
	Wait(n, POLLIN);
	Close(n);
	meet();
	note("a process that ends");
	n = Accept(l);
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	Ready(n);
	Send(n, "still there", 0);
	meet();
	note("requests to a listener that is closed");
	meet();
	Wait(l, POLLIN);
	Close(l);
	meet();
	Close(bound);
	Close(last);
}

static void connections_client(int type)
{
	address a = service(CONNECTION, 1);
	meet();
	until_bound(CONNECTION, 99);
	for (int i = 0; i < 3; i++) {
		address to[] = {a, service_at(CONNECTION, 2, other_node), service(CONNECTION, 3)};
		int c = Socket(type);
		patient(c);
		if (i == 2) {
			Nonblock(c, true);
			Set(c, SOL_TIPC, TIPC_IMPORTANCE, 2);
		}
		Connect(c, to[i]);
		if (i == 2)
			Wait(c, POLLOUT);
		Getpeername(c);
		Ready(c);
		Send(c, "request", 0);
		Wait(c, POLLIN);
		Recvmsg(c, 100, 0, 4096);
		if (i == 1)
			Shutdown(c, SHUT_RDWR);
		Close(c);
	}
	int c = Socket(type);
	patient(c);
	note("a request with data");
	Sendto(c, "first", 0, a);
	Wait(c, POLLHUP);
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	Recv(c, 100, MSG_DONTWAIT);
	Close(c);
	meet();
	note("a mebibyte");
	c = Socket(type);
	patient(c);
	Connect(c, a);
	if (type == SOCK_STREAM)
		Send_data(c, 1 << 20, 0);
	for (int i = 0; type != SOCK_STREAM && i < 16; i++)
		if (send(c, pattern(65536), 65536, 0) != 65536)
			note("send failed");
	Shutdown(c, SHUT_RDWR);
	Close(c);
	note("closed with unread data at both ends");
	c = Socket(type);
	patient(c);
	Connect(c, a);
	Send(c, "unread", 0);
	Send(c, "and more", 0);
	meet();
	meet();
	Wait(c, POLLHUP);
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	Recvmsg(c, 100, MSG_DONTWAIT, 4096);
	Send(c, "x", 0);
	Close(c);
	note("a process that ends");
	c = Socket(type);
	patient(c);
	Connect(c, a);
	Wait(c, POLLIN);
	Recv(c, 100, 0);
	Close(c);
	meet();
	note("refused");
	address to[] = {service(CONNECTION, 50), port_at(1234567, other_node), service_at(CONNECTION, 77, other_node), service(CONNECTION, 77)};
	for (size_t i = 0; i < COUNT(to); i++) {
		c = Socket(type);
		patient(c);
		Connect(c, to[i]);
		Ready(c);
		Close(c);
		c = Socket(type | SOCK_NONBLOCK);
		patient(c);
		if (Connect(c, to[i]) == 0 || errno == EINPROGRESS) {
			Wait(c, POLLHUP);
			Get(c, SOL_SOCKET, SO_ERROR);
			Recvmsg(c, 100, 0, 4096);
		}
		Close(c);
	}
	note("requests to a listener that is closed");
	c = Socket(type | SOCK_NONBLOCK);
	patient(c);
	Connect(c, a);
	meet();
	meet();
	Wait(c, POLLHUP);
	Get(c, SOL_SOCKET, SO_ERROR);
	Close(c);
}

/* Multicast. */
static void many_server(void)
{
	int s[2] = {Socket(SOCK_RDM), Socket(SOCK_DGRAM)}, n = Socket(SOCK_RDM), last = Socket(SOCK_RDM);
	Bind(s[0], range(MANY, 1, 10));
	Bind(s[1], range(MANY, 5, 15));
	Bind(n, scoped(range(MANY, 1, 15), 3));
	Bind(last, service(MANY, 99));
	meet();
	for (int i = 0; i < 6; i++) {
		int k = i == 1 ? 1 : 0; /* what comes last to each */
		Wait(s[k], POLLIN);
		Recvmsg(s[k], LONGEST, 0, 4096);
		if (i == 2) {
			Wait(s[1], POLLIN);
			Recvmsg(s[1], LONGEST, 0, 4096);
		}
		meet();
	}
	Drain(s[1]);
	Ready(n);
	Close(last);
	Close(n);
	Close(s[1]);
	Close(s[0]);
}

static void many_client(void)
{
	static const struct {
		uint32_t lower, upper;
		int method;
	} to[] = {{1, 2, 0}, {11, 20, 0}, {0, 20, 0}, {1, 1, TIPC_MCAST_BROADCAST}, {1, 1, TIPC_MCAST_REPLICAST}, {1, 4, TIPC_MCAST_REPLICAST}};
	int c = Socket(SOCK_RDM), own = Socket(SOCK_RDM);
	Bind(own, range(MANY, 1, 10));
	meet();
	until_bound(MANY, 99);
	for (size_t i = 0; i < COUNT(to); i++) {
		if (to[i].method != 0)
			Set_raw(c, SOL_TIPC, to[i].method, NULL, 0);
		if (i == 5)
			Sendto_data(c, LONGEST, 0, range(MANY, to[i].lower, to[i].upper));
		else
			Sendto(c, "to many", 0, range(MANY, to[i].lower, to[i].upper));
		meet();
	}
	Drain(own);
	Close(own);
	Close(c);
}

/* Groups. */
static void group_server(void)
{
	int s = Socket(SOCK_RDM);
	Join(s, GROUP, 2, 2, TIPC_GROUP_MEMBER_EVTS);
	meet();
	Wait(s, POLLIN);
	Recvmsg(s, 100, 0, 4096);
	meet();
	for (int i = 0; i < 5; i++) {
		Wait(s, POLLIN);
		Recvmsg(s, LONGEST, 0, 4096);
	}
	Send(s, "answer to all", 0);
	meet();
	Wait(s, POLLIN);
	Recvmsg(s, 100, 0, 4096);
	Ready(s);
	Send(s, "x", MSG_DONTWAIT);
	meet();
	Wait(s, POLLIN);
	Recvmsg(s, 100, 0, 4096);
	meet();
	Close(s);
	meet();
}

static void group_client(void)
{
	int c = Socket(SOCK_RDM);
	meet();
	until_bound(GROUP, 2);
	Join(c, GROUP, 1, 2, TIPC_GROUP_MEMBER_EVTS);
	Wait(c, POLLIN);
	address from = {0};
	Recvfrom_room(c, 100, 0, 32, &from);
	meet();
	Send(c, "to all", 0);
	Sendto(c, "to one", 0, from);
	Sendto(c, "to any", 0, service(GROUP, 2));
	Sendto(c, "to all of an instance", 0, range(GROUP, 2, 2));
	Sendto(c, "x", 0, service(GROUP, 7));
	Send_data(c, LONGEST, 0);
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	meet();
	Leave(c);
	meet();
	Close(c);
	c = Socket(SOCK_RDM); /* section group says why */
	Join(c, GROUP, 3, 2, TIPC_GROUP_MEMBER_EVTS);
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	meet();
	meet();
	Wait(c, POLLIN);
	Recvmsg(c, 100, 0, 4096);
	Ready(c);
	Close(c);
}

/* Subscriptions. */
static void watched_server(void)
{
	int s = Socket(SOCK_RDM), other = Socket(SOCK_RDM);
	Bind(s, range(WATCHED, 1, 10));
	meet();
	meet();
	Bind(other, range(WATCHED, 1, 10));
	Bind(other, scoped(service(WATCHED, 20), 3));
	Bind(other, service(WATCHED, 30));
	meet();
	meet();
	Close(other);
	Bind(s, scoped(range(WATCHED, 1, 10), -2));
	meet();
	Close(s);
}

static void events(int fd, int n)
{
	while (n-- > 0)
		Event(fd, false);
}

static void watched_client(void)
{
	meet();
	until_bound(WATCHED, 1);
	int s = Topology(SOCK_SEQPACKET);
	Subscribe(s, WATCHED, 0, 100, FOREVER, TIPC_SUB_PORTS, "ports", false);
	events(s, 1);
	Subscribe(s, WATCHED, 0, 100, FOREVER, TIPC_SUB_SERVICE, "service", false);
	events(s, 1);
	note("the topology server of the other node");
	int t = Socket(SOCK_SEQPACKET);
	patient(t);
	Connect(t, service_at(TIPC_TOP_SRV, TIPC_TOP_SRV, other_node));
	Subscribe(t, WATCHED, 0, 100, FOREVER, TIPC_SUB_PORTS, "other", false);
	events(t, 1);
	meet();
	meet();
	note("bound");
	events(s, 3);
	events(t, 3);
	meet();
	note("withdrawn");
	meet();
	events(s, 5);
	events(t, 4);
	Close(t);
	note("nodes and links");
	for (uint32_t type = TIPC_NODE_STATE; type <= TIPC_LINK_STATE; type += TIPC_LINK_STATE) {
		struct tipc_event e;
		struct tipc_subscr q = {.seq = {type, other_node, other_node}, .timeout = FOREVER, .filter = TIPC_SUB_PORTS};
		struct pollfd p = {.fd = s, .events = POLLIN};
		if (send(s, &q, sizeof q, 0) != sizeof q)
			note("send failed");
		begin("event of type %u", type);
		if (poll(&p, 1, limit()) == 1 && recv(s, &e, sizeof e, MSG_DONTWAIT) == sizeof e)
			add(" = %u lower %s upper %s node %s", e.event, node_name(e.found_lower), node_name(e.found_upper), node_name(e.port.node));
		end();
	}
	Close(s);
}

static void links(void)
{
	int s = Socket(SOCK_RDM);
	struct tipc_sioc_nodeid_req id = {.peer = other_node};
	begin("ioctl(%s, SIOCGETNODEID, %s)", name(s), node_name(other_node));
	int r = ioctl(s, SIOCGETNODEID, &id);
	result(r);
	if (r == 0)
		add(" %s", identity_text(id.node_id, other_node));
	end();
	for (uint32_t bearer = 0; bearer < 3; bearer++) {
		struct tipc_sioc_ln_req ln = {.peer = other_node, .bearer_id = bearer};
		begin("ioctl(%s, SIOCGETLINKNAME, %s, %u)", name(s), node_name(other_node), bearer);
		r = ioctl(s, SIOCGETLINKNAME, &ln);
		result(r);
		unsigned own, other;
		char there[TIPC_MAX_IF_NAME], here[TIPC_MAX_IF_NAME];
		if (r == 0 && sscanf(ln.linkname, "%x:%15[^-]-%x:%15s", &own, here, &other, there) == 4)
			add(" %s:%s-%s:%s", node_name(own), here, node_name(other), there);
		end();
	}
	Close(s);
}

void remote_server(void)
{
	begin_server();
	links();
	for (size_t i = 0; i < COUNT(datagram); i++) {
		note("type %s", type_text(datagram[i]));
		datagrams_server(datagram[i]);
		sizes_server(datagram[i]);
		forms_server(datagram[i]);
		overload_server(datagram[i]);
	}
	for (size_t i = 0; i < COUNT(connected); i++) {
		note("type %s", type_text(connected[i]));
		connections_server(connected[i]);
		requests_server(connected[i]);
		data_server(connected[i]);
		full_server(connected[i]);
		ends_server(connected[i]);
	}
	note("multicast");
	many_server();
	note("a group");
	group_server();
	members_server();
	note("subscriptions");
	watched_server();
	meet();
	note("contact is lost");
	lost_server();
}

void remote_client(void)
{
	begin_client();
	links();
	for (size_t i = 0; i < COUNT(datagram); i++) {
		note("type %s", type_text(datagram[i]));
		datagrams_client(datagram[i]);
		sizes_client(datagram[i]);
		forms_client(datagram[i]);
		overload_client(datagram[i]);
	}
	for (size_t i = 0; i < COUNT(connected); i++) {
		note("type %s", type_text(connected[i]));
		connections_client(connected[i]);
		requests_client(connected[i]);
		data_client(connected[i]);
		full_client(connected[i]);
		ends_client(connected[i]);
	}
	note("multicast");
	many_client();
	note("a group");
	group_client();
	members_client();
	note("subscriptions");
	watched_client();
	meet();
	note("contact is lost");
	lost_client();
}
