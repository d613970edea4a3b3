/* SPDX-License-Identifier: BSD-3-Clause
 * What is removed of a job that pdb has ended, while its processes end thread by thread. */
#include <pthread.h>
#include <sys/mman.h>

#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/segment/segment.h"
#include "shell/start/launch.h"
#include "shell/session.h"
#include "tests/unit/child.h"
#include "tests/unit/segment_dir.h"

/* Longer than leftovers_remove() takes if it does not wait, far shorter than it waits at most. */
enum { GOES_ON_US = 300000 };

static void *go_on(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	usleep(GOES_ON_US);
	_exit(0);
}

/* A rank that has its segment mapped, and goes on for a while without its first thread. */
static void end_in_parts(const void *fixture, int ready)
{
	static pthread_t first;
	struct fixture fix = *(const struct fixture *)fixture;
	char path[4096];
	pthread_t other;
	int fd;

	first = pthread_self();
	save_as(&fix, "job", getpid(), start_time(getpid()), path);
	fd = open(path, O_RDWR);
	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ||
	    pthread_create(&other, NULL, go_on, &first))
		_exit(1);
	close(fd);
	tell(ready);
	pthread_exit(NULL);
}

static void test_end_in_parts(void **state)
{
	struct fixture *fix = *state;
	pid_t pid = start(end_in_parts, fix);
	struct leftovers *leftovers;
	struct session session;
	char path[256];

	snprintf(path, sizeof(path), "%s/%sjob.3.%d", fix->dir, PDB_SEGMENT_PREFIX, (int)pid);
	assert_int_equal(setenv(PDB_ENV_DIR, fix->dir, 1), 0);
	session_init(&session);
	session.job = job_create();
	proctable_add(session.job->proctable, 3, pid, "localhost", "rank");
	assert_int_equal(proctable_finish(session.job->proctable, NULL), 0);
	leftovers = leftovers_note(&session);

	wait_for_state(pid, 'Z');
	assert_true(exists(path));
	leftovers_remove(leftovers);
	assert_false(exists(path));

	session_deinit(&session);
	unsetenv(PDB_ENV_DIR);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_end_in_parts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
