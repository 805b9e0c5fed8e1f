/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, names, connections and groups between two nodes. */
#include "check.h"

/* is compares addresses. */
static int is(utipc_addr a, utipc_addr b) { return memcmp(&a, &b, sizeof a) == 0; }

void messages(void)
{
	int here = node(), there = node();
	utipc_addr name = utipc_service(6000, 7), more = utipc_range(6000, 10, 19), own, from;
	utipc_options high = {.importance = UTIPC_HIGH}, sync = {.flags = UTIPC_SYNC_ERRORS};
	utipc_info info;
	char b[100];

	for (int type = SOCK_DGRAM; type <= SOCK_RDM; type += SOCK_RDM - SOCK_DGRAM) {
		int s = OK(utipc_socket(there, type, &name, NULL)), c = OK(utipc_socket(here, type, NULL, &high));

		OK(utipc_wait_name(here, &name, 1, SOON));
		CHECK(OK(utipc_send(c, "hello", 5, &name, SOON)) == 5);
		CHECK(OK(utipc_recv(s, b, sizeof b, &info, SOON)) == 5 && memcmp(b, "hello", 5) == 0);
		OK(utipc_local(c, &own));
		CHECK(is(info.from, own) && own.kind == UTIPC_SOCKET);
		CHECK(is(info.to, utipc_range(6000, 7, 7)));
		CHECK(info.kind == UTIPC_DATA && info.flags == 0 && info.error == 0 && info.importance == UTIPC_HIGH);

		/* To the socket: it has no name then. */
		OK(utipc_local(s, &from));
		OK(utipc_send(c, "again", 5, &from, UTIPC_FOREVER));
		CHECK(OK(utipc_recv(s, b, 3, &info, UTIPC_FOREVER)) == 3 && memcmp(b, "aga", 3) == 0);
		CHECK(info.to.kind == UTIPC_NONE && info.flags == UTIPC_TRUNCATED);
		FAILS(EAGAIN, utipc_recv(s, b, sizeof b, NULL, 0)); /* the rest is lost */
		FAILS(ETIMEDOUT, utipc_recv(s, b, sizeof b, NULL, 1));
		FAILS(EINVAL, utipc_send(c, "x", 1, NULL, SOON)); /* to nobody */
		FAILS(ENOTCONN, utipc_remote(c, &from));

		/* One more name, for sockets of its node alone, and without it again. */
		OK(utipc_bind(s, &more, UTIPC_SCOPE_NODE));
		CHECK(OK(utipc_resolve(there, &more, &from, 1, SOON)) == 1);
		OK(utipc_unbind(s, &more, UTIPC_SCOPE_NODE));
		CHECK(OK(utipc_resolve(there, &more, &from, 1, SOON)) == 0);

		/* A default destination. */
		int d = OK(utipc_connect(here, type, &name, NULL, SOON));

		OK(utipc_remote(d, &from));
		CHECK(is(from, name));
		OK(utipc_send(d, "d", 1, NULL, SOON));
		CHECK(OK(utipc_recv(s, b, sizeof b, NULL, SOON)) == 1);
		OK(utipc_close(d, 0));
		OK(utipc_close(s, 0));
		OK(utipc_close(c, 0));
	}
	FAILS(EHOSTUNREACH, utipc_send(OK(utipc_socket(here, SOCK_RDM, NULL, &sync)), "x", 1,
				       (utipc_addr[1]){utipc_service(6666, 6)}, SOON));
	OK(utipc_close(here, SOON));
	OK(utipc_close(there, SOON));
}

