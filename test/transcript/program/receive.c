/* SPDX-License-Identifier: Apache-2.0 */

/* Calls that receive. */
#include "transcript.h"

static unsigned char buffer[1 << 20];

static void call(const char *what, int fd, size_t length, int flags)
{
	if (length > sizeof buffer)
		abort();
	begin("%s(%s, %zu", what, name(fd), length);
	if (flags != 0)
		add(", %s", flags_text(flags));
}

/* came adds the result of a call and the data that it returned. */
static void came(long r, size_t length)
{
	result(r);
	if (r > 0)
		add(" %s", data_text(buffer, (size_t)r < length ? (size_t)r : length));
}

long Recv(int fd, size_t length, int flags)
{
	call("recv", fd, length, flags);
	add(")");
	long r = recv(fd, buffer, length, flags);
	came(r, length);
	end();
	return r;
}

long Read(int fd, size_t length)
{
	call("read", fd, length, 0);
	add(")");
	long r = read(fd, buffer, length);
	came(r, length);
	end();
	return r;
}

/* A source is one address, or two where the sender is a member of a group. */
typedef address source[2];

static void add_source(const source from, socklen_t length)
{
	if (length == 0)
		add(" from nobody");
	else if (length == sizeof(source))
		add(" from %s as %s", address_text(&from[0], sizeof(address)), address_text(&from[1], sizeof(address)));
	else
		add(" from %s", address_text(&from[0], length));
}

long Recvfrom_room(int fd, size_t length, int flags, socklen_t room, address *first)
{
	source from;
	socklen_t got = room;
	memset(from, 0, sizeof from);
	call("recvfrom", fd, length, flags);
	if (room != sizeof from)
		add(", room for the address %u", room);
	add(")");
	long r = recvfrom(fd, buffer, length, flags, (struct sockaddr *)from, &got);
	came(r, length);
	if (r >= 0 && room < sizeof(address))
		add(" length of the address %u", got);
	else if (r >= 0)
		add_source(from, got);
	end();
	if (first != NULL)
		*first = from[0];
	return r;
}

long Recvfrom(int fd, size_t length, int flags) { return Recvfrom_room(fd, length, flags, sizeof(source), NULL); }

address Source(int fd, size_t length)
{
	address from = {0};
	Recvfrom_room(fd, length, 0, sizeof(source), &from);
	return from;
}

static void add_control(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		size_t length = c->cmsg_len - CMSG_LEN(0);
		uint32_t v[3] = {0};
		memcpy(v, CMSG_DATA(c), length < sizeof v ? length : sizeof v);
		if (c->cmsg_level == SOL_TIPC && c->cmsg_type == TIPC_ERRINFO && length == 8)
			add(" errinfo %u length %u", v[0], v[1]);
		else if (c->cmsg_level == SOL_TIPC && c->cmsg_type == TIPC_RETDATA)
			add(" retdata %s", data_text(CMSG_DATA(c), length));
		else if (c->cmsg_level == SOL_TIPC && c->cmsg_type == TIPC_DESTNAME && length == 12)
			add(" destname {%u,%u,%u}", v[0], v[1], v[2]);
		else
			add(" control level %d type %d length %zu", c->cmsg_level, c->cmsg_type, length);
	}
}

long Recvmsg(int fd, size_t length, int flags, size_t room)
{
	static _Alignas(struct cmsghdr) unsigned char control[4096];
	source from;
	struct iovec v = {buffer, length};
	struct msghdr m = {.msg_name = from, .msg_namelen = sizeof from, .msg_iov = &v, .msg_iovlen = 1};
	memset(from, 0, sizeof from);
	memset(control, 0xee, sizeof control);
	if (room > 0) {
		m.msg_control = control;
		m.msg_controllen = room;
	}
	call("recvmsg", fd, length, flags);
	if (room != sizeof control)
		add(", control %zu", room);
	add(")");
	long r = recvmsg(fd, &m, flags);
	came(r, length);
	if (r >= 0) {
		if (m.msg_flags != 0)
			add(" flags %s", flags_text(m.msg_flags));
		add_source(from, m.msg_namelen);
		add_control(&m);
	}
	end();
	return r;
}

long Recvmmsg(int fd, unsigned count, size_t length, int flags)
{
	struct mmsghdr m[8];
	struct iovec v[8];
	source from[8];
	memset(m, 0, sizeof m);
	memset(from, 0, sizeof from);
	if (count > COUNT(m))
		abort();
	for (unsigned i = 0; i < count; i++) {
		v[i] = (struct iovec){buffer + i * length, length};
		m[i].msg_hdr = (struct msghdr){.msg_name = from[i], .msg_namelen = sizeof from[i], .msg_iov = &v[i], .msg_iovlen = 1};
	}
	begin("recvmmsg(%s, %u of %zu", name(fd), count, length);
	if (flags != 0)
		add(", %s", flags_text(flags));
	add(")");
	int r = recvmmsg(fd, m, count, flags, NULL);
	result(r);
	for (int i = 0; i < r; i++) {
		size_t n = m[i].msg_len < length ? m[i].msg_len : length;
		add("; %u %s", m[i].msg_len, data_text(buffer + (size_t)i * length, n));
		if (m[i].msg_hdr.msg_flags != 0)
			add(" flags %s", flags_text(m[i].msg_hdr.msg_flags));
		add_source(from[i], m[i].msg_hdr.msg_namelen);
	}
	end();
	return r;
}

void Drain(int fd)
{
	for (int i = 0; i < 64; i++)
		if (Recvmsg(fd, LONGEST, MSG_DONTWAIT, 4096) < 0)
			return;
}
