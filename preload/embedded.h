// SPDX-License-Identifier: Apache-2.0
//
// A node in the process, for TCP. With UTIPC_NODE=embedded:... in the environment a connection to a program that has
// a node of its own as well goes from node to node: the program's thread drives its node in the calls here, and no
// daemon is on the way. All other connections, ports and addresses are the daemon's as ever.
//
// There is a table of descriptors, unlike for plain sockets, as the data is not in the kernel. A descriptor stands for a
// UNIX socket that has nothing to read: what a program does with it that is not caught here fails.
//
//	embedded.c        libutipc, the table
//	embedded_make.c   connect, listen, accept
//	embedded_data.c   send and receive
//	embedded_wait.c   poll and select
//	embedded_set.c    epoll
//	embedded_fd.c     dup, close, and what is refused
#ifndef UTIPC_PRELOAD_EMBEDDED_H
#define UTIPC_PRELOAD_EMBEDDED_H

#include "tcp.h"

#include "../capi/embedded.h"

// The functions of libutipc, once there is a node.
struct library {
	int (*open)(const char *text, uint32_t *node);
	int (*finish)(int ms);
	int (*listen)(struct utipc_embedded_at *at, int backlog);
	int (*accept)(int listener, struct utipc_embedded_at *from);
	int (*connect)(const struct utipc_embedded_at *from, const struct utipc_embedded_at *to);
	int (*poll)(const int32_t *handles, uint16_t *ready, int n, int turn);
	int (*arm)(void);
	int (*disarm)(int fd);
	ssize_t (*send)(int handle, const struct iovec *v, int n);
	ssize_t (*recv)(int handle, const struct iovec *v, int n, int peek);
	int (*error)(int handle);
	int (*shutdown)(int handle, int how);
	int (*close)(int handle, int abort);
	int (*counters)(struct utipc_embedded_counters *c);
};

extern struct library embedded_library;

// An embedded is a socket of the node, with the descriptors that the program has of it.
struct embedded {
	int32_t handle;
	int refs;      // descriptors
	int kind;      // KIND_TCP, KIND_TCP6
	int listens;   // its connections may come by the daemon as well, by the descriptor
	int connected; // it has been
	struct endpoint local, peer;
};

extern int embedded_used; // 0 in a process that has no such sockets

enum { EMBEDDED_MOST = 1 << 16 }; // descriptors

extern struct embedded *embedded_table[EMBEDDED_MOST];

// embedded_any returns the socket of a descriptor, or NULL.
static inline struct embedded *embedded_any(int fd)
{
	return embedded_used && fd >= 0 && fd < EMBEDDED_MOST ? embedded_table[fd] : NULL;
}

// embedded_of returns it if it is none that listens.
static inline struct embedded *embedded_of(int fd)
{
	struct embedded *x = embedded_any(fd);
	return x != NULL && !x->listens ? x : NULL;
}

// embedded_node returns 1 if the process has a node, which it opens; 0 if it is to have none; -1 with errno.
int embedded_node(void);
// embedded_address is the node's address.
uint32_t embedded_address(void);
// embedded_ready says what n handles are ready for; of a forked child, all fail.
void embedded_ready(const int32_t *handles, uint16_t *ready, int n, int turn);
// embedded_put makes fd a descriptor of a socket. It returns 0, or -1 with errno.
int embedded_put(int fd, struct embedded *x);
// embedded_borrowed reports whether this is a child of vfork: it has descriptors of its own, and the table is its parent's.
int embedded_borrowed(void);
// embedded_take takes a descriptor out, and returns the socket if it was the last.
struct embedded *embedded_take(int fd);

// embedded_connect connects a plain socket of an address by the node, with its result in rc, and returns 0 if
// that is not for the node to do.
int embedded_connect(int fd, struct endpoint own, struct endpoint to, int *rc);
int embedded_connect_again(int fd, const struct sockaddr *a, socklen_t len);
// embedded_listen has the node listen for a plain socket that listens.
int embedded_listen(int fd, const struct name *own, struct endpoint at, int backlog);
// embedded_accept returns a descriptor as take_descriptor does, of the node or of the daemon.
int embedded_accept(int fd);

ssize_t embedded_send(int fd, struct embedded *x, const struct msghdr *m, int flags);
ssize_t embedded_receive(int fd, struct embedded *x, struct msghdr *m, int flags);

// embedded_wait waits until a socket has one of events, for what an option of time says, 0: without limit. It returns 0, or -1 with
// errno, EAGAIN when the time is over.
int embedded_wait(int fd, short events, int option);
// embedded_poll and embedded_select do poll and select, with their result in rc, and return 0 if none of the descriptors is
// of the node.
int embedded_poll(struct pollfd *p, nfds_t n, const struct timespec *timeout, const sigset_t *mask, int *rc);
int embedded_select(int n, fd_set *r, fd_set *w, fd_set *x, struct timespec *timeout, const sigset_t *mask, int *rc);

// A wait_limit is a time to wait until.
struct wait_limit {
	int none, at_once; // without limit; it has none to begin with
	int64_t until;     // in nanoseconds
	int64_t spin;      // until when it spins
};

struct wait_limit limit_of(const struct timespec *timeout);
// wait_step waits for p, of which one place is free behind n, and for the node. It returns what ppoll does, or -2: it is time to
// look again.
int wait_step(struct wait_limit *w, struct pollfd *p, nfds_t n, const sigset_t *mask, int (*ready)(void *of), void *of);

int embedded_epoll(int ep, struct epoll_event *e, int most, const struct timespec *timeout, const sigset_t *mask, int *rc);
// plain_epoll is epoll_pwait of the kernel's sets.
int plain_epoll(int ep, struct epoll_event *e, int most, int timeout, const sigset_t *mask);
// embedded_registered takes what an epoll of the kernel has of a descriptor over.
void embedded_registered(int ep, int fd, struct epoll_event e);
// embedded_forget takes a descriptor, or an epoll, out of all sets.
void embedded_forget(int fd);
// embedded_tried notes that the program has tried to read, or to write: what comes from now on is news.
void embedded_tried(struct embedded *x, uint32_t events);

// embedded_close ends what a descriptor of the node's stands for, if it is the last one. The descriptor stays.
void embedded_close(int fd);
int embedded_shutdown(struct embedded *x, int how);
int embedded_name(struct embedded *x, int peer, struct sockaddr *a, socklen_t *len);
int embedded_getsockopt(int fd, struct embedded *x, int level, int name, void *value, socklen_t *len);
int embedded_setsockopt(int fd, struct embedded *x, int level, int name, const void *value, socklen_t len);
// passes_embedded reports whether a message passes a descriptor of the node's to another process.
int passes_embedded(const struct msghdr *m);

#endif
