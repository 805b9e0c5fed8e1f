/* SPDX-License-Identifier: Apache-2.0 */

/* Values as text. */
#include "transcript.h"

char *room(void)
{
	static char rooms[16][ROOM];
	static unsigned next;
	return rooms[next++ % COUNT(rooms)];
}

const char *address_text(const address *a, socklen_t length)
{
	char *text = room();
	size_t n = 0;
	if (a == NULL) {
		snprintf(text, ROOM, "NULL, %u", length);
		return text;
	}
	switch (a->addrtype) {
	case TIPC_SERVICE_RANGE:
		n = (size_t)snprintf(text, ROOM, "{%u,%u,%u}", a->addr.nameseq.type, a->addr.nameseq.lower, a->addr.nameseq.upper);
		break;
	case TIPC_SERVICE_ADDR:
		n = (size_t)snprintf(text, ROOM, "%u:%u", a->addr.name.name.type, a->addr.name.name.instance);
		if (a->addr.name.domain != 0)
			n += (size_t)snprintf(text + n, ROOM - n, " at %s", node_name(a->addr.name.domain));
		break;
	case TIPC_SOCKET_ADDR:
		n = (size_t)snprintf(text, ROOM, "%s", port_name(a->addr.id.ref, a->addr.id.node));
		break;
	default:
		n = (size_t)snprintf(text, ROOM, "addrtype %u", a->addrtype);
	}
	if (a->family != AF_TIPC)
		n += (size_t)snprintf(text + n, ROOM - n, " family %u", a->family);
	if (a->scope != 0)
		n += (size_t)snprintf(text + n, ROOM - n, " scope %d", a->scope);
	if (length != sizeof *a)
		snprintf(text + n, ROOM - n, " length %u", length);
	return text;
}

const char *data_text(const void *data, size_t length)
{
	char *text = room();
	const unsigned char *p = data;
	bool printable = length <= 64;
	uint64_t h = 14695981039346656037ULL; /* FNV-1a */
	for (size_t i = 0; i < length; i++) {
		printable = printable && p[i] >= ' ' && p[i] < 127;
		h = (h ^ p[i]) * 1099511628211ULL;
	}
	if (printable)
		snprintf(text, ROOM, "\"%.*s\"", (int)length, (const char *)data);
	else
		snprintf(text, ROOM, "[%zu bytes %016llx]", length, (unsigned long long)h);
	return text;
}

typedef struct {
	unsigned long value;
	const char *name;
} word;

static const char *words_text(unsigned long value, const word *words, size_t count)
{
	char *text = room();
	size_t n = 0;
	text[0] = 0;
	for (size_t i = 0; i < count; i++) {
		if ((value & words[i].value) != words[i].value)
			continue;
		n += (size_t)snprintf(text + n, ROOM - n, "%s%s", n > 0 ? "|" : "", words[i].name);
		value &= ~words[i].value;
	}
	if (value != 0)
		n += (size_t)snprintf(text + n, ROOM - n, "%s0x%lx", n > 0 ? "|" : "", value);
	if (n == 0)
		snprintf(text, ROOM, "0");
	return text;
}

const char *flags_text(int flags)
{
	static const word words[] = {
		{MSG_OOB, "OOB"}, {MSG_PEEK, "PEEK"}, {MSG_DONTROUTE, "DONTROUTE"}, {MSG_CTRUNC, "CTRUNC"},
		{MSG_TRUNC, "TRUNC"}, {MSG_DONTWAIT, "DONTWAIT"}, {MSG_EOR, "EOR"}, {MSG_WAITALL, "WAITALL"},
		{MSG_CONFIRM, "CONFIRM"}, {MSG_ERRQUEUE, "ERRQUEUE"}, {MSG_NOSIGNAL, "NOSIGNAL"}, {MSG_MORE, "MORE"},
		{MSG_WAITFORONE, "WAITFORONE"}, {MSG_CMSG_CLOEXEC, "CMSG_CLOEXEC"},
	};
	return words_text((unsigned)flags, words, COUNT(words));
}

