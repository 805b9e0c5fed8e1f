/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libutipc: nodes and sockets of TIPC, the cluster protocol, without the kernel's module.
 *
 *   utipc_open ──► node ──► utipc_socket ─────► messages to and from names, SOCK_RDM and SOCK_DGRAM
 *                   ├─────► utipc_listen ─────► utipc_accept ──► connection, SOCK_STREAM and SOCK_SEQPACKET
 *                   ├─────► utipc_connect ────► connection, or a socket with a default destination
 *                   ├─────► utipc_join ───────► messages among the members of a group
 *                   └─────► utipc_subscribe ──► names that come and go: utipc_next
 *
 * Nodes, sockets and subscriptions are handles: positive ints, which are no file descriptors.
 * utipc_close closes each of them, and a handle is not used again after that. Every function may
 * be called by any thread.
 *
 * A function fails with a negative errno, as -EAGAIN; utipc_last_error has the sentence.
 *
 * A timeout is in milliseconds: 0 does not wait, and fails with -EAGAIN where it would have to;
 * UTIPC_FOREVER, or any other negative number, waits without end. One that is over is -ETIMEDOUT.
 *
 * After fork(2) the child cannot use the library: all that enters it fails with -EOWNERDEAD.
 *
 * The manual is docs/reference/c-api.md, and utipc(3).
 */
#ifndef UTIPC_H
#define UTIPC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h> /* SOCK_RDM, SOCK_DGRAM, SOCK_STREAM, SOCK_SEQPACKET */
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UTIPC_VERSION "0.1.0" /* of this header; utipc_version() is that of the library */
#define UTIPC_FOREVER (-1)   /* a timeout: wait without end */
#define UTIPC_MAX_MESSAGE 66000 /* bytes of the longest message; a stream takes any number */

/* Kinds of addresses: utipc_addr.kind. */
enum {
	UTIPC_NONE = 0,    /* no address; all other fields are 0 */
	UTIPC_SERVICE = 1, /* one socket that has bound {type, lower}; node: looked up there alone, 0: anywhere */
	UTIPC_RANGE = 2,   /* every socket that has bound a part of {type, lower to upper}; as a name, all of it */
	UTIPC_SOCKET = 3   /* the socket {port, node} */
};

/* An address. Fields that its kind does not name are 0. */
typedef struct utipc_addr {
	uint32_t kind;
	uint32_t node;  /* a node's address, as 0x1001002 */
	uint32_t port;  /* the number of a socket on its node */
	uint32_t type;  /* of a service */
	uint32_t lower; /* the instance of a service, the first of a range */
	uint32_t upper; /* the last of a range */
} utipc_addr;

static inline utipc_addr utipc_service(uint32_t type, uint32_t instance)
{
	utipc_addr a = {UTIPC_SERVICE, 0, 0, type, instance, 0};
	return a;
}

static inline utipc_addr utipc_range(uint32_t type, uint32_t lower, uint32_t upper)
{
	utipc_addr a = {UTIPC_RANGE, 0, 0, type, lower, upper};
	return a;
}

/* Flags of utipc_options. */
enum {
	UTIPC_RETURNABLE = 1,   /* messages that cannot be delivered come back, see utipc_info.error */
	UTIPC_ACCEPT_AHEAD = 2, /* of a listener: connections are made before utipc_accept takes them */
	UTIPC_NO_DELAY = 4,     /* of a stream that connects: short writes go out one by one */
	UTIPC_SYNC_ERRORS = 8,  /* of an attached node: a send waits for the daemon's answer, and returns it */
	UTIPC_LOOPBACK = 16,    /* of a group: what it sends to several members it receives as well */
	UTIPC_EVENTS = 32       /* of a group: members that join and leave are received, see utipc_info.kind */
};

enum { UTIPC_LOW = 0, UTIPC_MEDIUM = 1, UTIPC_HIGH = 2, UTIPC_CRITICAL = 3 };      /* importance */
enum { UTIPC_SCOPE_CLUSTER = 2, UTIPC_SCOPE_NODE = 3 };                                     /* scope of a name */
enum { UTIPC_AUTO = 0, UTIPC_BROADCAST = 1, UTIPC_REPLICAST = 2 };                 /* method of multicast */
enum { UTIPC_STRICT = 0, UTIPC_LAG = 1, UTIPC_DROP_OLDEST = 2 };                   /* group: members that do not read */

/* Options of a socket. NULL, or 0 in a field, is the default. */
typedef struct utipc_options {
	uint32_t flags;
	uint32_t importance;    /* of what is sent */
	uint32_t scope;         /* of the names it is bound to; 0: UTIPC_SCOPE_CLUSTER */
	uint32_t multicast;
	uint32_t policy;        /* of a group */
	uint32_t policy_limit;  /* of a group: messages that may wait for a member that does not read, up to 4096 */
	uint32_t receive_limit; /* bytes that may wait to be received; 0: 2 MiB */
	uint32_t backlog;       /* connections that may wait to be accepted; 0: 4096, with UTIPC_ACCEPT_AHEAD 128 */
	int32_t name_wait;      /* ms for which a send waits for a name that nobody has; 0: as the node, negative: not at all */
	uint32_t reserved[7];   /* must be 0 */
} utipc_options;

/* What was received: utipc_info.kind. All but UTIPC_DATA are events of a group, without data. */
enum {
	UTIPC_DATA = 0,
	UTIPC_MEMBER_JOINED = 1,
	UTIPC_MEMBER_LEFT = 2,
	UTIPC_MEMBER_EVICTED = 3, /* by UTIPC_LAG: this socket sends to it no more */
	UTIPC_MEMBER_DROPPING = 4 /* by UTIPC_DROP_OLDEST: messages for it are dropped */
};

