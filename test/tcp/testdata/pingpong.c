// SPDX-License-Identifier: Apache-2.0
//
// Two ranks of MPI send messages back and forth. Rank 0 prints for each length "LENGTH bytes: TIME us", of a round trip.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM = 50, TRIPS = 1000, LONGEST = 1 << 16 };

int main(int argc, char **argv)
{
	int rank;
	char *b = calloc(1, LONGEST);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int size = 8; size <= LONGEST; size *= 8) {
		double begin = 0;
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = -WARM; i < TRIPS; i++) {
			if (i == 0)
				begin = MPI_Wtime();
			if (rank == 0)
				MPI_Send(b, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(b, size, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (rank == 1)
				MPI_Send(b, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
		}
		if (rank == 0)
			printf("%d bytes: %.2f us\n", size, (MPI_Wtime() - begin) / TRIPS * 1e6);
	}
	MPI_Finalize();
	free(b);
	return 0;
}
