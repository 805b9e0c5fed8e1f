/* SPDX-License-Identifier: Apache-2.0 */

/* The topology server. */
#include "sections.h"

#include <byteswap.h>

static uint32_t order(uint32_t v, bool swapped) { return swapped ? bswap_32(v) : v; }

static struct tipc_subscr subscription(uint32_t type, uint32_t lower, uint32_t upper, uint32_t timeout, uint32_t filter, const char *handle, bool swapped)
{
	struct tipc_subscr q = {
		.seq = {order(type, swapped), order(lower, swapped), order(upper, swapped)}, .timeout = order(timeout, swapped), .filter = order(filter, swapped)};
	memcpy(q.usr_handle, handle, strnlen(handle, sizeof q.usr_handle));
	return q;
}

int Topology(int type)
{
	int s = Socket(type);
	patient(s);
	Connect(s, service(TIPC_TOP_SRV, TIPC_TOP_SRV));
	return s;
}

static long subscribe(int fd, struct tipc_subscr q, size_t length, bool swapped)
{
	unsigned char record[64] = {0};
	memcpy(record, &q, sizeof q);
	if (order(q.seq.type, swapped) == TIPC_NODE_STATE || order(q.seq.type, swapped) == TIPC_LINK_STATE)
		begin("subscribe(%s, {%u,%s}", name(fd), order(q.seq.type, swapped), node_name(order(q.seq.lower, swapped)));
	else
		begin("subscribe(%s, {%u,%u,%u}", name(fd), order(q.seq.type, swapped), order(q.seq.lower, swapped), order(q.seq.upper, swapped));
	if (q.timeout == FOREVER)
		add(" for ever");
	else
		add(" for %u ms", order(q.timeout, swapped));
	add(" filter %#x handle %s%s", order(q.filter, swapped), data_text(q.usr_handle, strnlen(q.usr_handle, 8)), swapped ? " swapped" : "");
	if (length != sizeof q)
		add(", %zu bytes", length);
	add(")");
	long r = send(fd, record, length, 0);
	finish(r);
	return r;
}

long Subscribe(int fd, uint32_t type, uint32_t lower, uint32_t upper, uint32_t timeout, uint32_t filter, const char *handle, bool swapped)
{
	return subscribe(fd, subscription(type, lower, upper, timeout, filter, handle, swapped), sizeof(struct tipc_subscr), swapped);
}

static void event(int fd, bool swapped, bool wait)
{
	static const char *const names[] = {"no event", "PUBLISHED", "WITHDRAWN", "TIMEOUT"};
	struct tipc_event e;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	memset(&e, 0xee, sizeof e);
	begin("event(%s)", name(fd));
	if (wait)
		poll(&p, 1, limit());
	long r = recv(fd, &e, sizeof e, MSG_DONTWAIT);
	result(r);
	if (r == sizeof e) {
		uint32_t kind = order(e.event, swapped);
		add(" %s %u..%u", kind < COUNT(names) ? names[kind] : "unknown", order(e.found_lower, swapped), order(e.found_upper, swapped));
		if (order(e.s.seq.type, swapped) == TIPC_NODE_STATE)
			add(" node %s", node_name(order(e.port.node, swapped)));
		else
			add(" %s", port_name(order(e.port.ref, swapped), order(e.port.node, swapped)));
		add(" of {%u,%u,%u}", order(e.s.seq.type, swapped), order(e.s.seq.lower, swapped), order(e.s.seq.upper, swapped));
		add(" filter %#x handle %s", order(e.s.filter, swapped), data_text(e.s.usr_handle, strnlen(e.s.usr_handle, 8)));
		add(" timeout %u", order(e.s.timeout, swapped));
	}
	end();
}

void Event(int fd, bool swapped) { event(fd, swapped, true); }

void Await_name(int fd, uint32_t type, uint32_t instance)
{
	struct tipc_subscr q = {.seq = {type, instance, instance}, .timeout = (uint32_t)limit(), .filter = TIPC_SUB_SERVICE};
	struct tipc_event e;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	send(fd, &q, sizeof q, 0);
	if (poll(&p, 1, limit()) != 1 || recv(fd, &e, sizeof e, MSG_DONTWAIT) != sizeof e || e.event != TIPC_PUBLISHED)
		note("{%u,%u} was not bound", type, instance);
	q.filter |= TIPC_SUB_CANCEL;
	send(fd, &q, sizeof q, 0);
}

