/* SPDX-License-Identifier: Apache-2.0 */

/* Lines, written as a whole when the call has returned. */
#include "transcript.h"

#include <signal.h>
#include <stdarg.h>

const char *speaker = "";
int turn_from = -1, turn_to = -1;

static char line[16384];
static size_t used;
static volatile sig_atomic_t broken_pipe;

static void append(const char *format, va_list arguments)
{
	int n = vsnprintf(line + used, sizeof line - used - 2, format, arguments);
	if (n > 0)
		used += (size_t)n < sizeof line - used - 2 ? (size_t)n : sizeof line - used - 3;
}

void add(const char *format, ...)
{
	int kept = errno;
	va_list arguments;
	va_start(arguments, format);
	append(format, arguments);
	va_end(arguments);
	errno = kept;
}

void begin(const char *format, ...)
{
	va_list arguments;
	used = 0;
	add("%s", speaker);
	va_start(arguments, format);
	append(format, arguments);
	va_end(arguments);
	broken_pipe = 0;
}

static void write_all(const char *data, size_t length)
{
	while (length > 0) {
		ssize_t n = write(1, data, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(4);
		data += n;
		length -= (size_t)n;
	}
}

void end(void)
{
	int kept = errno;
	if (broken_pipe)
		add(", SIGPIPE");
	line[used++] = '\n';
	bool turns = turn_from >= 0;
	char c;
	if (turns && read(turn_from, &c, 1) != 1)
		_exit(5);
	write_all(line, used);
	if (turns && write(turn_to, "", 1) != 1)
		_exit(5);
	used = 0;
	errno = kept;
}

void result(long r)
{
	int kept = errno;
	if (r >= 0) {
		add(" = %ld", r);
	} else {
		const char *e = strerrorname_np(kept);
		if (e == NULL)
			add(" = errno %d", kept);
		else
			add(" = %s", e);
	}
	errno = kept;
}

void finish(long r)
{
	result(r);
	end();
}

void note(const char *format, ...)
{
	va_list arguments;
	used = 0;
	add("%s", speaker);
	va_start(arguments, format);
	append(format, arguments);
	va_end(arguments);
	end();
}

static void pipe_broken(int sig)
{
	(void)sig;
	broken_pipe = 1;
}

static void too_late(int sig)
{
	(void)sig;
	static const char text[] = " = (no end)\n";
	if (write(1, line, used) < 0 || write(1, text, sizeof text - 1) < 0)
		_exit(4);
	_exit(3);
}

void catch_signals(void)
{
	struct sigaction a = {.sa_handler = pipe_broken};
	sigaction(SIGPIPE, &a, NULL);
	a.sa_handler = too_late;
	sigaction(SIGALRM, &a, NULL);
}

static int from_environment(int otherwise)
{
	const char *s = getenv("TRANSCRIPT_LIMIT");
	return s != NULL && atoi(s) > 0 ? atoi(s) : otherwise;
}

void limit_time(void) { alarm((unsigned)from_environment(SECTION_LIMIT)); }

int limit(void) { return from_environment(LIMIT / 1000) * 1000; }
