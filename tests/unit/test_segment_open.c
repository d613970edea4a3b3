/* SPDX-License-Identifier: BSD-3-Clause
 * Finding and opening the segment of a process. */
#include <signal.h>

#include "model/segment/segment_reader.h"
#include "tests/unit/segment_dir.h"

static void assert_opens(pid_t pid)
{
	struct pdb_error err = {0};
	struct seg_header header;
	int fd = segment_open_pid(pid, &err);

	if (fd < 0)
		fail_msg("%s", err.text);
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(header.rank, 3);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void assert_refused(pid_t pid, enum error_code code, const char *part)
{
	struct pdb_error err = {0};

	assert_int_equal(segment_open_pid(pid, &err), -1);
	assert_error(&err, code, part);
}

static void test_found(void **state)
{
	struct fixture *fix = *state;
	char path[4096];

	assert_refused(fix->child.pid, ERROR_NOT_FOUND, "no recorder");
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	assert_opens(fix->child.pid);
}

/* Left-overs of earlier processes, other ranks' and other files are passed by. */
static void test_left_overs(void **state)
{
	struct fixture *fix = *state;
	char path[4096], name[4200];

	fix->w->header.pid_start--;
	strcpy(fix->w->header.job, "earlier");
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	fix->w->header.pid_start++;
	fix->w->header.pid++;
	snprintf(name, sizeof(name), "%s/pdb.other.0.%d", fix->dir, (int)fix->child.pid);
	assert_int_equal(segment_writer_save(fix->w, name), 0);
	snprintf(name, sizeof(name), "%s/other.0.%d", fix->dir, (int)fix->child.pid);
	fix->w->header.pid--;
	assert_int_equal(segment_writer_save(fix->w, name), 0);
	assert_refused(fix->child.pid, ERROR_NOT_FOUND, "no recorder");
	strcpy(fix->w->header.job, "this/job");
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	assert_non_null(strstr(path, "pdb.this_job.3."));
	assert_opens(fix->child.pid);
}

static void spoil_mode(const char *path)
{
	assert_int_equal(chmod(path, 0644), 0);
}

static void spoil_owner(const char *path)
{
	assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
}

static void spoil_link(const char *path)
{
	char target[4200];

	snprintf(target, sizeof(target), "%s.moved", path);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
}

static void spoil_fifo(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void spoil_directory(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void spoil_magic(const char *path)
{
	write_at(path, 0, "ELF");
}

static void spoil_version(const char *path)
{
	write_at(path, offsetof(struct seg_header, version), "\xff");
}

static void spoil_length(const char *path)
{
	assert_int_equal(truncate(path, 100), 0);
}

static void test_refused(void **state)
{
	static const struct {
		void (*spoil)(const char *path);
		bool needs_root;
		enum error_code code;
		const char *part;
	} table[] = {
		{spoil_mode, false, ERROR_PERMISSION, "mode 0644"},
		{spoil_owner, true, ERROR_PERMISSION, "belongs to user 12345"},
		{spoil_link, false, ERROR_PERMISSION, "symbolic link"},
		{spoil_fifo, false, ERROR_PERMISSION, "not a regular file"},
		{spoil_directory, false, ERROR_PERMISSION, "not a regular file"},
		{spoil_magic, false, ERROR_FORMAT, "magic"},
		{spoil_version, false, ERROR_VERSION, "version"},
		{spoil_length, false, ERROR_FORMAT, "truncated"},
	};
	struct fixture *fix = *state;

	for (size_t i = 0; i < NUM_OF(table); i++) {
		char path[4096];

		if (table[i].needs_root && geteuid() != 0)
			continue;
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
		table[i].spoil(path);
		assert_refused(fix->child.pid, table[i].code, table[i].part);
		assert_int_equal(remove(path), 0);
	}
}

static void test_no_process(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child(fix->dir, false);
	siginfo_t info;
	char path[4096];

	fix->w->header.pid = child.pid;
	fix->w->header.pid_start = start_time(child.pid);
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	assert_opens(child.pid);
	close(child.stdin_fd);
	/* A zombie first, then nothing. */
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_refused(child.pid, ERROR_GONE, "has ended");
	waitpid(child.pid, NULL, 0);
	assert_refused(child.pid, ERROR_GONE, "no process");
	assert_refused(0, ERROR_GONE, "no process");
	assert_refused(-1, ERROR_GONE, "no process");
}

static void test_directories(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child("/no/such/directory", false);
	char link[80], path[4096];

	assert_refused(child.pid, ERROR_NOT_FOUND, "/no/such/directory");
	end_child(&child);
	child = start_child("segments", false);
	assert_refused(child.pid, ERROR_UNSUPPORTED, "an absolute path");
	end_child(&child);
	/* Nothing in its environment: the default. */
	child = start_child(NULL, false);
	assert_refused(child.pid, ERROR_NOT_FOUND, "no recorder");
	end_child(&child);
	/* By an absolute link on the way, as /dev/shm is on some systems. */
	snprintf(link, sizeof(link), "%s/link", fix->dir);
	assert_int_equal(symlink(fix->dir, link), 0);
	child = start_child(link, false);
	fix->w->header.pid = child.pid;
	fix->w->header.pid_start = start_time(child.pid);
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	assert_opens(child.pid);
	end_child(&child);
}

/* A rank in a pid namespace of its own names its segment after the pid that it sees. */
static void test_pid_namespace(void **state)
{
	struct fixture *fix = *state;
	struct child outside = start_child(fix->dir, true);
	char path[4096], file[64];
	int inside = 0;
	FILE *children;

	snprintf(file, sizeof(file), "/proc/%d/task/%d/children", (int)outside.pid,
		 (int)outside.pid);
	children = fopen(file, "r");
	if (children) {
		if (fscanf(children, "%d", &inside) != 1)
			inside = 0;
		fclose(children);
	}
	if (!inside) {
		end_child(&outside);
		skip();
	}
	fix->w->header.pid = 1;
	fix->w->header.pid_start = start_time(inside);
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	assert_opens(inside);
	end_child(&outside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_overs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directories, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pid_namespace, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
