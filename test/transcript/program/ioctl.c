/* SPDX-License-Identifier: Apache-2.0 */

/* ioctl. */
#include "sections.h"

#include <linux/sockios.h>
#include <net/if.h>

static void link_name(int fd, uint32_t peer, uint32_t bearer)
{
	struct tipc_sioc_ln_req q = {.peer = peer, .bearer_id = bearer};
	begin("ioctl(%s, SIOCGETLINKNAME, %s, %u)", name(fd), node_name(peer), bearer);
	int r = ioctl(fd, SIOCGETLINKNAME, &q);
	result(r);
	if (r == 0)
		add(" %.*s", TIPC_MAX_LINK_NAME, q.linkname);
	end();
}

static void node_id(int fd, uint32_t peer)
{
	struct tipc_sioc_nodeid_req q = {.peer = peer};
	begin("ioctl(%s, SIOCGETNODEID, %s)", name(fd), node_name(peer));
	int r = ioctl(fd, SIOCGETNODEID, &q);
	result(r);
	if (r == 0)
		add(" %s", identity_text(q.node_id, peer));
	end();
}

static void number(int fd, unsigned long request, const char *called)
{
	int v = -77;
	begin("ioctl(%s, %s)", name(fd), called);
	int r = ioctl(fd, request, &v);
	result(r);
	if (r == 0)
		add(" %d", v);
	end();
}

void ioctl_section(void)
{
	for (size_t i = 0; i < COUNT(types); i++) {
		int s = Socket(types[i]);
		node_id(s, own_node());
		node_id(s, 0);
		node_id(s, 0x01001ffe);
		node_id(s, 0xffffffff);
		link_name(s, own_node(), 0);
		link_name(s, 0, 0);
		link_name(s, 0x01001ffe, 0);
		link_name(s, 0x01001ffe, 1);
		link_name(s, 0x01001ffe, 0xffffffff);
		number(s, FIONREAD, "FIONREAD");
		number(s, SIOCOUTQ, "SIOCOUTQ");
		number(s, SIOCATMARK, "SIOCATMARK");
		number(s, SIOCPROTOPRIVATE + 2, "SIOCPROTOPRIVATE+2");
		number(s, SIOCPROTOPRIVATE + 15, "SIOCPROTOPRIVATE+15");
		number(s, SIOCDEVPRIVATE, "SIOCDEVPRIVATE");
		number(s, SIOCGSTAMP_OLD, "SIOCGSTAMP");
		number(s, 0x12345678, "0x12345678");
		int on = 1;
		begin("ioctl(%s, FIONBIO, 1)", name(s));
		finish(ioctl(s, FIONBIO, &on));
		Fcntl(s, F_GETFL, "F_GETFL");
		Close(s);
	}
	int b, a = Socketpair(SOCK_STREAM, &b);
	Send(a, "hello", 0);
	number(b, FIONREAD, "FIONREAD");
	number(a, SIOCOUTQ, "SIOCOUTQ");
	note("an interface");
	struct ifreq q = {.ifr_name = "lo"};
	begin("ioctl(%s, SIOCGIFINDEX, lo)", name(a));
	int r = ioctl(a, SIOCGIFINDEX, &q);
	result(r);
	add(" %d", q.ifr_ifindex);
	end();
}
