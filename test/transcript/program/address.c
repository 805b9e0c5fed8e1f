/* SPDX-License-Identifier: Apache-2.0 */

/* Addresses, and data to send. */
#include "transcript.h"

address range(uint32_t type, uint32_t lower, uint32_t upper)
{
	address a = {.family = AF_TIPC, .addrtype = TIPC_SERVICE_RANGE};
	a.addr.nameseq.type = type;
	a.addr.nameseq.lower = lower;
	a.addr.nameseq.upper = upper;
	return a;
}

address service(uint32_t type, uint32_t instance) { return service_at(type, instance, 0); }

address service_at(uint32_t type, uint32_t instance, uint32_t node)
{
	address a = {.family = AF_TIPC, .addrtype = TIPC_SERVICE_ADDR};
	a.addr.name.name.type = type;
	a.addr.name.name.instance = instance;
	a.addr.name.domain = node;
	return a;
}

address port_at(uint32_t port, uint32_t node)
{
	address a = {.family = AF_TIPC, .addrtype = TIPC_SOCKET_ADDR};
	a.addr.id.ref = port;
	a.addr.id.node = node;
	return a;
}

address scoped(address a, int scope)
{
	a.scope = (signed char)scope;
	return a;
}

address own_address(int fd)
{
	address a = {0};
	socklen_t length = sizeof a;
	int kept = errno;
	getsockname(fd, (struct sockaddr *)&a, &length);
	errno = kept;
	return a;
}

const void *pattern(size_t length)
{
	static unsigned char data[1 << 20];
	if (data[1] == 0) {
		uint32_t x = 1;
		for (size_t i = 0; i < sizeof data; i++) {
			x = x * 1664525 + 1013904223;
			data[i] = (unsigned char)(x >> 24);
		}
		data[1] = 1;
	}
	if (length > sizeof data)
		abort();
	return data;
}
