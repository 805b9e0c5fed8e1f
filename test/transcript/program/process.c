/* SPDX-License-Identifier: Apache-2.0 */

/* Sockets in more than one process: fork, exec, dup, and descriptors in messages. */
#include "sections.h"

static void uses(void *argument)
{
	const int *fd = argument;
	Getsockname(*fd);
	Recv(*fd, 100, 0);
	Sendto(*fd, "from the child", 0, own_address(*fd));
	Bind(*fd, service(PROCESS_TYPE, 2));
	Close(*fd);
	Turn();
}

static void forked(int type)
{
	note("a child uses what it inherits: %s", type_text(type));
	int s = Socket(type);
	Bind(s, service(PROCESS_TYPE, 1));
	actor child = Start("child", uses, &s);
	Let(&child, 1);
	Sendto(s, "to itself", 0, service(PROCESS_TYPE, 1));
	Let(&child, 4);
	Recvmsg(s, 100, 0, 4096);
	Sendto(s, "second name", 0, service(PROCESS_TYPE, 2));
	Recv(s, 100, 0);
	Let(&child, 1);
	Finish(&child);
	note("the child is gone, the names stay");
	Sendto(s, "again", 0, service(PROCESS_TYPE, 2));
	Recv(s, 100, 0);
	Close(s);
	s = Socket(type);
	Sendto(s, "x", 0, service(PROCESS_TYPE, 1));
	Close(s);
}

static void serves(void *argument)
{
	const int *fd = argument;
	Recv(*fd, 100, 0);
	Send(*fd, "answer", 0);
	Turn();
	Close(*fd);
	Turn();
}

static void handed(int type)
{
	note("a connection is open until the last process closes it: %s", type_text(type));
	address a = service(PROCESS_TYPE + 1, (uint32_t)type);
	int n, l = Listener(type, a), c = Connected(type, l, a, &n);
	actor child = Start("child", serves, &n);
	Close(n);
	Ready(c);
	Send(c, "request", 0);
	Let(&child, 2);
	Recv(c, 100, 0);
	Ready(c);
	Let(&child, 2);
	Wait(c, POLLHUP);
	Recv(c, 100, MSG_DONTWAIT);
	Let(&child, 1);
	Finish(&child);
	Close(c);
	Close(l);
}

static void accepts(void *argument)
{
	const int *l = argument;
	int n = Accept(*l);
	Recv(n, 100, 0);
	Send(n, "served", 0);
	Turn();
	Close(n);
}

/* Two processes that accept from one listener. */
static void prefork(int type)
{
	note("children accept: %s", type_text(type));
	address a = service(PROCESS_TYPE + 2, (uint32_t)type);
	int l = Listener(type, a);
	for (int i = 0; i < 2; i++) {
		actor child = Start("child", accepts, &l);
		int c = Socket(type);
		patient(c);
		Connect(c, a);
		Send(c, "request", 0);
		Let(&child, 4);
		Recv(c, 100, 0);
		Let(&child, 1);
		Finish(&child);
		Recv(c, 100, 0);
		Close(c);
	}
	Close(l);
}

static void dies(void *argument)
{
	const int *fd = argument;
	Send(*fd, "last", 0);
	Turn();
	_exit(0);
}

static void death(int type)
{
	note("a process ends with its socket open: %s", type_text(type));
	int b, a = Socketpair(type, &b);
	actor child = Start("child", dies, &b);
	close(b);
	Let(&child, 2);
	Finish(&child);
	Wait(a, POLLHUP);
	Recvmsg(a, 100, MSG_DONTWAIT, 4096);
	Recvmsg(a, 100, MSG_DONTWAIT, 4096);
	Recvmsg(a, 100, MSG_DONTWAIT, 4096);
	Close(a);
}

