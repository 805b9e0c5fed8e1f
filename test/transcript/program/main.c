/* SPDX-License-Identifier: Apache-2.0 */

/*
 * transcript [SECTION]...  plays sections, all of one node if none is named
 * transcript -l            lists them
 * transcript client        plays the client's part across two nodes, as does
 * transcript server        the server's
 */
#include "transcript.h"

#include <signal.h>

/* play plays a section in a process group of its own, so that nothing of it is left. */
static bool play(const section *s)
{
	note("== %s", s->name);
	pid_t pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	if (pid == 0) {
		setpgid(0, 0);
		forget_symbols();
		limit_time();
		s->play();
		_exit(0);
	}
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status))
		note("section ended by signal %s", sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		note("section ended with status %d", WEXITSTATUS(status));
	return status == 0;
}

int main(int argc, char **argv)
{
	static const section client = {"client", remote_client}, server = {"server", remote_server};
	if (argc == 4 && strcmp(argv[1], "exec") == 0)
		return executed(argv[2], argv[3]);
	if (argc == 2 && strcmp(argv[1], "-l") == 0) {
		for (size_t i = 0; i < section_count; i++)
			note("%s", sections[i].name);
		return 0;
	}
	share_symbols();
	catch_signals();
	bool good = true;
	for (int k = 1; k < argc; k++) {
		const section *found = NULL;
		for (size_t i = 0; i < section_count; i++)
			if (strcmp(sections[i].name, argv[k]) == 0)
				found = &sections[i];
		if (strcmp(argv[k], "client") == 0)
			found = &client;
		if (strcmp(argv[k], "server") == 0)
			found = &server;
		if (found == NULL) {
			fprintf(stderr, "transcript: %s is not a section (transcript -l lists them)\n", argv[k]);
			return 2;
		}
		good = play(found) && good;
	}
	for (size_t i = 0; argc == 1 && i < section_count; i++)
		good = play(&sections[i]) && good;
	return good ? 0 : 1;
}
