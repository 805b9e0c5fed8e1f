/* SPDX-License-Identifier: Apache-2.0 */

/*
 * transcript makes AF_TIPC calls and prints one line for each: the call, its result or errno by
 * name, and what came. Two runs are compared line by line, so a line has nothing that differs
 * from run to run: sockets are named s1, s2, ... in the order in which they were made, ports
 * port1, port2, ... and nodes own, node1, ... by first appearance, and no line has a time in it.
 *
 * A function with the name of a system call and a capital letter makes that call and prints it.
 */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/tipc.h>

typedef struct sockaddr_tipc address;

enum { LONGEST = TIPC_MAX_USER_MSG_SIZE };

/*
 * LIMIT is how long a wait lasts at most, in milliseconds, and SECTION_LIMIT a section, in seconds;
 * TRANSCRIPT_LIMIT in the environment, in seconds, is instead of both. Nothing that ends well waits so long.
 */
enum { LIMIT = 60000, SECTION_LIMIT = 240 };

/* FOREVER is a subscription's timeout, as TIPC_WAIT_FOREVER without a sign. */
#define FOREVER 0xffffffffU

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* line.c: the lines. */
void begin(const char *format, ...) __attribute__((format(printf, 1, 2))); /* starts a line with a call */
void add(const char *format, ...) __attribute__((format(printf, 1, 2)));   /* adds to the line */
void result(long r);                                                      /* adds a result or errno */
void end(void);                                                           /* writes the line */
void finish(long r);                                                      /* result, then end */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));  /* a line of its own */
void catch_signals(void);
void limit_time(void);                /* of this process */
int limit(void);                      /* of a wait, in milliseconds */
extern const char *speaker;           /* goes before each line: whose it is */
extern int turn_from, turn_to;        /* descriptors of the process that grants turns, or -1 */

/* symbol.c: names of what differs from run to run. Processes share them. */
void share_symbols(void);             /* makes the memory they are in */
void forget_symbols(void);            /* begins anew */
void name_socket(int fd);             /* gives the next name */
const char *name(int fd);
const char *port_name(uint32_t port, uint32_t node);
const char *node_name(uint32_t node);
uint32_t own_node(void);

/* text.c: values as text. The result lives until sixteen others were made. */
const char *address_text(const address *a, socklen_t length);
const char *data_text(const void *data, size_t length);
const char *flags_text(int flags);    /* MSG_... */
const char *events_text(unsigned events); /* POLL... */
const char *type_text(int type);      /* SOCK_... */
const char *option_text(int level, int option);
const char *identity_text(const char *identity, uint32_t node); /* of a node */
char *room(void);                     /* 512 bytes for a text */
enum { ROOM = 512 };

/* address.c: addresses, and data to send. */
address range(uint32_t type, uint32_t lower, uint32_t upper);
address service(uint32_t type, uint32_t instance);
address service_at(uint32_t type, uint32_t instance, uint32_t node);
address port_at(uint32_t port, uint32_t node);
address scoped(address a, int scope);
address own_address(int fd);          /* a socket's, without a line */
const void *pattern(size_t length);   /* up to 1 MiB, the same in each run */

/* calls.c */
int Socket(int type);
int Socket_of(int family, int type, int protocol);
int Socketpair(int type, int *second);
int Bind(int fd, address a);
int Bind_raw(int fd, const void *a, socklen_t length);
int Connect(int fd, address a);
int Connect_raw(int fd, const void *a, socklen_t length);
int Listen(int fd, int backlog);
int Accept(int fd);
int Accept4(int fd, int flags, socklen_t length);
int Getsockname(int fd);
int Getpeername(int fd);
int Shutdown(int fd, int how);
int Close(int fd);
int Dup(int fd);
int Nonblock(int fd, bool on);
int Fcntl(int fd, int command, const char *what);

/* options.c */
int Set(int fd, int level, int option, uint32_t value);
int Set_raw(int fd, int level, int option, const void *value, socklen_t length);
int Get(int fd, int level, int option);
int Get_raw(int fd, int level, int option, socklen_t length);
int Set_time(int fd, int option, long milliseconds);

/* send.c */
long Send(int fd, const char *text, int flags);
long Send_data(int fd, size_t length, int flags); /* of pattern */
long Sendto(int fd, const char *text, int flags, address to);
long Sendto_data(int fd, size_t length, int flags, address to);
long Sendto_raw(int fd, const void *data, size_t length, int flags, const void *to, socklen_t tolen);
long Sendmsg(int fd, const char **parts, int flags, const address *to);
long Sendmmsg(int fd, const char **texts, int flags, const address *to);
long Write(int fd, const char *text);
int Fill(int fd, size_t length, const address *to); /* sends until EAGAIN, and returns how often */

/* receive.c */
long Recv(int fd, size_t length, int flags);
long Recvfrom(int fd, size_t length, int flags);
long Recvfrom_room(int fd, size_t length, int flags, socklen_t room, address *from);
long Recvmsg(int fd, size_t length, int flags, size_t control);
long Recvmmsg(int fd, unsigned count, size_t length, int flags);
long Read(int fd, size_t length);
address Source(int fd, size_t length); /* Recvfrom, and returns the source */
void Drain(int fd);                    /* reads all there is without waiting, one line a message */

/* ready.c */
void Ready(int fd);                    /* what poll, select and epoll say now */
void Wait(int fd, unsigned events);    /* waits for events with poll */
void Await_end(int fd);                /* waits for POLLHUP, which may come soon after close(2) at the other end, without a line */

/* group.c */
int Join(int fd, uint32_t type, uint32_t instance, uint32_t scope, uint32_t flags);
int Leave(int fd);
void Members(int fd, int count);       /* waits for so many events of members, and prints them in one line, sorted */

/* topology.c */
void patient(int fd);                  /* gives a connect as long as any wait, without a line */
int Topology(int type);                /* a socket connected to the topology server */
long Subscribe(int fd, uint32_t type, uint32_t lower, uint32_t upper, uint32_t timeout, uint32_t filter, const char *handle, bool swapped);
void Event(int fd, bool swapped);      /* waits for an event and prints it */
void Await_name(int fd, uint32_t type, uint32_t instance); /* waits until a name is bound, without a line */

/* actor.c: other processes, whose lines come when the first process lets them. */
typedef struct {
	pid_t pid;
	int to, from;
	const char *called;
} actor;
actor Start(const char *called, void (*script)(void *), void *argument);
void Let(actor *a, int turns); /* lets it print so many lines or pass so many Turns, and waits for that */
void Turn(void);               /* in the other process: waits for a turn */
void Finish(actor *a);         /* waits for its end */

/* Sections, each in the file of its name. */
typedef struct {
	const char *name;
	void (*play)(void);
} section;
extern const section sections[];
extern const size_t section_count;

/* remote.c */
void remote_client(void);
void remote_server(void);
/* process.c: what transcript does when it is the program of an exec. */
int executed(const char *fd, const char *what);

#endif
