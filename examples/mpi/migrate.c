// SPDX-License-Identifier: Apache-2.0
//
// Objects change hosts while a client sends messages to them: rank 0 is the client, the others are hosts. An object moves
// after each 100 messages. Its old host sends the state to the next, and forwards what still comes for it, behind the state;
// the client learns from the answer where the object is. Messages are numbered, an object takes each number once and in
// order, and says so with each answer.
#include <stdlib.h>

#include "kernel.h"

enum { STAY = 100, ROW = 250 }; // messages that an object takes on one host; that the client sends to one in a row
enum { NUMBER, STATE, ANSWER, END };

// An object is what moves. A message has its id and last: the number.
struct object {
	uint64_t id, hops, last, sum;
	uint64_t here; // it is on this host
};

enum { WORDS = sizeof(struct object) / sizeof(uint64_t) };

static int host_of(const struct object *o) { return 1 + (o->id + o->hops) % (ranks - 1); }

static void tell(const struct object *o, int to, int tag) { MPI_Send(o, WORDS, MPI_UINT64_T, to, tag, MPI_COMM_WORLD); }

// settle receives the states that were sent to this rank and not taken yet, with which the hosts may end.
static void settle(const int *sent, int taken)
{
	struct object in;
	int due[ranks], all = 0;
	MPI_Alltoall(sent, 1, MPI_INT, due, 1, MPI_INT, MPI_COMM_WORLD);
	for (int from = 0; from < ranks; from++)
		all += due[from];
	for (; taken < all; taken++)
		MPI_Recv(&in, WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, STATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void host(int objects)
{
	struct object *all = room(sizeof *all * objects), in;
	int *sent = room(sizeof *sent * ranks), taken = 0; // states
	for (int id = 0; id < objects; id++) {
		all[id].id = id;
		all[id].here = host_of(&all[id]) == rank;
	}
	for (;;) {
		MPI_Status status;
		MPI_Recv(&in, WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == END)
			break;
		struct object *o = &all[in.id];
		if (status.MPI_TAG == STATE) {
			*o = in;
			o->here = 1;
			taken++;
			continue;
		}
		if (!o->here) { // it has moved on, and o says where to
			tell(&in, host_of(o), NUMBER);
			continue;
		}
		if (in.last == o->last + 1) {
			o->last = in.last;
			o->sum += in.last;
		}
		tell(o, 0, ANSWER);
		if (o->last % STAY == 0 && o->last / STAY > o->hops) {
			o->hops++;
			o->here = 0;
			sent[host_of(o)]++;
			tell(o, host_of(o), STATE);
		}
	}
	settle(sent, taken);
	free(sent);
	free(all);
}

static long work(struct meter *m, int objects)
{
	struct object *known = room(sizeof *known * objects), in;
	int sent[ranks], *where = room(sizeof *where * objects);
	long moves = 0;
	for (int id = 0; id < objects; id++) {
		known[id].id = id;
		where[id] = host_of(&known[id]);
	}
	for (long step = 0; another(m); step++) {
		int id = step / ROW % objects;
		struct object *o = &known[id];
		uint64_t number = o->last + 1, hops = o->hops;
		MPI_Status status;
		o->last = number;
		step_begin(m);
		tell(o, where[id], NUMBER);
		MPI_Recv(&in, WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, ANSWER, MPI_COMM_WORLD, &status);
		step_end(m);
		if (in.id != (uint64_t)id || in.last != number || in.sum != number * (number + 1) / 2)
			fail("migrate: object %d has %lu numbers with the sum %lu after number %lu", id, (unsigned long)in.last, (unsigned long)in.sum,
				(unsigned long)number);
		moves += in.hops != hops;
		where[id] = status.MPI_SOURCE;
		*o = in;
	}
	for (int to = 0; to < ranks; to++) {
		sent[to] = 0;
		if (to > 0)
			tell(&known[0], to, END);
	}
	settle(sent, 0);
	free(known);
	free(where);
	return moves;
}

static void run(int size, double seconds)
{
	struct meter m;
	long moves = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	meter_start(&m, seconds, 0);
	if (rank == 0)
		moves = work(&m, size);
	else
		host(size);
	report(&m, migrate.name, size, rank == 0 ? 1 / mean(&m) : 0, "each of %d objects took each message once and in order, %ld moves", size, moves);
}

const struct kernel migrate = { "migrate", "objects", 8, 3, run };
