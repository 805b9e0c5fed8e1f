// SPDX-License-Identifier: Apache-2.0
//
// Processes that wait for a message, all in one socket, until they are killed. What happens next is said on
// standard input, and what has happened on standard output.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void done(const char *what)
{
	char line[64];
	printf("%s\n", what);
	fflush(stdout);
	if (fgets(line, sizeof line, stdin) == NULL)
		exit(1);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, pair[2];
	pid_t *all = calloc(n, sizeof *all);
	char b[8] = "";
	if (socketpair(30, SOCK_RDM, 0, pair) < 0)
		return 2;
	done("open");
	for (int i = 0; i < n; i++) {
		if ((all[i] = fork()) == 0) {
			recv(pair[0], b, sizeof b, 0);
			_exit(0);
		}
	}
	done("begun");
	for (int i = 0; i < n; i++)
		kill(all[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	done("killed");
	if (send(pair[1], "served", 6, 0) != 6 || recv(pair[0], b, sizeof b, 0) != 6)
		return 3;
	puts(b);
	return 0;
}