/* until_now waits for an answer that comes after all others: the timeout of a subscription. */
static void until_now(int fd)
{
	Subscribe(fd, TOPOLOGY_TYPE + 99, 0, 0, 0, TIPC_SUB_PORTS, "now", false);
	Event(fd, false);
}

static void bindings(int type, bool swapped)
{
	uint32_t t = TOPOLOGY_TYPE + (uint32_t)type + (swapped ? 10 : 0);
	int s = Topology(type), a = Socket(SOCK_RDM), b = Socket(SOCK_RDM);
	note("bound before");
	Bind(a, range(t, 1, 10));
	Bind(a, range(t, 5, 20));
	Bind(b, range(t, 1, 10));
	Bind(b, scoped(range(t, 30, 30), 3));
	Subscribe(s, t, 0, 100, FOREVER, TIPC_SUB_PORTS, "ports", swapped);
	for (int i = 0; i < 4; i++)
		Event(s, swapped);
	Subscribe(s, t, 0, 100, FOREVER, TIPC_SUB_SERVICE, "service", swapped);
	for (int i = 0; i < 3; i++)
		Event(s, swapped);
	Subscribe(s, t, 7, 7, 3600000, TIPC_SUB_SERVICE, "point", swapped);
	for (int i = 0; i < 2; i++)
		Event(s, swapped);
	note("bound later");
	Bind(b, service(t, 50));
	for (int i = 0; i < 2; i++)
		Event(s, swapped);
	Bind(a, service(t, 50));
	Event(s, swapped);
	note("withdrawn");
	Bind(b, scoped(service(t, 50), -2));
	Event(s, swapped);
	Bind(a, scoped(service(t, 50), -2));
	for (int i = 0; i < 2; i++)
		Event(s, swapped);
	note("cancelled");
	Subscribe(s, t, 0, 100, FOREVER, TIPC_SUB_PORTS | TIPC_SUB_CANCEL, "ports", swapped);
	Subscribe(s, t, 0, 100, FOREVER, TIPC_SUB_SERVICE | TIPC_SUB_CANCEL, "other", swapped);
	Subscribe(s, t, 0, 99, FOREVER, TIPC_SUB_PORTS | TIPC_SUB_CANCEL, "ports", swapped);
	Subscribe(s, TOPOLOGY_TYPE + 99, 0, 0, 0, TIPC_SUB_PORTS, "now", swapped);
	Event(s, swapped);
	Bind(b, service(t, 60));
	Event(s, swapped);
	Close(a);
	Close(b);
	for (int i = 0; i < 6; i++)
		Event(s, swapped);
	Subscribe(s, TOPOLOGY_TYPE + 99, 0, 0, 0, TIPC_SUB_PORTS, "now", swapped);
	Event(s, swapped);
	Ready(s);
	Close(s);
}

static void timeouts(bool swapped)
{
	int s = Topology(SOCK_SEQPACKET);
	note("timeouts");
	Subscribe(s, TOPOLOGY_TYPE + 30, 1, 100, 0, TIPC_SUB_PORTS, "zero", swapped);
	Event(s, swapped);
	Subscribe(s, TOPOLOGY_TYPE + 30, 1, 100, 20, TIPC_SUB_SERVICE, "twenty", swapped);
	Event(s, swapped);
	Subscribe(s, TOPOLOGY_TYPE + 30, 1, 100, 20, TIPC_SUB_SERVICE | TIPC_SUB_CANCEL, "twenty", swapped);
	Ready(s);
	Close(s);
}

