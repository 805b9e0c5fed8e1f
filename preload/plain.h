// SPDX-License-Identifier: Apache-2.0
//
// What the files of the preload library share. The library has no table of sockets: a
// descriptor is a plain socket if the abstract name of its UNIX socket says so, see
// daemon/plain/name.go. docs/reference/attach.md, "Plain sockets", has the requests.
#ifndef UTIPC_PLAIN_H
#define UTIPC_PLAIN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/tipc.h>

#define EXPORT __attribute__((visibility("default")))

enum { MAX_MESSAGE = TIPC_MAX_USER_MSG_SIZE, BARRIER = 56000 };

// Operations of the daemon.
enum {
	OP_SOCKET = 96, OP_BIND, OP_LISTEN, OP_CONNECT, OP_STATE, OP_SHUTDOWN, OP_SETOPTION, OP_GETOPTION, OP_ACCEPT, OP_SEND,
	OP_PAIR, OP_INFO, OP_JOIN, OP_LEAVE, OP_CLOSED,
	OP_NETLINK, OP_KERNEL, OP_TCP, OP_TCP_SOCKET, OP_TCP_AT,
};

// States that OP_STATE reports.
enum { STATE_OPEN, STATE_LISTENING, STATE_CONNECTING, STATE_CONNECTED, STATE_ENDED };

// What OP_STATE is asked for by: a read takes the end of a connection, of a reset only with room for control data.
enum { READ = 1, READ_CONTROL };

// Of OP_CONNECT, in arg0: it does not wait; the first message is also in P, behind the barrier.
enum { DONT_WAIT = 1, FOLLOWS = 2 };

struct record {
	uint16_t op, flags;
	uint32_t error, id, len;
	struct sockaddr_tipc addr, addr2;
	uint32_t arg0, arg1;
	uint64_t wide;
};
_Static_assert(sizeof(struct record) == 64, "a record's header has 64 bytes");

struct option {
	uint32_t name, zero;
	int64_t value;
};

// What the name of a plain socket says.
struct name {
	int kind;
	struct sockaddr_tipc addr;
	uint64_t cookie;
	int named; // service counts
	uint32_t service[2];
};

// What a descriptor is.
enum look {
	FOREIGN,     // none of ours
	CONNECTED,   // to a peer; it may have ended
	MESSAGES,    // connectionless: what comes has a record's header
	UNCONNECTED, // open, listening, connecting, or refused
	NETLINK,     // in the place of a generic netlink socket
	TCP_CONNECTED, // of TCP, see tcp.h, as the next
	TCP_IDLE,
	EMBEDDED, // a connection of the node in the process, see embedded.h
};

// Whether this process may have plain sockets: without, calls go to the kernel at once.
extern int plain_active;
// Whether this thread has a filter of system calls, see sandbox.c: its calls go to the kernel at once.
extern _Thread_local int filtered;
static inline int plain_calls(void) { return plain_active && !filtered; }

// waiting_call is syscall(2) that a thread may be canceled in, as in the C library's own functions.
#define waiting_call(...)                                 \
	__extension__({                                   \
		int cancel_type = begin_waiting();        \
		long returned = syscall(__VA_ARGS__);     \
		end_waiting(cancel_type);                 \
		returned;                                 \
	})

int begin_waiting(void);
void end_waiting(int cancel_type);

// look_at says what a descriptor is; peer is filled if it is CONNECTED and not NULL. It keeps errno.
enum look look_at(int fd, struct name *peer);
// own_name reads the name of a plain socket, and returns 0 if the descriptor is none. It keeps errno.
int own_name(int fd, struct name *own);
// peer_name reads the name of the other end, and returns 0 if it has none. It keeps errno.
int peer_name(int fd, struct name *peer);
// hung_up reports whether the connection has ended, both ways: one may end before the other.
int hung_up(int fd);
// tipc_name reports whether a descriptor is a plain socket of TIPC. It keeps errno.
int tipc_name(int fd);
int nonblocking(int fd);
// readable reports whether the memory at p, of a byte or more, may be read, with EFAULT if not. Of memory that
// may be read and not written it says nothing.
int readable(const void *p, size_t len);
// give_address copies an address to the caller of accept, recvfrom and others. EINVAL: the room is negative;
// EFAULT: there is no memory.
int give_address(const struct sockaddr_tipc *from, struct sockaddr *to, socklen_t *len);

// Messages of a stream, see mark.c. mark_first says how many there were so far of a socket that is new to this
// process; mark_send sends one; mark_peek returns how much of n bytes that were peeked at, and more than one, is the first.
void mark_first(int fd, int sent);
ssize_t mark_send(int fd, const struct msghdr *m, int flags);
ssize_t mark_peek(int fd, struct msghdr *k, ssize_t n);

// What is passed with a request.
struct payload {
	const void *data;
	size_t len;
};