void returned(void)
{
	int n = node();
	utipc_options o = {.flags = UTIPC_RETURNABLE};
	utipc_addr nobody, own;
	utipc_info info;
	char b[8];
	int gone = OK(utipc_socket(n, SOCK_RDM, NULL, NULL)), s = OK(utipc_socket(n, SOCK_RDM, NULL, &o));

	OK(utipc_local(gone, &nobody));
	OK(utipc_local(s, &own));
	OK(utipc_close(gone, 0));
	OK(utipc_send(s, "come back", 9, &nobody, SOON));
	CHECK(OK(utipc_recv(s, b, sizeof b, &info, SOON)) == 8 && memcmp(b, "come bac", 8) == 0);
	CHECK(info.error == 2 && is(info.from, nobody)); /* no port */
	OK(utipc_close(n, SOON));
}

void multicast(void)
{
	int here = node(), there = node();
	utipc_addr all = utipc_range(6001, 0, 99);
	int s[4], c = OK(utipc_socket(here, SOCK_RDM, NULL, NULL));
	utipc_info info;
	char b[8];

	for (int i = 0; i < 4; i++) {
		utipc_addr name = utipc_service(6001, 10 * i);

		s[i] = OK(utipc_socket(i % 2 ? here : there, SOCK_RDM, &name, NULL));
	}
	OK(utipc_wait_name(here, &all, 4, SOON));
	CHECK(OK(utipc_resolve(here, &all, NULL, 0, SOON)) == 4);
	OK(utipc_send(c, "all", 3, &all, SOON));
	for (int i = 0; i < 4; i++) {
		CHECK(OK(utipc_recv(s[i], b, sizeof b, &info, SOON)) == 3);
		CHECK(is(info.to, all));
	}
	OK(utipc_close(here, SOON));
	OK(utipc_close(there, SOON));
}

void names(void)
{
	int here = node(), there = node();
	utipc_addr name = utipc_service(6002, 1), at, found[4], own[2];
	uint32_t address;
	int s[2] = {OK(utipc_socket(here, SOCK_RDM, &name, NULL)), OK(utipc_socket(there, SOCK_RDM, &name, NULL))};

	OK(utipc_wait_nodes(here, 2, SOON));
	OK(utipc_wait_nodes(here, 2, 0));
	FAILS(EAGAIN, utipc_wait_nodes(here, 3, 0));
	FAILS(ETIMEDOUT, utipc_wait_nodes(here, 3, 1));
	OK(utipc_wait_name(here, &name, 2, SOON));
	OK(utipc_wait_name(here, &name, 2, 0));
	FAILS(EAGAIN, utipc_wait_name(here, &name, 3, 0));
	FAILS(ETIMEDOUT, utipc_wait_name(here, &name, 3, 1));
	OK(utipc_wait_published(here, SOON));
	for (int i = 0; i < 2; i++)
		OK(utipc_local(s[i], &own[i]));
	CHECK(OK(utipc_resolve(here, &name, found, 4, SOON)) == 2);
	CHECK(OK(utipc_resolve(here, &name, found, (size_t)-1, SOON)) == 2); // any room is right that is not too small
	CHECK((is(found[0], own[0]) && is(found[1], own[1])) || (is(found[0], own[1]) && is(found[1], own[0])));
	memset(&found[1], 7, sizeof found[1]);
	CHECK(OK(utipc_resolve(here, &name, found, 1, SOON)) == 2 && found[1].kind == 0x07070707);

	OK(utipc_node_address(there, &address));
	at = name;
	at.node = address;
	CHECK(OK(utipc_resolve(here, &at, found, 4, SOON)) == 1 && is(found[0], own[1]));
	FAILS(EINVAL, utipc_resolve(here, &own[0], found, 4, SOON));
	OK(utipc_close(here, SOON));
	OK(utipc_close(there, SOON));
}

