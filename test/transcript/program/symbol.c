/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Names of sockets, ports and nodes. A port has the name of its socket, if that was made here, so
 * that a call which fails in one of two runs does not give all that follow other names.
 */
#include "transcript.h"

#include <sys/mman.h>

enum { MOST_PORTS = 4096, MOST_NODES = 16, MOST_FDS = 1024 };

/* The processes of a section share this: they take turns. */
static struct shared {
	unsigned ports, nodes, sockets, others;
	uint32_t own;
	struct {
		uint32_t port, node;
		unsigned socket, other; /* its number as one or the other, or 0 */
	} port[MOST_PORTS];
	uint32_t node[MOST_NODES];
} *shared;

static unsigned socket_number[MOST_FDS]; /* by descriptor: each process has its own */

void share_symbols(void)
{
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
}

void forget_symbols(void)
{
	memset(shared, 0, sizeof *shared);
	memset(socket_number, 0, sizeof socket_number);
	int fd = socket(AF_TIPC, SOCK_RDM, 0);
	if (fd >= 0) {
		shared->own = own_address(fd).addr.id.node;
		close(fd);
	}
}

uint32_t own_node(void) { return shared->own; }

static unsigned find_port(uint32_t port, uint32_t node)
{
	unsigned i = 0;
	while (i < shared->ports && (shared->port[i].port != port || shared->port[i].node != node))
		i++;
	if (i == MOST_PORTS)
		abort();
	if (i == shared->ports) {
		shared->port[i].port = port;
		shared->port[i].node = node;
		shared->port[i].socket = shared->port[i].other = 0;
		shared->ports++;
	}
	return i;
}

void name_socket(int fd)
{
	unsigned number = ++shared->sockets;
	if (fd < 0 || fd >= MOST_FDS)
		return;
	socket_number[fd] = number;
	address a = own_address(fd);
	if (a.family != AF_TIPC || a.addrtype != TIPC_SOCKET_ADDR || a.addr.id.ref == 0)
		return;
	unsigned i = find_port(a.addr.id.ref, a.addr.id.node);
	if (shared->port[i].socket == 0)
		shared->port[i].socket = number;
}

const char *name(int fd)
{
	char *text = room();
	if (fd >= 0 && fd < MOST_FDS && socket_number[fd] != 0)
		snprintf(text, ROOM, "s%u", socket_number[fd]);
	else
		snprintf(text, ROOM, "%s", fd < 0 ? "-1" : "no socket");
	return text;
}

const char *node_name(uint32_t node)
{
	char *text = room();
	if (node == 0)
		return "0";
	if (node == shared->own)
		return "own";
	unsigned i = 0;
	while (i < shared->nodes && shared->node[i] != node)
		i++;
	if (i == shared->nodes && i < MOST_NODES)
		shared->node[shared->nodes++] = node;
	snprintf(text, ROOM, "node%u", i + 1);
	return text;
}

const char *port_name(uint32_t port, uint32_t node)
{
	char *text = room();
	if (port == 0) {
		snprintf(text, ROOM, "0@%s", node_name(node));
		return text;
	}
	unsigned i = find_port(port, node);
	if (shared->port[i].socket != 0) {
		snprintf(text, ROOM, "s%u@%s", shared->port[i].socket, node_name(node));
		return text;
	}
	if (shared->port[i].other == 0)
		shared->port[i].other = ++shared->others;
	snprintf(text, ROOM, "port%u@%s", shared->port[i].other, node_name(node));
	return text;
}
