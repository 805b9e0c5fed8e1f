/* SPDX-License-Identifier: Apache-2.0 */

/* Other processes. Their lines come in turns that the first process grants. */
#include "transcript.h"

actor Start(const char *called, void (*script)(void *), void *argument)
{
	int down[2], up[2];
	if (pipe2(down, O_CLOEXEC) < 0 || pipe2(up, O_CLOEXEC) < 0)
		abort();
	/* High descriptors, so that those of sockets are the lowest. */
	int to = fcntl(down[1], F_DUPFD_CLOEXEC, 600), from = fcntl(up[0], F_DUPFD_CLOEXEC, 600);
	int their_from = fcntl(down[0], F_DUPFD_CLOEXEC, 600), their_to = fcntl(up[1], F_DUPFD_CLOEXEC, 600);
	for (int i = 0; i < 2; i++) {
		close(down[i]);
		close(up[i]);
	}
	pid_t pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		close(to);
		close(from);
		char *text = malloc(strlen(called) + 3);
		sprintf(text, "%s: ", called);
		speaker = text;
		turn_from = their_from;
		turn_to = their_to;
		limit_time();
		script(argument);
		_exit(0);
	}
	close(their_from);
	close(their_to);
	return (actor){.pid = pid, .to = to, .from = from, .called = called};
}

void Let(actor *a, int turns)
{
	char c;
	while (turns-- > 0) {
		if (write(a->to, "", 1) != 1 || read(a->from, &c, 1) != 1) {
			note("%s has ended before its turn", a->called);
			return;
		}
	}
}

void Turn(void)
{
	char c;
	if (read(turn_from, &c, 1) != 1 || write(turn_to, "", 1) != 1)
		_exit(5);
}

void Finish(actor *a)
{
	int status = 0;
	close(a->to);
	while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(a->from);
	if (WIFSIGNALED(status))
		note("%s ended by signal %s", a->called, sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		note("%s ended with status %d", a->called, WEXITSTATUS(status));
}
