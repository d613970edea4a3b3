/* SPDX-License-Identifier: BSD-3-Clause
 * What a recorder that starts and a pdb that leaves remove of what jobs have left. */
#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "model/segment/segment.h"
#include "model/segment/segment_reader.h"
#include "model/segment/segment_sweep.h"
#include "tests/unit/segment_dir.h"

enum { ALL = 4096 };

static int setup_in_memory(void **state)
{
	return setup_in("/dev/shm", state);
}

/* Its time is so many seconds ago. */
static void make_older(const char *path, int seconds)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};

	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= seconds;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void set_unknown_parent(struct seg_header *h)
{
	h->parent_pid = 0;
}

static void set_parent(struct seg_header *h)
{
	h->parent_pid = getpid();
}

static void set_reused_parent(struct seg_header *h)
{
	h->parent_pid = getpid();
	h->pid_start = start_time(getpid()) - 1;
}

static void set_keeper(struct seg_header *h)
{
	h->parent_pid = 0;
	h->keeper = getpid();
}

static void set_live(struct seg_header *h)
{
	h->pid = getpid();
	h->pid_start = start_time(getpid());
	h->parent_pid = 0;
}

static void set_reused(struct seg_header *h)
{
	h->pid = getpid();
	h->pid_start = start_time(getpid()) - 1;
	h->parent_pid = 0;
}

static const struct {
	const char *name;
	void (*change)(struct seg_header *header);
	bool is_over;
} cases[] = {
	{"of nobody", set_unknown_parent, true},
	{"its launcher lives", set_parent, false},
	{"its launcher's pid is another's", set_reused_parent, true},
	{"its keeper lives", set_keeper, false},
	{"it lives", set_live, false},
	{"its pid is another's", set_reused, true},
};

/* First it is marked, and removed when it has been so for ten minutes, however old it was. */
static void test_single(void **state)
{
	struct fixture *fix = *state;
	struct seg_header usual;
	char path[4096];

	fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
	usual = fix->w->header;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		fix->w->header = usual;
		cases[i].change(&fix->w->header);
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
		make_older(path, 3600);
		assert_int_equal(segment_sweep(fix->dir, ALL, 0), 0);
		if (mode_of(path) != (cases[i].is_over ? 0400 : 0600))
			fail_msg("%s: mode %o", cases[i].name, mode_of(path));
		assert_int_equal(segment_sweep(fix->dir, ALL, 0), 0);
		make_older(path, SEGMENT_SWEEP_SECONDS - 60);
		assert_int_equal(segment_sweep(fix->dir, ALL, 0), 0);
		make_older(path, SEGMENT_SWEEP_SECONDS);
		if (segment_sweep(fix->dir, ALL, 0) != cases[i].is_over)
			fail_msg("%s: %s", cases[i].name, cases[i].is_over ? "stays" : "removed");
		assert_int_equal(exists(path), !cases[i].is_over);
		remove(path);
	}
}

/* One that is marked, and old, in this directory; the fixture's rank lives. */
static void save_due(struct fixture *fix, char path[4096])
{
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	assert_int_equal(chmod(path, 0400), 0);
	make_older(path, 3600);
}

/* A rank that has ended while others of its job go on, whose launcher is gone: it is told by that.
 */
static void test_job_lives(void **state)
{
	static const struct {
		void (*spoil)(struct seg_header *header);
		bool is_removed;
	} table[] = {
		{NULL, false},          {spoil_job, true},          {spoil_size, true},
		{spoil_own_rank, true}, {set_unknown_parent, true}, {spoil_later, true},
		{spoil_alive, false},
	};
	struct fixture *fix = *state;
	char live[4096], path[4096];
	struct seg_header usual;

	fix->w->header.parent_pid = start_ended(fix, NULL);
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, live), 0);
	fix->w->header.rank = 5;
	fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
	usual = fix->w->header;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		fix->w->header = usual;
		if (table[i].spoil)
			table[i].spoil(&fix->w->header);
		save_due(fix, path);
		if (segment_sweep(fix->dir, ALL, 0) != table[i].is_removed)
			fail_msg("case %zu: %s", i, table[i].is_removed ? "stays" : "removed");
		assert_true(exists(live));
		remove(path);
	}
}

/* A rank of another pid namespace: nothing here has its pid, but it has its segment mapped. Its
 * sibling that has ended there stays, too. */
static void test_elsewhere(void **state)
{
	struct fixture *fix = *state;
	char mapped[4096], ended[4096];
	void *map;
	int fd;

	fix->w->header.parent_pid = 0;
	fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, mapped), 0);
	fd = open(mapped, O_RDWR);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_int_equal(chmod(mapped, 0400), 0);
	make_older(mapped, 3600);
	fix->w->header.rank = 5;
	save_due(fix, ended);
	assert_int_equal(segment_sweep(fix->dir, ALL, 0), 0);
	munmap(map, 4096);
	assert_int_equal(segment_sweep(fix->dir, ALL, 0), 2);
}

