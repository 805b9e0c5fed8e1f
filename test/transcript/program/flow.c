/* SPDX-License-Identifier: Apache-2.0 */

/* How much can be sent to a reader that does not read, and that all of it arrives. */
#include "sections.h"

/* count receives n messages of a length, or n * length bytes of a stream, without lines. */
static void count(int fd, int n, size_t length)
{
	static unsigned char room[LONGEST];
	long total = 0, wrong = 0;
	begin("recv(%s) of all that was sent", name(fd));
	while (total < (long)length * n) {
		long r = recv(fd, room, length, MSG_DONTWAIT);
		if (r <= 0)
			break;
		for (long i = 0; i < r; i++)
			wrong += room[i] != ((const unsigned char *)pattern(length))[(size_t)(total + i) % length];
		total += r;
	}
	add(" %s, %ld bytes wrong", total == (long)length * n ? "is all" : "is less", wrong);
	end();
}

static void full(int type, size_t length)
{
	address a = service(FLOW_TYPE, (uint32_t)type);
	int l = Listener(type, a), n;
	int c = Connected(type, l, a, &n);
	Set(c, SOL_TIPC, TIPC_NODELAY, 1);
	int sent = Fill(c, length, NULL);
	Ready(c);
	Ready(n);
	Set_time(c, SO_SNDTIMEO, 20);
	Send_data(c, length, 0);
	count(n, sent, length);
	Wait(c, POLLOUT);
	Ready(n);
	sent = Fill(c, length, NULL);
	count(n, sent, length);
	Wait(c, POLLOUT);
	note("the writer closes when the window is full, the reader reads all the same");
	sent = Fill(c, length, NULL);
	if (type == SOCK_SEQPACKET)
		Set_time(c, SO_SNDTIMEO, 20);
	count(n, sent, length);
	Wait(c, POLLOUT);
	Close(c);
	Drain(n);
	Close(n);
	Close(l);
}

static void writer(void *argument)
{
	const int *fd = argument;
	Send_data(*fd, 1 << 20, 0);
	Shutdown(*fd, SHUT_RDWR);
}

/* A mebibyte in one call, which waits for the reader. */
static void waits(void)
{
	static unsigned char room[1 << 20];
	address a = service(FLOW_TYPE + 1, 1);
	int l = Listener(SOCK_STREAM, a), n;
	int c = Connected(SOCK_STREAM, l, a, &n);
	actor other = Start("writer", writer, &c);
	long total = 0, r;
	begin("recv(%s) until its end", name(n));
	while ((r = recv(n, room + total, sizeof room - (size_t)total, 0)) > 0)
		total += r;
	add(": %ld bytes %s, then", total, data_text(room, (size_t)total));
	/* The end comes after the send's line. */
	if (total < (long)sizeof room)
		finish(r);
	else
		end();
	Let(&other, 2);
	Finish(&other);
	Recv(n, 10, MSG_DONTWAIT);
	Close(c);
	Close(n);
	Close(l);
}

/* A datagram socket without a reader takes what its buffer holds; the rest is lost. */
static void datagrams(void)
{
	int s = Socket(SOCK_RDM), c = Socket(SOCK_RDM);
	address a = own_address(s);
	long failed = 0;
	begin("100 datagrams to %s", name(s));
	for (int i = 0; i < 100; i++)
		failed += sendto(c, pattern(100), 100, MSG_DONTWAIT, (const struct sockaddr *)&a, sizeof a) != 100;
	add(": %ld failed", failed);
	end();
	count(s, 100, 100);
	Recv(s, 10, MSG_DONTWAIT);
}

void flow_section(void)
{
	for (size_t i = 0; i < COUNT(connected); i++) {
		note("type %s", type_text(connected[i]));
		full(connected[i], 100);
		full(connected[i], 10000);
	}
	waits();
	datagrams();
}
