/* SPDX-License-Identifier: Apache-2.0 */

/* The sections, and their service types: each has a hundred of its own, for names of an earlier one may still be there. */
#ifndef SECTIONS_H
#define SECTIONS_H

#include "transcript.h"

enum {
	NAME_TYPE = 20000, BIND_TYPE = 20100, OPTION_TYPE = 20200, DATAGRAM_TYPE = 20400, RECEIVE_TYPE = 20500,
	CONNECT_TYPE = 20600, NONBLOCKING_TYPE = 20700, REFUSE_TYPE = 20800, STREAM_TYPE = 20900, SEQPACKET_TYPE = 21000,
	SHUTDOWN_TYPE = 21100, REJECT_TYPE = 21200, POLL_TYPE = 21300, FLOW_TYPE = 21400, MULTICAST_TYPE = 21500,
	GROUP_TYPE = 21600, TOPOLOGY_TYPE = 21700, PROCESS_TYPE = 21800, POINTER_TYPE = 21900, REMOTE_TYPE = 22000,
};

extern const int types[4];    /* STREAM, SEQPACKET, RDM, DGRAM */
extern const int connected[2]; /* STREAM, SEQPACKET */
extern const int datagram[2];  /* RDM, DGRAM */

/* Listener makes a listening socket, and Connected connects a socket of its type to it by its
 * service; *server is the accepted one. */
int Listener(int type, address a);
int Connected(int type, int listener, address a, int *server);

void socket_section(void);
void descriptor_section(void);
void name_section(void);
void bind_section(void);
void option_section(void);
void socket_option_section(void);
void ioctl_section(void);
void datagram_section(void);
void receive_section(void);
void connect_section(void);
void nonblocking_section(void);
void refuse_section(void);
void stream_section(void);
void seqpacket_section(void);
void shutdown_section(void);
void pair_section(void);
void reject_section(void);
void poll_section(void);
void flow_section(void);
void multicast_section(void);
void group_section(void);
void topology_section(void);
void process_section(void);
void pointer_section(void);

#endif