void subscription(void)
{
	int n = node();
	utipc_addr name = utipc_service(6003, 1), own;
	int s = OK(utipc_socket(n, SOCK_RDM, &name, NULL));
	int sub = OK(utipc_subscribe(n, &name, UTIPC_SUB_COMPLETE)), later = OK(utipc_subscribe(n, &name, UTIPC_SUB_CHANGES));
	utipc_event e;

	OK(utipc_local(s, &own));
	OK(utipc_next(sub, &e, SOON));
	CHECK(e.kind == UTIPC_PUBLISHED && e.scope == UTIPC_SCOPE_CLUSTER && e.key != 0);
	CHECK(is(e.range, utipc_range(6003, 1, 1)) && is(e.socket, own));
	OK(utipc_next(sub, &e, SOON));
	CHECK(e.kind == UTIPC_COMPLETE);
	FAILS(EAGAIN, utipc_next(sub, &e, 0));
	FAILS(ETIMEDOUT, utipc_next(sub, &e, 1));
	OK(utipc_close(s, 0));
	OK(utipc_next(sub, &e, UTIPC_FOREVER));
	CHECK(e.kind == UTIPC_WITHDRAWN && is(e.socket, own));
	OK(utipc_next(later, &e, SOON));
	CHECK(e.kind == UTIPC_WITHDRAWN);
	OK(utipc_close(sub, 0));
	OK(utipc_close(n, SOON));
}

/* pair is a connection between two nodes. */
static void pair(int here, int there, int type, int *a, int *b)
{
	utipc_addr name = utipc_service(6004, type);
	utipc_options ahead = {.flags = UTIPC_ACCEPT_AHEAD};
	int l = OK(utipc_listen(there, type, &name, &ahead));

	OK(utipc_wait_name(here, &name, 1, SOON));
	FAILS(EAGAIN, utipc_accept(l, 0));
	*a = OK(utipc_connect(here, type, &name, NULL, SOON));
	*b = OK(utipc_accept(l, SOON));
	OK(utipc_close(l, 0));
}

void stream(void)
{
	int here = node(), there = node(), a, b;
	utipc_addr own, peer;
	utipc_info info;
	char buf[16];

	pair(here, there, SOCK_STREAM, &a, &b);
	OK(utipc_local(a, &own));
	OK(utipc_remote(b, &peer));
	CHECK(is(own, peer));
	CHECK(OK(utipc_send(a, "abcdef", 6, NULL, SOON)) == 6);
	CHECK(OK(utipc_recv(b, buf, 4, &info, SOON)) == 4 && is(info.from, own) && info.flags == 0);
	CHECK(OK(utipc_recv(b, buf, 4, NULL, SOON)) == 2 && memcmp(buf, "ef", 2) == 0);
	FAILS(EAGAIN, utipc_recv(b, buf, 4, NULL, 0));
	FAILS(ETIMEDOUT, utipc_recv(b, buf, 4, NULL, 1));
	FAILS(EISCONN, utipc_send(a, "x", 1, &own, SOON));
	CHECK(OK(utipc_send(b, "y", 1, NULL, 0)) == 1);
	CHECK(OK(utipc_recv(a, buf, 4, NULL, SOON)) == 1);
	OK(utipc_close(a, SOON));
	CHECK(OK(utipc_recv(b, buf, 4, NULL, SOON)) == 0);
	CHECK(OK(utipc_recv(b, buf, 4, NULL, 0)) == 0);
	FAILS(EPIPE, utipc_send(b, "x", 1, NULL, SOON));
	OK(utipc_close(here, SOON));
	OK(utipc_close(there, SOON));
}

