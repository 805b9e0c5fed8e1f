/* SPDX-License-Identifier: Apache-2.0 */

/* Socket options. */
#include "transcript.h"

#include <sys/time.h>

int Set(int fd, int level, int option, uint32_t value)
{
	return Set_raw(fd, level, option, &value, sizeof value);
}

int Set_raw(int fd, int level, int option, const void *value, socklen_t length)
{
	begin("setsockopt(%s, %s, ", name(fd), option_text(level, option));
	if (value == NULL)
		add("NULL, %u)", length);
	else if (length == sizeof(uint32_t))
		add("%d)", *(const int *)value);
	else
		add("%u bytes)", length);
	int r = setsockopt(fd, level, option, value, length);
	finish(r);
	return r;
}

int Set_time(int fd, int option, long milliseconds)
{
	struct timeval t = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
	begin("setsockopt(%s, %s, %ld ms)", name(fd), option_text(SOL_SOCKET, option), milliseconds);
	int r = setsockopt(fd, SOL_SOCKET, option, &t, sizeof t);
	finish(r);
	return r;
}

int Get(int fd, int level, int option) { return Get_raw(fd, level, option, sizeof(uint32_t)); }

int Get_raw(int fd, int level, int option, socklen_t length)
{
	unsigned char value[64];
	socklen_t got = length;
	memset(value, 0xee, sizeof value);
	begin("getsockopt(%s, %s", name(fd), option_text(level, option));
	if (length != sizeof(uint32_t))
		add(", room %u", length);
	add(")");
	int r = getsockopt(fd, level, option, value, &got);
	result(r);
	if (r == 0 && got == sizeof(int)) {
		int v;
		memcpy(&v, value, sizeof v);
		add(" %d", v);
	} else if (r == 0) {
		add(" length %u", got);
		for (socklen_t i = 0; i < got && i < 16; i++)
			add("%s%02x", i == 0 ? " " : "", value[i]);
	}
	end();
	return r;
}