/* Flags of utipc_info. */
enum {
	UTIPC_TRUNCATED = 1, /* the message was longer than the space given; the rest is lost */
	UTIPC_PRIVATE = 2,   /* of a group: to this socket alone */
	UTIPC_EVICTS = 4     /* of UTIPC_MEMBER_LEFT: that member has evicted this socket */
};

/* What is known of what was received. */
typedef struct utipc_info {
	utipc_addr from;     /* UTIPC_SOCKET: the sender, in an event the member; of a message that came back, its destination */
	utipc_addr to;       /* UTIPC_RANGE: the name that it was sent to; UTIPC_NONE: to the socket itself */
	utipc_addr member;   /* of a group, UTIPC_SERVICE: the group, and the sender's instance */
	uint32_t kind;
	uint32_t flags;
	uint32_t error;      /* not 0: an own message that came back, for this reason: 1 no name, 2 no port, 3 no node, 4 overload, 5 closed */
	uint32_t importance;
	uint32_t behind;     /* of UTIPC_MEMBER_EVICTED and _DROPPING: messages that waited for the member */
	uint32_t reserved[3];
} utipc_info;

/* What a subscription tells: utipc_event.kind. */
enum { UTIPC_PUBLISHED = 1, UTIPC_WITHDRAWN = 2, UTIPC_COMPLETE = 3 };

/* Flags of utipc_subscribe. */
enum {
	UTIPC_SUB_RANGES = 1,  /* the first and the last binding to each range, not those between */
	UTIPC_SUB_CHANGES = 2, /* not what is bound already */
	UTIPC_SUB_COMPLETE = 4 /* a UTIPC_COMPLETE once all that was bound already is told */
};

/* An event of a subscription. */
typedef struct utipc_event {
	utipc_addr range;  /* UTIPC_RANGE: what the socket has bound */
	utipc_addr socket; /* UTIPC_SOCKET */
	uint32_t kind;
	uint32_t scope;    /* of the binding */
	uint32_t key;      /* tells bindings of a socket to one range apart */
	uint32_t reserved;
} utipc_event;

/* The library. These three work in a forked child too. */
const char *utipc_version(void);          /* of the library, "MAJOR.MINOR.PATCH" */
const char *utipc_strerror(int error);    /* a sentence for an errno of either sign */
const char *utipc_last_error(void);       /* why the last call that failed in this thread did; valid until the next */

/* The text of an address, "18888:17", "18888:0-99" or "<1001002:134550589>". utipc_format returns
 * its length without the 0 at its end; of a longer one than size has room for it writes the beginning. */
int utipc_parse(const char *text, utipc_addr *address);
int utipc_format(const utipc_addr *address, char *text, size_t size);

/* Nodes. text is "udp:IP", "eth:IFACE", "attach:", "memory:NAME" with options behind a "?";
 * NULL or "": that of $UTIPC_NODE, without that "attach:". */
int utipc_open(const char *text, int timeout);
int utipc_node_address(int node, uint32_t *address);
int utipc_wait_nodes(int node, int count, int timeout);     /* until count nodes, itself included, are in contact */
int utipc_wait_published(int node, int timeout);            /* until the other nodes know this node's names */
int utipc_wait_name(int node, const utipc_addr *name, int count, int timeout); /* until count sockets have it */
ssize_t utipc_resolve(int node, const utipc_addr *name, utipc_addr *sockets, size_t room, int timeout);

/* Closes a handle of any kind; of a node, its sockets and subscriptions too. timeout is how long a
 * node, or a connection, waits until what was sent has arrived; the handle is closed in any case. */
int utipc_close(int handle, int timeout);

/* Sockets. type is SOCK_RDM or SOCK_DGRAM (utipc_socket), SOCK_STREAM or SOCK_SEQPACKET
 * (utipc_listen), any of them (utipc_connect). name may be NULL. */
int utipc_socket(int node, int type, const utipc_addr *name, const utipc_options *options);
int utipc_listen(int node, int type, const utipc_addr *name, const utipc_options *options);
int utipc_accept(int listener, int timeout);
int utipc_connect(int node, int type, const utipc_addr *to, const utipc_options *options, int timeout);
int utipc_join(int node, const utipc_addr *group, const utipc_options *options);
int utipc_wait_members(int group, int count, int timeout);
int utipc_bind(int socket, const utipc_addr *name, int scope);   /* one more name; scope 0: UTIPC_SCOPE_CLUSTER */
int utipc_unbind(int socket, const utipc_addr *name, int scope);
int utipc_local(int socket, utipc_addr *address);
int utipc_remote(int socket, utipc_addr *address);
int utipc_shutdown(int connection); /* ends what this end sends; it may still receive */

/* Messages. to is NULL for a connection, a default destination, and all members of a group.
 * utipc_recv returns 0 when the peer of a connection has ended, and for events of a group. */
ssize_t utipc_send(int socket, const void *data, size_t length, const utipc_addr *to, int timeout);
ssize_t utipc_recv(int socket, void *data, size_t size, utipc_info *info, int timeout);
ssize_t utipc_call(int node, const utipc_addr *to, const void *request, size_t length,
		   void *answer, size_t size, utipc_addr *from, int timeout);

/* Subscriptions. */
int utipc_subscribe(int node, const utipc_addr *range, uint32_t flags);
int utipc_next(int subscription, utipc_event *event, int timeout);

/* A file descriptor that poll(2) reports as readable exactly while utipc_recv, utipc_accept or
 * utipc_next of the handle would not wait. It is the handle's: not to be read, written or closed. */
int utipc_fd(int handle);

#ifdef __cplusplus
}
#endif

#endif
