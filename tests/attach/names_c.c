/* SPDX-License-Identifier: BSD-3-Clause
 * Functions whose names test_symbols looks up. Each calls `probe`, which notes where it returns to.
 * The test states the lines: keep them. */

static inline __attribute__((always_inline)) int inner(int (*probe)(void))
{
	return probe() + 1; /* line 7 */
}

int outer(int (*probe)(void));
int outer(int (*probe)(void))
{
	return inner(probe) + 1; /* line 13 */
}

static __attribute__((noinline)) int hidden(int (*probe)(void))
{
	return probe() + 1; /* line 18 */
}

int calls_hidden(int (*probe)(void));
int calls_hidden(int (*probe)(void))
{
	return hidden(probe) + 1;
}

/* As MPI libraries do it. */
int PMPI_Probe_test(int (*probe)(void));
int PMPI_Probe_test(int (*probe)(void))
{
	return probe() + 1; /* line 31 */
}
int MPI_Probe_test(int (*probe)(void)) __attribute__((weak, alias("PMPI_Probe_test")));

static __attribute__((noinline)) int jumped_to(int (*probe)(void))
{
	return probe() + 2; /* line 37 */
}

/* Does nothing but jump there. */
int MPI_Probe_jump(int (*probe)(void));
int MPI_Probe_jump(int (*probe)(void))
{
	return jumped_to(probe);
}