// ask makes a request of the daemon about the descriptor pass, or -1. It returns 0 and the answer in r, or < 0
// with errno, which is the daemon's, or EAFNOSUPPORT if there is none. A request that the daemon has not read
// is made once more. A descriptor that comes with the answer
// is *got; got may be NULL. Data that comes goes to buf.
int ask(const struct record *q, struct payload p, int pass, struct record *r, int *got, struct iovec buf);
// ask_on does so, once, on a connection that there is already.
int ask_on(int c, const struct record *q, struct payload p, int pass, struct record *r, int *got, struct iovec buf);
// close_unread closes a socket in which something waits, which the daemon returns to who sent it.
int close_unread(int fd);
// The calls of connectionless sockets, see message.c.
ssize_t message_send(int fd, const struct msghdr *m, size_t len, int flags);
ssize_t message_receive(int fd, struct msghdr *m, int flags);
// parts returns what was read, with MSG_EOR, of the next message; -1: messages are read whole.
int parts(int fd, int flags);
// receive_part receives from off on of a message whose first bytes, head, are none of the program's.
ssize_t receive_part(int fd, struct msghdr *k, int off, int head, int flags);
// message_count counts the messages that wait, and the memory that a kernel counts for them.
int message_count(int fd, int *bytes);

// Generic netlink, see netlink.c. netlink_used is 0 in a process that has no such sockets.
extern int netlink_used;
// is_netlink reports whether a plain socket is in the place of a netlink socket; takes_netlink, whether it is, or
// may come to be.
int is_netlink(int fd);
int takes_netlink(int fd);
// netlink_kernel returns the kernel's socket of such a descriptor, or -1 if it has none. A call is made on it
// within netlink_done.
int netlink_kernel(int fd);
long netlink_done(int kernel, long rc);
// netlink_send sends on what takes_netlink, and returns 0 if the message is the kernel's.
int netlink_send(int fd, const struct msghdr *m, size_t len, int flags, ssize_t *rc);
ssize_t netlink_receive(int fd, struct msghdr *m, int flags);

// gather returns the data of a message in one piece, of which room is to be freed; NULL with errno: there is no
// memory for it, or none of the program's at a pointer.
const void *gather(const struct msghdr *m, size_t len, void **room);
// bad_address reports, with errno, that an address is none of TIPC.
int bad_address(const struct sockaddr *a, socklen_t len);

// A lane_wait is a call that looks before it sleeps, see lane.c. lane_on is 0 in a process whose calls sleep at once.
struct lane_wait {
	int looks;
	int64_t begun, last, most;
};

extern int lane_on;
// lane_again reports whether to look again at once, after a look; found: no more is wanted.
int lane_again(struct lane_wait *w, int found);

// look_first makes a call that does not wait, and again while it returns 0 and looking pays, if others may be waited for. It
// returns what the last one returned.
#define look_first(waits, ...)                                        \
	__extension__({                                               \
		struct lane_wait look_wait = { 0 };                   \
		long look_found = 0;                                  \
		if (lane_on && plain_calls() && (waits))              \
			do                                            \
				look_found = syscall(__VA_ARGS__);    \
			while (lane_again(&look_wait, look_found != 0)); \
		look_found;                                           \
	})

// send_limit is SO_SNDTIMEO in nanoseconds, 0: none.
uint64_t send_limit(int fd);
// raise_barrier writes bytes that the daemon does not read yet, so that the descriptor is not writable.
uint32_t raise_barrier(int fd);

// What is written to a caller's control buffer.
struct control {
	struct msghdr *m;
	size_t used;
};

void put_control(struct control *c, int type, const void *data, size_t len);

// A registration is what an epoll has of a descriptor.
struct registration {
	int fd;
	uint32_t events;
	uint64_t data;
};

// The sockets that were shut down without a connection, see shut.c. shut_used is 0 in a process that has none.
extern int shut_used;
void shut_unconnected(int fd);
// shut_polled counts them in p, and shut_report adds what they report; it returns how many are ready.
int shut_polled(struct pollfd *p, nfds_t n);
int shut_report(struct pollfd *p, nfds_t n, int ready);
// shut_selected returns those of a set, which is freed by the caller, or NULL. shut_readable adds them to the
// set, and returns how many it had not.
unsigned long *shut_selected(int n, const fd_set *r);
int shut_readable(int n, fd_set *r, const unsigned long *shut);
// shut_registered counts those that an epoll has, and shut_events adds what they report to n events; it returns
// how many there are.
int shut_registered(const struct registration *all, int count);
int shut_events(const struct registration *all, int count, struct epoll_event *e, int n, int most);

// tcp_variable is what the environment says of TCP, or said when the program was started, or NULL.
const char *tcp_variable(void);
// simple asks without data.
int simple(struct record q, int fd, struct record *r);

#endif