static void dups(void)
{
	note("dup");
	int b, a = Socketpair(SOCK_SEQPACKET, &b), d = Dup(a);
	Getsockname(d);
	Send(d, "by the duplicate", 0);
	Recv(b, 100, 0);
	Nonblock(a, true);
	Fcntl(d, F_GETFL, "F_GETFL");
	Set(a, SOL_TIPC, TIPC_IMPORTANCE, 2);
	Get(d, SOL_TIPC, TIPC_IMPORTANCE);
	Close(a);
	Ready(d);
	Send(b, "still open", 0);
	Recv(d, 100, 0);
	begin("dup2(%s, %s)", name(d), name(b));
	int r = dup2(d, b);
	result(r >= 0 ? 0 : r);
	end();
	Ready(d);
	Recv(d, 100, MSG_DONTWAIT);
	Close(d);
	Close(b);
	note("dup of a bound socket");
	int s = Socket(SOCK_RDM);
	d = Dup(s);
	Bind(d, service(PROCESS_TYPE + 3, 1));
	Close(d);
	Sendto(s, "to the name", 0, service(PROCESS_TYPE + 3, 1));
	Recv(s, 100, MSG_DONTWAIT);
	Close(s);
}

/* pass sends a descriptor over a UNIX socket; the other returns one that came. */
static void pass(int unix_fd, int fd)
{
	char control[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec v = {(void *)(uintptr_t) "d", 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	begin("pass %s", name(fd));
	finish(sendmsg(unix_fd, &m, 0));
}

static int passed(int unix_fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte;
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	int fd = -1;
	begin("passed");
	long r = recvmsg(unix_fd, &m, 0);
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (r == 1 && c != NULL && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	name_socket(fd);
	result(r);
	add(" %s", name(fd));
	end();
	return fd;
}

static void takes(void *argument)
{
	const int *unix_fd = argument;
	int s = passed(*unix_fd);
	Getsockname(s);
	Get(s, SOL_SOCKET, SO_TYPE);
	Recv(s, 100, 0);
	Send(s, "from another process", 0);
	Turn();
	Close(s);
}

static void rights(int type)
{
	note("SCM_RIGHTS: %s", type_text(type));
	int pair[2], b, a = Socketpair(type, &b);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	/* The other process is there before the socket is made, so that it has it from the message alone. */
	actor other = Start("other", takes, &pair[1]);
	close(b);
	close(a);
	a = Socketpair(type, &b);
	pass(pair[0], b);
	Close(b);
	Ready(a);
	Let(&other, 3);
	Send(a, "to another process", 0);
	Let(&other, 3);
	Recv(a, 100, 0);
	Let(&other, 1);
	Finish(&other);
	Ready(a);
	Recv(a, 100, MSG_DONTWAIT);
	Close(a);
	close(pair[0]);
	close(pair[1]);
}

/* executed is what the program does after an exec: with a socket as descriptor fd. */
int executed(const char *fd, const char *what)
{
	int s = atoi(fd);
	catch_signals();
	limit_time();
	speaker = "program: ";
	share_symbols();
	name_socket(s);
	if (strcmp(what, "closed") == 0) {
		note("the descriptor is %s", fcntl(s, F_GETFD) < 0 ? "closed" : "open");
		return 0;
	}
	Get(s, SOL_SOCKET, SO_TYPE);
	Get(s, SOL_SOCKET, SO_DOMAIN);
	Recv(s, 100, 0);
	Send(s, "from another program", 0);
	if (strcmp(what, "listener") == 0)
		note("%s", accept(s, NULL, NULL) >= 0 ? "accepted" : "did not accept");
	return 0;
}

static void runs(int fd, const char *what)
{
	char number[16];
	snprintf(number, sizeof number, "%d", fd);
	pid_t pid = fork();
	if (pid == 0) {
		execl("/proc/self/exe", "transcript", "exec", number, what, (char *)NULL);
		_exit(127);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	note("the program ended with %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void exec(int type)
{
	note("exec: %s", type_text(type));
	int b, a = Socketpair(type, &b);
	Send(a, "to another program", 0);
	runs(b, "uses");
	Recv(a, 100, MSG_DONTWAIT);
	begin("fcntl(%s, F_SETFD, FD_CLOEXEC)", name(b));
	finish(fcntl(b, F_SETFD, FD_CLOEXEC));
	runs(b, "closed");
	Send(a, "still there", 0);
	Recv(b, 100, MSG_DONTWAIT);
	Close(a);
	Close(b);
}

void process_section(void)
{
	for (size_t i = 0; i < COUNT(datagram); i++)
		forked(datagram[i]);
	for (size_t i = 0; i < COUNT(connected); i++) {
		handed(connected[i]);
		prefork(connected[i]);
		death(connected[i]);
	}
	dups();
	for (size_t i = 0; i < COUNT(types); i++) {
		rights(types[i]);
		exec(types[i]);
	}
}
