/* SPDX-License-Identifier: Apache-2.0 */
/* Handles, pointers, texts and the sizes of the types. */
#include <limits.h>

#include "check.h"

/* every calls each function that has a handle with h, and wants the errno of each. */
static void every(int h, int want)
{
	utipc_addr a = utipc_service(5000, 1);
	utipc_info info;
	utipc_event event;
	uint32_t address;
	char b[8];

	FAILS(want, utipc_node_address(h, &address));
	FAILS(want, utipc_wait_nodes(h, 1, 0));
	FAILS(want, utipc_wait_nodes(h, 1, 1));
	FAILS(want, utipc_wait_published(h, 0));
	FAILS(want, utipc_wait_name(h, &a, 1, 0));
	FAILS(want, utipc_resolve(h, &a, &a, 1, 0));
	FAILS(want, utipc_socket(h, SOCK_RDM, NULL, NULL));
	FAILS(want, utipc_listen(h, SOCK_STREAM, &a, NULL));
	FAILS(want, utipc_connect(h, SOCK_STREAM, &a, NULL, 1));
	FAILS(want, utipc_join(h, &a, NULL));
	FAILS(want, utipc_subscribe(h, &a, 0));
	FAILS(want, utipc_call(h, &a, "x", 1, b, sizeof b, NULL, 1));
	FAILS(want, utipc_accept(h, 0));
	FAILS(want, utipc_wait_members(h, 1, 0));
	FAILS(want, utipc_bind(h, &a, 0));
	FAILS(want, utipc_unbind(h, &a, 0));
	FAILS(want, utipc_local(h, &a));
	FAILS(want, utipc_remote(h, &a));
	FAILS(want, utipc_shutdown(h));
	FAILS(want, utipc_send(h, "x", 1, &a, 0));
	FAILS(want, utipc_recv(h, b, sizeof b, &info, 0));
	FAILS(want, utipc_next(h, &event, 0));
	FAILS(want, utipc_fd(h));
	if (want == EBADF)
		FAILS(want, utipc_close(h, 0));
}

void handles(void)
{
	utipc_addr a = utipc_service(5001, 1);
	int n = node(), other = node();
	int s = OK(utipc_socket(n, SOCK_RDM, NULL, NULL)), l = OK(utipc_listen(n, SOCK_STREAM, &a, NULL));
	int sub = OK(utipc_subscribe(n, &a, 0)), g = OK(utipc_join(n, &a, NULL));
	unsigned x = 12345;

	every(0, EBADF);
	every(-1, EBADF);
	every(3, EBADF); /* a file descriptor */
	every(INT_MAX, EBADF);
	every(INT_MIN, EBADF);
	for (int i = 0; i < 1000; i++) {
		x = x * 1103515245 + 12345;
		if ((int)x < n || (int)x > g)
			every((int)x, EBADF);
	}

	/* Of another kind. */
	FAILS(EOPNOTSUPP, utipc_socket(s, SOCK_RDM, NULL, NULL));
	FAILS(EOPNOTSUPP, utipc_accept(s, 0));
	FAILS(EOPNOTSUPP, utipc_recv(l, &x, sizeof x, NULL, 0));
	FAILS(EOPNOTSUPP, utipc_send(l, &x, sizeof x, NULL, 0));
	FAILS(EOPNOTSUPP, utipc_recv(sub, &x, sizeof x, NULL, 0));
	FAILS(EOPNOTSUPP, utipc_recv(n, &x, sizeof x, NULL, 0));
	FAILS(EOPNOTSUPP, utipc_bind(sub, &a, 0));
	FAILS(EOPNOTSUPP, utipc_bind(g, &a, 0));
	FAILS(EOPNOTSUPP, utipc_local(sub, &a));
	FAILS(EOPNOTSUPP, utipc_shutdown(s));
	FAILS(EOPNOTSUPP, utipc_wait_members(s, 1, 0));
	FAILS(EOPNOTSUPP, utipc_next(s, (utipc_event[1]){0}, 0));
	FAILS(EOPNOTSUPP, utipc_fd(n));

	/* After close, and after that of their node. */
	OK(utipc_close(s, 0));
	every(s, EBADF);
	OK(utipc_close(n, SOON));
	every(n, EBADF);
	every(l, EBADF);
	every(sub, EBADF);
	every(g, EBADF);
	OK(utipc_socket(other, SOCK_RDM, NULL, NULL)); /* another node's is still open */

	for (int i = 0; i < 1000; i++) {
		int again = OK(utipc_socket(other, SOCK_DGRAM, NULL, NULL));

		CHECK(again > g);
		OK(utipc_close(again, 0));
	}
	OK(utipc_close(other, SOON));
}

