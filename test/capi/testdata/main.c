/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#define TEST(name) {#name, name}

static const struct test tests[] = {
	TEST(handles), TEST(nulls), TEST(texts), TEST(sizes),
	TEST(messages), TEST(returned), TEST(multicast), TEST(names), TEST(subscription), TEST(call),
	TEST(stream), TEST(packets), TEST(halfclose), TEST(backlog), TEST(timeouts),
	TEST(group), TEST(slow),
	TEST(pollmany), TEST(pollexact), TEST(pollstream), TEST(pollclose), TEST(polllisten), TEST(pollevents),
	TEST(threads), TEST(oneforall), TEST(forked), TEST(forkedraw), TEST(memory), TEST(closing), TEST(udp),
};

int node(void)
{
	const char *text = getenv("NODE");

	return OK(utipc_open(text ? text : "memory:", SOON));
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		if (argc < 2)
			puts(tests[i].name);
		else if (strcmp(argv[1], tests[i].name) == 0) {
			tests[i].run();
			return 0;
		}
	}
	return argc < 2 ? 0 : 2;
}