const char *events_text(unsigned events)
{
	static const word words[] = {
		{POLLIN, "IN"}, {POLLPRI, "PRI"}, {POLLOUT, "OUT"}, {POLLERR, "ERR"}, {POLLHUP, "HUP"}, {POLLNVAL, "NVAL"},
		{POLLRDNORM, "RDNORM"}, {POLLRDBAND, "RDBAND"}, {POLLWRNORM, "WRNORM"}, {POLLWRBAND, "WRBAND"}, {POLLRDHUP, "RDHUP"},
	};
	return words_text(events, words, COUNT(words));
}

const char *type_text(int type)
{
	if (type == SOCK_NONBLOCK)
		return "NONBLOCK";
	if (type == SOCK_CLOEXEC)
		return "CLOEXEC";
	static const char *const names[] = {[SOCK_STREAM] = "STREAM", [SOCK_DGRAM] = "DGRAM", [SOCK_RAW] = "RAW", [SOCK_RDM] = "RDM", [SOCK_SEQPACKET] = "SEQPACKET"};
	char *text = room();
	int kind = type & 0xf, rest = type & ~0xf & ~SOCK_CLOEXEC & ~SOCK_NONBLOCK;
	size_t n;
	if ((size_t)kind < COUNT(names) && names[kind] != NULL)
		n = (size_t)snprintf(text, ROOM, "%s", names[kind]);
	else
		n = (size_t)snprintf(text, ROOM, "type %d", kind);
	if (type & SOCK_CLOEXEC)
		n += (size_t)snprintf(text + n, ROOM - n, "|CLOEXEC");
	if (type & SOCK_NONBLOCK)
		n += (size_t)snprintf(text + n, ROOM - n, "|NONBLOCK");
	if (rest != 0)
		snprintf(text + n, ROOM - n, "|0x%x", (unsigned)rest);
	return text;
}

const char *option_text(int level, int option)
{
	static const struct {
		int level, option;
		const char *name;
	} names[] = {
#define TIPC(o) {SOL_TIPC, TIPC_##o, #o}
#define SO(o) {SOL_SOCKET, SO_##o, "SO_" #o}
		TIPC(IMPORTANCE), TIPC(SRC_DROPPABLE), TIPC(DEST_DROPPABLE), TIPC(CONN_TIMEOUT), TIPC(NODE_RECVQ_DEPTH),
		TIPC(SOCK_RECVQ_DEPTH), TIPC(MCAST_BROADCAST), TIPC(MCAST_REPLICAST), TIPC(GROUP_JOIN), TIPC(GROUP_LEAVE),
		TIPC(SOCK_RECVQ_USED), TIPC(NODELAY),
		SO(TYPE), SO(DOMAIN), SO(PROTOCOL), SO(ERROR), SO(ACCEPTCONN), SO(RCVBUF), SO(SNDBUF), SO(RCVTIMEO), SO(SNDTIMEO),
		SO(RCVLOWAT), SO(SNDLOWAT), SO(REUSEADDR), SO(REUSEPORT), SO(KEEPALIVE), SO(LINGER), SO(BROADCAST), SO(PRIORITY),
		SO(PASSCRED), SO(OOBINLINE), SO(DONTROUTE), SO(TIMESTAMP), SO(PEEK_OFF), SO(DEBUG), SO(NO_CHECK), SO(BSDCOMPAT),
		SO(PEERNAME), SO(PEERSEC), SO(PEERCRED), SO(MARK), SO(BUSY_POLL), SO(ZEROCOPY), SO(INCOMING_CPU), SO(RXQ_OVFL),
#undef TIPC
#undef SO
	};
	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i].level == level && names[i].option == option)
			return names[i].name;
	char *text = room();
	snprintf(text, ROOM, "level %d option %d", level, option);
	return text;
}

const char *identity_text(const char *identity, uint32_t node)
{
	char *text = room(), hex[TIPC_NODEID_LEN] = {0};
	snprintf(hex, sizeof hex, "%x", node);
	if (memcmp(hex, identity, sizeof hex) == 0)
		return "its address in hexadecimal";
	for (int i = 0; i < TIPC_NODEID_LEN; i++)
		snprintf(text + 2 * i, ROOM - 2 * (size_t)i, "%02x", (unsigned char)identity[i]);
	return text;
}