static void bad(void)
{
	static const struct {
		uint32_t lower, upper, filter;
		size_t length;
		const char *what;
	} records[] = {
		{1, 0, TIPC_SUB_PORTS, 28, "lower above upper"},
		{0, 1, TIPC_SUB_PORTS | TIPC_SUB_SERVICE, 28, "both filters"},
		{0, 1, TIPC_SUB_PORTS, 27, "short"},
		{0, 1, TIPC_SUB_PORTS, 1, "a byte"},
		{0, 1, TIPC_SUB_PORTS, 40, "long"},
		{0, 1, 0, 28, "no filter"},
		{0, 1, 0x20, 28, "a filter by scope alone"},
		{0, 1, 0x81, 28, "without those there are"},
		{0, 1, 0x21, 28, "of cluster scope"},
		{0, 1, 0x41, 28, "of node scope"},
		{0, 1, 0x100 | TIPC_SUB_PORTS, 28, "an unknown bit"},
		{0, 1, TIPC_SUB_CANCEL, 28, "cancels nothing"},
	};
	int n = Socket(SOCK_RDM);
	Bind(n, scoped(service(TOPOLOGY_TYPE + 40, 0), 2));
	Bind(n, scoped(service(TOPOLOGY_TYPE + 40, 1), 3));
	for (size_t i = 0; i < COUNT(records); i++) {
		note("%s", records[i].what);
		int s = Topology(SOCK_SEQPACKET);
		subscribe(s, subscription(TOPOLOGY_TYPE + 40, records[i].lower, records[i].upper, FOREVER, records[i].filter, "bad", false), records[i].length, false);
		bool ends = i < 4;
		if (ends) {
			Wait(s, POLLHUP);
			Recvmsg(s, 100, MSG_DONTWAIT, 4096);
			Recv(s, 100, MSG_DONTWAIT);
			Send(s, "x", 0);
			Ready(s);
		} else {
			for (int k = 0; k < 4; k++) { /* the last is "now" */
				if (k == 0)
					Subscribe(s, TOPOLOGY_TYPE + 99, 0, 0, 0, TIPC_SUB_PORTS, "now", false);
				struct tipc_event e;
				struct pollfd p = {.fd = s, .events = POLLIN};
				if (poll(&p, 1, limit()) == 1 && recv(s, &e, sizeof e, MSG_PEEK | MSG_DONTWAIT) == sizeof e && e.event == TIPC_SUBSCR_TIMEOUT)
					k = 4;
				event(s, false, false);
			}
		}
		Close(s);
	}
	Close(n);
}

static void others(void)
{
	note("the node, and no link");
	int s = Topology(SOCK_SEQPACKET);
	Getpeername(s);
	Get(s, SOL_TIPC, TIPC_IMPORTANCE);
	Get(s, SOL_SOCKET, SO_ERROR);
	Subscribe(s, TIPC_NODE_STATE, own_node(), own_node(), FOREVER, TIPC_SUB_PORTS, "node", false);
	begin("event of the own node");
	struct tipc_event e;
	struct pollfd p = {.fd = s, .events = POLLIN};
	poll(&p, 1, limit());
	long r = recv(s, &e, sizeof e, MSG_DONTWAIT);
	result(r);
	add(" event %u lower %s upper %s port %u", e.event, node_name(e.found_lower), node_name(e.found_upper), e.port.ref);
	end();
	Subscribe(s, TIPC_LINK_STATE, 0x01001ffe, 0x01001ffe, 0, TIPC_SUB_PORTS, "link", false);
	Event(s, false);
	note("the server's own name");
	Subscribe(s, TIPC_TOP_SRV, TIPC_TOP_SRV, TIPC_TOP_SRV, FOREVER, TIPC_SUB_PORTS, "server", false);
	Event(s, false);
	note("several records in one message of a stream");
	int t = Topology(SOCK_STREAM);
	struct tipc_subscr two[2] = {
		subscription(TOPOLOGY_TYPE + 50, 0, 1, 0, TIPC_SUB_PORTS, "first", false), subscription(TOPOLOGY_TYPE + 50, 0, 1, 0, TIPC_SUB_PORTS, "second", false)};
	begin("send(%s, two records)", name(t));
	finish(send(t, two, sizeof two, 0));
	Event(t, false);
	until_now(t); /* The second is lost: the server reads a record of each message. */
	note("the first record with the request to connect");
	int c = Socket(SOCK_SEQPACKET);
	begin("sendto(%s, a record, 1:1)", name(c));
	address a = service(TIPC_TOP_SRV, TIPC_TOP_SRV);
	finish(sendto(c, two, sizeof two[0], 0, (const struct sockaddr *)&a, sizeof a));
	Event(c, false);
	note("at this node, by its address");
	int d = Socket(SOCK_SEQPACKET);
	patient(d);
	Connect(d, service_at(TIPC_TOP_SRV, TIPC_TOP_SRV, own_node()));
	until_now(d);
	Connect(d, a);
	note("shut down by the client");
	Shutdown(d, SHUT_RDWR);
	Ready(d);
	Recv(d, 100, MSG_DONTWAIT);
}

void topology_section(void)
{
	for (size_t i = 0; i < COUNT(connected); i++)
		for (int swapped = 0; swapped < 2; swapped++) {
			note("type %s%s", type_text(connected[i]), swapped ? ", the other byte order" : "");
			bindings(connected[i], swapped);
		}
	timeouts(false);
	timeouts(true);
	bad();
	others();
}