void nulls(void)
{
	int n = node();
	utipc_addr a = utipc_service(5002, 1), bad = a;
	utipc_options o = {0};
	int s = OK(utipc_socket(n, SOCK_RDM, &a, NULL));
	char b[8];

	FAILS(EFAULT, utipc_node_address(n, NULL));
	FAILS(EFAULT, utipc_wait_name(n, NULL, 1, 0));
	FAILS(EFAULT, utipc_resolve(n, NULL, &a, 1, 0));
	FAILS(EFAULT, utipc_resolve(n, &a, NULL, 1, 0));
	CHECK(OK(utipc_resolve(n, &a, NULL, 0, 0)) == 1);
	FAILS(EFAULT, utipc_connect(n, SOCK_STREAM, NULL, NULL, 0));
	FAILS(EFAULT, utipc_join(n, NULL, NULL));
	FAILS(EFAULT, utipc_subscribe(n, NULL, 0));
	FAILS(EFAULT, utipc_bind(s, NULL, 0));
	FAILS(EFAULT, utipc_local(s, NULL));
	FAILS(EFAULT, utipc_send(s, NULL, 1, &a, 0));
	FAILS(EFAULT, utipc_recv(s, NULL, 1, NULL, 0));
	FAILS(EFAULT, utipc_parse(NULL, &a));
	FAILS(EFAULT, utipc_parse("18888:17", NULL));
	FAILS(EFAULT, utipc_format(NULL, b, sizeof b));
	FAILS(EFAULT, utipc_format(&a, NULL, 1));
	FAILS(EFAULT, utipc_call(n, NULL, "x", 1, b, sizeof b, NULL, 1));
	FAILS(EFAULT, utipc_call(n, &a, NULL, 1, b, sizeof b, NULL, 1));
	FAILS(EFAULT, utipc_call(n, &a, "x", 1, NULL, 1, NULL, 1));
	FAILS(EFAULT, utipc_next(s, NULL, 0));

	/* What is out of range. */
	FAILS(EINVAL, utipc_send(s, b, SIZE_MAX, &a, 0));
	FAILS(EINVAL, utipc_recv(s, b, SIZE_MAX, NULL, 0));
	FAILS(EMSGSIZE, utipc_send(s, calloc(1, UTIPC_MAX_MESSAGE + 1), UTIPC_MAX_MESSAGE + 1, &a, SOON));
	FAILS(EPROTONOSUPPORT, utipc_socket(n, 77, NULL, NULL));
	FAILS(EPROTONOSUPPORT, utipc_socket(n, SOCK_STREAM, NULL, NULL));
	FAILS(EPROTONOSUPPORT, utipc_listen(n, SOCK_RDM, NULL, NULL));
	FAILS(EACCES, utipc_bind(s, (utipc_addr[1]){utipc_service(1, 1)}, 0));
	FAILS(EINVAL, utipc_bind(s, (utipc_addr[1]){utipc_range(5002, 9, 1)}, 0));
	FAILS(EINVAL, utipc_bind(s, &a, 9));
	FAILS(EADDRNOTAVAIL, utipc_unbind(s, (utipc_addr[1]){utipc_service(5002, 7)}, 0));
	FAILS(EINVAL, utipc_subscribe(n, &a, 1024));
	bad.kind = 9;
	FAILS(EINVAL, utipc_socket(n, SOCK_RDM, &bad, NULL));
	bad = a;
	bad.port = 1;
	FAILS(EINVAL, utipc_socket(n, SOCK_RDM, &bad, NULL));
	o.flags = 1 << 20;
	FAILS(EINVAL, utipc_socket(n, SOCK_RDM, NULL, &o));
	o.flags = 0;
	o.reserved[6] = 1;
	FAILS(EINVAL, utipc_socket(n, SOCK_RDM, NULL, &o));
	o.reserved[6] = 0;
	o.importance = 77;
	FAILS(EINVAL, utipc_socket(n, SOCK_RDM, NULL, &o));
	o.importance = 1u << 31;
	FAILS(EINVAL, utipc_socket(n, SOCK_RDM, NULL, &o));
	FAILS(EINVAL, utipc_open("nonsense:", SOON));
	FAILS(EINVAL, utipc_open("nonsense", SOON));
	FAILS(ENOENT, utipc_open("attach:/nowhere/at/all", SOON));
	FAILS(ENOENT, utipc_open("", SOON)); /* by $UTIPC_SOCKET, which the next line changes */
	setenv("UTIPC_NODE", "memory:", 1);
	OK(utipc_close(OK(utipc_open(NULL, SOON)), SOON));
	OK(utipc_close(n, SOON));
}