/* Whatever else is there stays. */
static void test_others(void **state)
{
	static const struct {
		const char *name;
		mode_t mode;
		const char *magic;
	} files[] = {
		{"pdb.job.3", 0400, PDB_SEGMENT_MAGIC},
		{"other.job.3.999999999", 0400, PDB_SEGMENT_MAGIC},
		{"pdb.job.3.999999999", 0444, PDB_SEGMENT_MAGIC},
		{"pdb.job.3.999999999", 0400, "ELF"},
		{"pdb.job.3.999999999.gz", 0400, PDB_SEGMENT_MAGIC},
	};
	struct fixture *fix = *state;
	char path[256];

	fix->w->header.parent_pid = 0;
	fix->w->header.pid = 999999999;
	for (size_t i = 0; i < NUM_OF(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", fix->dir, files[i].name);
		assert_int_equal(segment_writer_save(fix->w, path), 0);
		write_at(path, 0, files[i].magic);
		assert_int_equal(chmod(path, files[i].mode), 0);
		make_older(path, 3600);
		assert_int_equal(segment_sweep(fix->dir, ALL, 0), 0);
		assert_true(exists(path));
		assert_int_equal(mode_of(path), files[i].mode);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/pdb.job.3.999999999", fix->dir);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(segment_sweep(fix->dir, ALL, 0), 0);
	assert_true(exists(path));
	assert_int_equal(segment_sweep("/no/such/directory", ALL, 0), 0);
}

/* Of another user: he may have let us write to it. */
static void test_not_own(void **state)
{
	struct fixture *fix = *state;
	char path[4096];

	if (geteuid() != 0)
		skip();
	fix->w->header.parent_pid = 0;
	fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
	save_due(fix, path);
	assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
	assert_int_equal(segment_sweep(fix->dir, ALL, 0), 0);
	assert_true(exists(path));
}

/* What a killed process left in the midst of making it goes by its name. */
static void test_unfinished(void **state)
{
	struct fixture *fix = *state;
	char path[256];

	for (off_t size = 0; size <= 8192; size += 4096) {
		int fd;

		snprintf(path, sizeof(path), "%s/pdb.job.0.%d", fix->dir,
			 (int)start_ended(fix, NULL));
		fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
		assert_int_equal(ftruncate(fd, size), 0);
		assert_int_equal(segment_sweep(fix->dir, ALL, 0), 0);
		assert_int_equal(mode_of(path), 0600);
		close(fd);
		assert_int_equal(segment_sweep(fix->dir, ALL, 0), 0);
		assert_int_equal(mode_of(path), 0400);
		make_older(path, SEGMENT_SWEEP_SECONDS);
		assert_int_equal(segment_sweep(fix->dir, ALL, 0), 1);
	}
}

/* A few at a time, others each time; the directory may be shared by machines where it is not
 * memory. */
static void test_bounds(void **state)
{
	struct fixture *fix = *state;
	int fds = dup(0), removed = 0, rounds;
	char path[4096];

	close(fds);
	fix->w->header.parent_pid = 0;
	for (int i = 0; i < 200; i++) {
		fix->w->header.pid = 900000000 + i;
		save_due(fix, path);
	}
	errno = 0;
	for (rounds = 0; removed < 200 && rounds < 200; rounds++) {
		int now = segment_sweep(fix->dir, 8, (unsigned)rounds);

		assert_in_range(now, 0, 8);
		removed += now;
	}
	assert_int_equal(removed, is_in_memory(fix->dir) ? 200 : 0);
	assert_int_equal(dup(0), fds);
	close(fds);
}

/* Names of others are not read without end: a rank that starts would wait for it. */
static void test_many_files(void **state)
{
	struct fixture *fix = *state;
	char path[4096], other[256];

	fix->w->header.parent_pid = 0;
	fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
	save_due(fix, path);
	for (int i = 0; i < SEGMENT_SWEEP_FILES; i++) {
		snprintf(other, sizeof(other), "%s/other.%d", fix->dir, i);
		close(open(other, O_WRONLY | O_CREAT | O_EXCL, 0600));
	}
	assert_int_equal(segment_sweep(fix->dir, 1, 0), 0);
	assert_true(exists(path));
	for (int i = 0; i < SEGMENT_SWEEP_FILES; i++) {
		snprintf(other, sizeof(other), "%s/other.%d", fix->dir, i);
		unlink(other);
	}
	assert_int_equal(segment_sweep(fix->dir, 1, 0) + segment_sweep(fix->dir, 1, 1), 1);
}

/* In a child of which leases are refused, as where the system has them turned off. */
static void refuse_leases(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETLEASE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {NUM_OF(code), code};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* Then nobody knows whether it is of a rank in another pid namespace. */
static void test_no_leases(void **state)
{
	struct fixture *fix = *state;
	char path[4096];
	int status;
	pid_t pid;

	fix->w->header.parent_pid = 0;
	fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
	save_due(fix, path);
	pid = fork();
	if (pid == 0) {
		refuse_leases();
		_exit(segment_sweep(fix->dir, ALL, 0));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(exists(path));
	assert_int_equal(segment_sweep(fix->dir, ALL, 0), 1);
}

/* As a site may mount /proc: then processes of others, as a batch system's launcher, are not to be
 * seen. */
static void test_hidden_processes(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("proc", "/proc", "proc", 0, "hidepid=2") < 0 || setgid(12345) < 0 ||
		    setgroups(0, NULL) < 0 || setuid(12345) < 0 || access("/proc/1", F_OK) == 0)
			_exit(77);
		_exit(segment_process_start(1) == -1 && segment_process_start(getpid()) > 0 ? 0
											    : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define in_memory(test) cmocka_unit_test_setup_teardown(test, setup_in_memory, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_memory(test_single),
		in_memory(test_job_lives),
		in_memory(test_elsewhere),
		in_memory(test_others),
		in_memory(test_not_own),
		in_memory(test_unfinished),
		in_memory(test_bounds),
		in_memory(test_many_files),
		in_memory(test_no_leases),
		cmocka_unit_test(test_hidden_processes),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