void packets(void)
{
	int here = node(), there = node(), a, b;
	utipc_info info;
	char buf[16], *big = calloc(1, UTIPC_MAX_MESSAGE);

	pair(here, there, SOCK_SEQPACKET, &a, &b);
	OK(utipc_send(a, "one", 3, NULL, SOON));
	OK(utipc_send(a, "second", 6, NULL, SOON));
	CHECK(OK(utipc_recv(b, buf, 16, &info, SOON)) == 3 && info.flags == 0);
	CHECK(OK(utipc_recv(b, buf, 4, &info, SOON)) == 4 && info.flags == UTIPC_TRUNCATED);
	big[UTIPC_MAX_MESSAGE - 1] = 1;
	OK(utipc_send(a, big, UTIPC_MAX_MESSAGE, NULL, SOON));
	memset(big, 0, UTIPC_MAX_MESSAGE);
	CHECK(OK(utipc_recv(b, big, UTIPC_MAX_MESSAGE, NULL, SOON)) == UTIPC_MAX_MESSAGE && big[UTIPC_MAX_MESSAGE - 1] == 1);
	OK(utipc_close(here, SOON));
	CHECK(utipc_recv(b, buf, 16, NULL, SOON) <= 0);
	OK(utipc_close(there, SOON));
}

void halfclose(void)
{
	int here = node(), there = node(), a, b;
	char buf[8];

	pair(here, there, SOCK_STREAM, &a, &b);
	OK(utipc_send(a, "last", 4, NULL, SOON));
	OK(utipc_shutdown(a));
	FAILS(EPIPE, utipc_send(a, "x", 1, NULL, SOON));
	CHECK(OK(utipc_recv(b, buf, 8, NULL, SOON)) == 4);
	CHECK(OK(utipc_recv(b, buf, 8, NULL, SOON)) == 0);
	OK(utipc_send(b, "answer", 6, NULL, SOON));
	CHECK(OK(utipc_recv(a, buf, 8, NULL, SOON)) == 6);
	OK(utipc_close(here, SOON));
	OK(utipc_close(there, SOON));
}

void backlog(void)
{
	int n = node();
	utipc_addr name = utipc_service(6005, 1), nobody = utipc_service(6005, 2);
	utipc_options two = {.flags = UTIPC_ACCEPT_AHEAD, .backlog = 2};
	int l = OK(utipc_listen(n, SOCK_STREAM, &name, &two));

	OK(utipc_connect(n, SOCK_STREAM, &name, NULL, SOON));
	OK(utipc_connect(n, SOCK_STREAM, &name, NULL, SOON));
	FAILS(ETIMEDOUT, utipc_connect(n, SOCK_STREAM, &name, NULL, 50));
	FAILS(EHOSTUNREACH, utipc_connect(n, SOCK_STREAM, &nobody, NULL, SOON));
	FAILS(EAGAIN, utipc_connect(n, SOCK_STREAM, &name, NULL, 0));
	OK(utipc_accept(l, SOON));
	OK(utipc_accept(l, SOON));
	FAILS(ETIMEDOUT, utipc_accept(l, 1));
	OK(utipc_close(n, SOON));
}

/* A timeout holds for its own call alone. */
void timeouts(void)
{
	int here = node(), there = node(), a, b;
	size_t sent = 0;
	ssize_t got;
	char *big = calloc(1, 1 << 20);
	utipc_addr name = utipc_service(6006, 1);
	utipc_options wait = {.name_wait = 100000};
	int s = OK(utipc_socket(here, SOCK_RDM, NULL, &wait));

	pair(here, there, SOCK_STREAM, &a, &b);
	for (int i = 0; i < 3; i++)
		FAILS(ETIMEDOUT, utipc_recv(a, big, 1, NULL, 1));
	while ((got = utipc_send(a, big, 1 << 20, NULL, 0)) > 0)
		sent += got;
	CHECK(got == -EAGAIN && sent > 0);
	FAILS(ETIMEDOUT, utipc_send(a, big, 1, NULL, 1));
	while (sent > 0)
		sent -= OK(utipc_recv(b, big, 1 << 20, NULL, SOON));
	CHECK(OK(utipc_send(a, big, 100, NULL, UTIPC_FOREVER)) == 100); /* the deadline before is no longer one */
	CHECK(OK(utipc_recv(b, big, 1 << 20, NULL, UTIPC_FOREVER)) == 100);
	FAILS(ETIMEDOUT, utipc_send(s, "x", 1, &name, 1)); /* for want of the name */
	FAILS(EAGAIN, utipc_send(s, "x", 1, &name, 0));
	OK(utipc_close(here, SOON));
	OK(utipc_close(there, SOON));
}