void texts(void)
{
	static const struct {
		const char *text;
		utipc_addr addr;
	} all[] = {
		{"18888:17", {UTIPC_SERVICE, 0, 0, 18888, 17, 0}},
		{"18888:17@1001002", {UTIPC_SERVICE, 0x1001002, 0, 18888, 17, 0}},
		{"18888:0-99", {UTIPC_RANGE, 0, 0, 18888, 0, 99}},
		{"<1001002:134550589>", {UTIPC_SOCKET, 0x1001002, 134550589, 0, 0, 0}},
	};
	char b[64];

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		utipc_addr a;
		int length = strlen(all[i].text);

		OK(utipc_parse(all[i].text, &a));
		CHECK(memcmp(&a, &all[i].addr, sizeof a) == 0);
		CHECK(utipc_format(&a, b, sizeof b) == length && strcmp(b, all[i].text) == 0);
		CHECK(utipc_format(&a, b, 4) == length && strncmp(b, all[i].text, 3) == 0 && b[3] == 0);
		CHECK(utipc_format(&a, NULL, 0) == length);
	}
	FAILS(EINVAL, utipc_parse("", (utipc_addr[1]){0}));
	FAILS(EINVAL, utipc_parse("18888", (utipc_addr[1]){0}));
	FAILS(EINVAL, utipc_format((utipc_addr[1]){0}, b, sizeof b));
	CHECK(strcmp(utipc_version(), UTIPC_VERSION) == 0);
	CHECK(strcmp(utipc_strerror(-EAGAIN), utipc_strerror(EAGAIN)) == 0);
	CHECK(strcmp(utipc_strerror(EAGAIN), strerror(EAGAIN)) == 0);
	CHECK(strcmp(utipc_strerror(INT_MIN), "unknown error") == 0 && strcmp(utipc_strerror(99999), "unknown error") == 0);
}

/* The sizes, and the place of each field, are those of version 0 for ever. */
#define AT(type, field, place) _Static_assert(offsetof(type, field) == (place), #type "." #field)
_Static_assert(sizeof(utipc_addr) == 24, "utipc_addr");
_Static_assert(sizeof(utipc_options) == 64, "utipc_options");
_Static_assert(sizeof(utipc_info) == 104, "utipc_info");
_Static_assert(sizeof(utipc_event) == 64, "utipc_event");
AT(utipc_addr, kind, 0);
AT(utipc_addr, node, 4);
AT(utipc_addr, port, 8);
AT(utipc_addr, type, 12);
AT(utipc_addr, lower, 16);
AT(utipc_addr, upper, 20);
AT(utipc_options, flags, 0);
AT(utipc_options, importance, 4);
AT(utipc_options, scope, 8);
AT(utipc_options, multicast, 12);
AT(utipc_options, policy, 16);
AT(utipc_options, policy_limit, 20);
AT(utipc_options, receive_limit, 24);
AT(utipc_options, backlog, 28);
AT(utipc_options, name_wait, 32);
AT(utipc_options, reserved, 36);
AT(utipc_info, from, 0);
AT(utipc_info, to, 24);
AT(utipc_info, member, 48);
AT(utipc_info, kind, 72);
AT(utipc_info, flags, 76);
AT(utipc_info, error, 80);
AT(utipc_info, importance, 84);
AT(utipc_info, behind, 88);
AT(utipc_info, reserved, 92);
AT(utipc_event, range, 0);
AT(utipc_event, socket, 24);
AT(utipc_event, kind, 48);
AT(utipc_event, scope, 52);
AT(utipc_event, key, 56);

/* sizes prints them, for a program in another language to compare. */
void sizes(void)
{
	printf("utipc_addr %zu utipc_options %zu utipc_info %zu utipc_event %zu\n", sizeof(utipc_addr),
	       sizeof(utipc_options), sizeof(utipc_info), sizeof(utipc_event));
}
