/* SPDX-License-Identifier: Apache-2.0 */

/* What the two parts across nodes share, and their scenes. Each scene has a client's and a server's part. */
#ifndef REMOTE_H
#define REMOTE_H

#include "sections.h"

enum {
	ECHO = REMOTE_TYPE + 1, CONNECTION, MANY, GROUP, WATCHED,
	SIZES, FORMS, FULL, ORDER, ENDS, REQUESTS, MEMBERS, MEMBERS_READY, LOST, LOST_GROUP,
	CUT = REMOTE_TYPE + 99, /* both parts bind it: 1 the server, 2 the client, when contact may be lost */
};

extern uint32_t other_node;

void meet(void);                                     /* waits for the other part: what it has done before is done */
void tell(uint32_t value);                           /* passes a number to the other part's hear */
uint32_t hear(void);
void until_bound(uint32_t type, uint32_t instance);  /* names are there when a later one is: bindings arrive in order */

void sizes_server(int type);                         /* remote_datagram.c */
void sizes_client(int type);
void forms_server(int type);
void forms_client(int type);
void overload_server(int type);
void overload_client(int type);

void data_server(int type);                          /* remote_data.c: what a connection carries */
void data_client(int type);
void full_server(int type);
void full_client(int type);

void ends_server(int type);                          /* remote_end.c */
void ends_client(int type);
void after_end(int fd);                              /* prints what a socket is that its peer has ended, and closes it */

void requests_server(int type);                      /* remote_request.c: how connections begin, or do not */
void requests_client(int type);

void members_server(void);                           /* remote_member.c */
void members_client(void);

void lost_server(void);                              /* remote_lost.c: contact with the other node is lost */
void lost_client(void);

#endif