void call(void)
{
	utipc_addr nobody = utipc_service(6007, 9), from;
	int n = node();
	char b[4];

	FAILS(EHOSTUNREACH, utipc_call(n, &nobody, "x", 1, b, sizeof b, &from, SOON));
	FAILS(EINVAL, utipc_call(n, &nobody, NULL, 0, b, sizeof b, &from, SOON)); /* an empty request */
	OK(utipc_socket(n, SOCK_RDM, &nobody, NULL));                              /* which does not answer */
	FAILS(ETIMEDOUT, utipc_call(n, &nobody, "x", 1, b, sizeof b, &from, 20));
	OK(utipc_close(n, SOON));
}

void group(void)
{
	int here = node(), there = node();
	utipc_addr one = utipc_service(6008, 1), two = utipc_service(6008, 2), own;
	utipc_options events = {.flags = UTIPC_EVENTS}, sync = {.flags = UTIPC_SYNC_ERRORS};
	int a = OK(utipc_join(here, &one, &events)), b = OK(utipc_join(there, &two, &sync));
	utipc_info info;
	char buf[8];

	FAILS(ETIMEDOUT, utipc_wait_members(a, 7, 1));
	FAILS(EAGAIN, utipc_wait_members(a, 7, 0));
	OK(utipc_wait_members(a, 1, SOON));
	OK(utipc_wait_members(b, 1, SOON));
	OK(utipc_local(b, &own));
	CHECK(OK(utipc_recv(a, buf, 8, &info, SOON)) == 0 && info.kind == UTIPC_MEMBER_JOINED);
	CHECK(is(info.from, own) && is(info.member, two));
	OK(utipc_send(a, "all", 3, NULL, SOON));
	CHECK(OK(utipc_recv(b, buf, 8, &info, SOON)) == 3 && info.kind == UTIPC_DATA && is(info.member, one));
	OK(utipc_send(b, "you", 3, &one, 0));
	CHECK(OK(utipc_recv(a, buf, 2, &info, SOON)) == 2 && info.flags == (UTIPC_TRUNCATED | UTIPC_PRIVATE));
	FAILS(EHOSTUNREACH, utipc_send(b, "x", 1, (utipc_addr[1]){utipc_service(6008, 5)}, SOON));
	OK(utipc_close(b, 0));
	CHECK(OK(utipc_recv(a, buf, 8, &info, SOON)) == 0 && info.kind == UTIPC_MEMBER_LEFT && is(info.from, own));
	FAILS(EINVAL, utipc_join(here, &own, NULL));
	OK(utipc_close(here, SOON));
	OK(utipc_close(there, SOON));
}

/* A member that does not read is evicted, or loses its oldest messages, as the options say. */
void slow(void)
{
	int n = node();
	utipc_addr name = utipc_service(6009, 1), other = utipc_service(6009, 2);
	utipc_options lag = {.policy = UTIPC_LAG, .policy_limit = 3};
	int a = OK(utipc_join(n, &name, &lag)), b = OK(utipc_join(n, &other, NULL));
	char *big = calloc(1, UTIPC_MAX_MESSAGE);
	utipc_info info = {0};

	OK(utipc_wait_members(a, 1, SOON));
	OK(utipc_wait_members(b, 1, SOON));
	for (int i = 0; i < 100 && utipc_send(a, big, UTIPC_MAX_MESSAGE, NULL, SOON) > 0; i++)
		;
	while (info.kind != UTIPC_MEMBER_EVICTED)
		CHECK(OK(utipc_recv(a, big, 8, &info, SOON)) == 0);
	CHECK(info.behind == 3 && is(info.member, other));
	OK(utipc_close(n, SOON));
}
