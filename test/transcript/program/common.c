/* SPDX-License-Identifier: Apache-2.0 */

/* What several sections begin with. */
#include "sections.h"

const int types[4] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_RDM, SOCK_DGRAM};
const int connected[2] = {SOCK_STREAM, SOCK_SEQPACKET};
const int datagram[2] = {SOCK_RDM, SOCK_DGRAM};

int Listener(int type, address a)
{
	int fd = Socket(type);
	Bind(fd, a);
	Listen(fd, 5);
	return fd;
}

/* The client does not block: its connect is completed when the listener accepts. */
int Connected(int type, int listener, address a, int *server)
{
	int fd = Socket(type | SOCK_NONBLOCK);
	Connect(fd, a);
	Wait(listener, POLLIN);
	*server = Accept(listener);
	Wait(fd, POLLOUT);
	Nonblock(fd, false);
	return fd;
}

void patient(int fd)
{
	uint32_t milliseconds = 60000;
	setsockopt(fd, SOL_TIPC, TIPC_CONN_TIMEOUT, &milliseconds, sizeof milliseconds);
}
