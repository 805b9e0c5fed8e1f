// SPDX-License-Identifier: Apache-2.0
//
// A store of values by keys: the last half of the ranks serve, the others put and get, nine gets to a put, one request after
// the other. A hash of the key says which server has it. Every get is compared with what its client put last, and at the end
// all keys that were put are.
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum { KEYS = 1000, ASK = 1, ANSWER = 2, PUT = 1, GET = 2, END = 3, DONE = 4, HEAD = 9 }; // HEAD: what, and the key

static int clients(void) { return ranks - ranks / 2; }

// server_of returns the rank that has a key.
static int server_of(uint64_t key)
{
	uint64_t slot = key * 0x9e3779b97f4a7c15 >> 54; // one of 1024
	return clients() + (int)(slot * (ranks - clients()) >> 10);
}

static uint64_t key_of(int client, int i) { return (uint64_t)client << 32 | i; }

struct client {
	int size;
	uint32_t versions[KEYS];
	unsigned char *ask, *answer, *want;
};

// request sends a request, and returns how long its answer is.
static int request(struct client *c, int what, int i, int length)
{
	uint64_t key = key_of(rank, i);
	MPI_Status status;
	int n;
	c->ask[0] = what;
	memcpy(c->ask + 1, &key, sizeof key);
	MPI_Sendrecv(c->ask, length, MPI_BYTE, server_of(key), ASK, c->answer, 1 + c->size, MPI_BYTE, server_of(key), ANSWER,
		MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &n);
	return n;
}

// value is what a key has in its version: zeros, before it is put.
static void value(const struct client *c, unsigned char *b, int i)
{
	if (c->versions[i] == 0) {
		memset(b, 0, c->size);
		return;
	}
	uint32_t seed = (uint32_t)rank << 20 ^ (uint32_t)i << 8 ^ c->versions[i];
	for (int at = 0; at < c->size; at++) {
		seed = seed * 1664525 + 1013904223;
		b[at] = seed >> 24;
	}
}

static void put(struct client *c, int i)
{
	c->versions[i]++;
	value(c, c->ask + HEAD, i);
	if (request(c, PUT, i, HEAD + c->size) != 1 || c->answer[0] != DONE)
		fail("store: putting key %d was not answered", i);
}

static void get(struct client *c, int i)
{
	value(c, c->want, i);
	if (request(c, GET, i, HEAD) != 1 + c->size || memcmp(c->answer + 1, c->want, c->size) != 0)
		fail("store: key %d has not the value that was put, version %u", i, c->versions[i]);
}

// work returns how many keys were put.
static int work(struct meter *m, int size)
{
	struct client c = { .size = size, .ask = room(HEAD + size), .answer = room(1 + size), .want = room(size) };
	uint64_t state = rank + 1;
	int keys = 0;
	while (another(m)) {
		int i = chance(&state) % KEYS, puts = chance(&state) % 10 == 0;
		step_begin(m);
		if (puts)
			put(&c, i);
		else
			get(&c, i);
		step_end(m);
	}
	for (int i = 0; i < KEYS; i++)
		if (c.versions[i] > 0) {
			get(&c, i);
			keys++;
		}
	c.ask[0] = END;
	for (int to = clients(); to < ranks; to++)
		MPI_Send(c.ask, HEAD, MPI_BYTE, to, ASK, MPI_COMM_WORLD);
	free(c.ask);
	free(c.answer);
	free(c.want);
	return keys;
}

static void serve(int size)
{
	unsigned char *ask = room(HEAD + size), *answer = room(1 + size);
	unsigned char *values = room((size_t)clients() * KEYS * size);
	answer[0] = DONE;
	for (int left = clients(); left > 0;) {
		MPI_Status status;
		uint64_t key;
		MPI_Recv(ask, HEAD + size, MPI_BYTE, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
		memcpy(&key, ask + 1, sizeof key);
		unsigned char *at = values + ((key >> 32) * KEYS + (uint32_t)key) * size;
		int length = 1;
		switch (ask[0]) {
		case END:
			left--;
			continue;
		case PUT:
			memcpy(at, ask + HEAD, size);
			break;
		case GET:
			memcpy(answer + 1, at, size);
			length += size;
			break;
		}
		MPI_Send(answer, length, MPI_BYTE, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
	}
	free(ask);
	free(answer);
	free(values);
}

static void run(int size, double seconds)
{
	struct meter m;
	int keys = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	meter_start(&m, seconds, 0);
	if (rank < clients())
		keys = work(&m, size);
	else
		serve(size);
	double own = rank < clients() ? 1 / mean(&m) : 0, all;
	MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	report(&m, store.name, size, all, "every get, and %d keys of rank 0 at the end, have what was put last", keys);
}

const struct kernel store = { "store", "bytes of a value", 128, 2, run };
