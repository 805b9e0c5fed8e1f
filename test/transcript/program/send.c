/* SPDX-License-Identifier: Apache-2.0 */

/* Calls that send. */
#include "transcript.h"

static void flags_and(int flags)
{
	if (flags != 0)
		add(", %s", flags_text(flags));
}

long Send(int fd, const char *text, int flags)
{
	begin("send(%s, %s", name(fd), data_text(text, strlen(text)));
	flags_and(flags);
	add(")");
	long r = send(fd, text, strlen(text), flags);
	finish(r);
	return r;
}

long Send_data(int fd, size_t length, int flags)
{
	begin("send(%s, %zu bytes", name(fd), length);
	flags_and(flags);
	add(")");
	long r = send(fd, pattern(length), length, flags);
	finish(r);
	return r;
}

long Write(int fd, const char *text)
{
	begin("write(%s, %s)", name(fd), data_text(text, strlen(text)));
	long r = write(fd, text, strlen(text));
	finish(r);
	return r;
}

long Sendto(int fd, const char *text, int flags, address to)
{
	return Sendto_raw(fd, text, strlen(text), flags, &to, sizeof to);
}

long Sendto_data(int fd, size_t length, int flags, address to)
{
	return Sendto_raw(fd, pattern(length), length, flags, &to, sizeof to);
}

long Sendto_raw(int fd, const void *data, size_t length, int flags, const void *to, socklen_t tolen)
{
	if (length > 64)
		begin("sendto(%s, %zu bytes", name(fd), length);
	else
		begin("sendto(%s, %s", name(fd), data_text(data, length));
	flags_and(flags);
	add(", %s)", address_text(to, tolen));
	long r = sendto(fd, data, length, flags, to, tolen);
	finish(r);
	return r;
}

long Sendmsg(int fd, const char **parts, int flags, const address *to)
{
	struct iovec v[8];
	struct msghdr m = {.msg_iov = v};
	begin("sendmsg(%s,", name(fd));
	for (; parts[m.msg_iovlen] != NULL && m.msg_iovlen < COUNT(v); m.msg_iovlen++) {
		size_t length = strlen(parts[m.msg_iovlen]);
		v[m.msg_iovlen] = (struct iovec){(void *)(uintptr_t)parts[m.msg_iovlen], length};
		add(" %s", data_text(parts[m.msg_iovlen], length));
	}
	flags_and(flags);
	if (to != NULL) {
		m.msg_name = (void *)(uintptr_t)to;
		m.msg_namelen = sizeof *to;
		add(", %s", address_text(to, sizeof *to));
	}
	add(")");
	long r = sendmsg(fd, &m, flags);
	finish(r);
	return r;
}

long Sendmmsg(int fd, const char **texts, int flags, const address *to)
{
	struct iovec v[8];
	struct mmsghdr m[8];
	unsigned n = 0;
	memset(m, 0, sizeof m);
	begin("sendmmsg(%s,", name(fd));
	for (; texts[n] != NULL && n < COUNT(v); n++) {
		v[n] = (struct iovec){(void *)(uintptr_t)texts[n], strlen(texts[n])};
		m[n].msg_hdr.msg_iov = &v[n];
		m[n].msg_hdr.msg_iovlen = 1;
		if (to != NULL) {
			m[n].msg_hdr.msg_name = (void *)(uintptr_t)to;
			m[n].msg_hdr.msg_namelen = sizeof *to;
		}
		add(" %s", data_text(texts[n], v[n].iov_len));
	}
	flags_and(flags);
	if (to != NULL)
		add(", %s", address_text(to, sizeof *to));
	add(")");
	int r = sendmmsg(fd, m, n, flags);
	result(r);
	for (int i = 0; i < r; i++)
		add("%s%u", i == 0 ? " of lengths " : ", ", m[i].msg_len);
	end();
	return r;
}

int Fill(int fd, size_t length, const address *to)
{
	int sent = 0;
	begin("send(%s, %zu bytes, DONTWAIT) again and again", name(fd), length);
	long r;
	while ((r = sendto(fd, pattern(length), length, MSG_DONTWAIT, (const struct sockaddr *)to, to == NULL ? 0 : sizeof *to)) == (long)length && sent < 100000)
		sent++;
	add(": %d times, then", sent);
	finish(r);
	return sent;
}
