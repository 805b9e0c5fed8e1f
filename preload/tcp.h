// SPDX-License-Identifier: Apache-2.0
//
// TCP sockets with addresses of the daemon's prefix. A program's socket is the kernel's until it is bound to the prefix,
// connects to it, or listens on any address; a plain socket takes its place then, a UNIX stream whose name has the
// program's address, and the peer's: see name.c. docs/how-to/tcp.md says what a program finds.
#ifndef UTIPC_TCP_H
#define UTIPC_TCP_H

#include "plain.h"

// Kinds in names: what a program sees as addresses of IPv4, and of IPv6.
enum { KIND_TCP = 6, KIND_TCP6 = 7 };

// An endpoint is an address of IPv4 with a port, in the machine's byte order.
struct endpoint {
	uint32_t ip;
	uint16_t port;
};

static inline int tcp_kind(int kind) { return kind == KIND_TCP || kind == KIND_TCP6; }

// tcp_bind, tcp_connect and tcp_listen report whether a call on a socket of the kernel is not the kernel's alone;
// *rc is its result then.
int tcp_bind(int fd, const struct sockaddr *a, socklen_t len, int *rc);
int tcp_connect(int fd, const struct sockaddr *a, socklen_t len, int *rc);
int tcp_listen(int fd, int backlog, int *rc);
// The calls on plain sockets of TCP.
int tcp_connect_again(int fd, const struct sockaddr *a, socklen_t len);
int tcp_listen_again(int fd, int backlog);
int tcp_accept(int fd, struct sockaddr *a, socklen_t *len, int flags);
int tcp_shutdown(int fd, int how);
int tcp_sockname(int fd, struct sockaddr *a, socklen_t *len);
int tcp_peername(int fd, struct sockaddr *a, socklen_t *len);
int tcp_close(int fd);
// tcp_send and tcp_receive are told whether the socket is connected or idle.
ssize_t tcp_send(int fd, enum look is, const struct msghdr *m, int flags);
ssize_t tcp_receive(int fd, enum look is, struct msghdr *m, int flags);
int tcp_setsockopt(int fd, const struct name *own, int level, int name, const void *value, socklen_t len);
int tcp_getsockopt(int fd, const struct name *own, int level, int name, void *value, socklen_t *len);

// give_endpoint copies an address to the caller, as a socket of the kind has it.
int give_endpoint(int kind, const struct name *n, struct sockaddr *a, socklen_t *len);
// tcp_broken is what a write comes to whose connection has ended: a signal, and -1 with EPIPE.
ssize_t tcp_broken(int flags);

// tcp_error returns the error that a socket reports once, or 0.
int tcp_error(int fd);
// keep_options gives a plain socket the options of another socket: of one that it is to take the place of, or of the
// listener that it was accepted from.
void keep_options(int from, int to);
// take_place puts a plain socket in the place of a socket of the kernel: in all descriptors of it, and in all sets of epoll,
// that this process has. It closes plain.
void take_place(int plain, int fd);
// move_registrations takes a descriptor out of all sets of epoll that this process has, and has another put it where it belongs.
void move_registrations(int fd, void (*to)(int ep, int fd, struct epoll_event e));
// registrations returns what an epoll has, to be freed; see ready.c.
struct registration *registrations(int ep, int *count);
// take_descriptor takes the next one out of a listening socket.
int take_descriptor(int fd, int flags);
int set_flags(int fd, int flags);

#endif
