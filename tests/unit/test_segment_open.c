/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/segment_reader.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

/* A live process with an environment of its own: cat, which ends when its stdin does. */
struct child {
	pid_t pid;
	int stdin_fd;
};

static struct child start_child(const char *dir, bool own_pid_namespace)
{
	char variable[256];
	char *env[] = { variable, NULL }, *argv[] = { (char *)"cat", NULL };
	struct child child;
	int in[2], started[2];
	char byte;

	snprintf(variable, sizeof(variable), "%s%s", dir ? PDB_ENV_DIR "=" : "OTHER=", dir ? dir : "x");
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(started, O_CLOEXEC), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		close(in[1]);
		dup2(in[0], 0);
		/* The process itself stays outside; its child is pid 1 inside. */
		if (own_pid_namespace) {
			if (unshare(CLONE_NEWPID) < 0)
				_exit(77);
			child.pid = fork();
			if (child.pid > 0) {
				close(started[1]);
				waitpid(child.pid, NULL, 0);
				_exit(0);
			}
		}
		execve("/bin/cat", argv, env);
		_exit(127);
	}
	close(in[0]);
	close(started[1]);
	child.stdin_fd = in[1];
	/* Ends when the exec has closed the last copy. */
	assert_int_equal(read(started[0], &byte, 1), 0);
	close(started[0]);
	return child;
}

static void end_child(struct child *child)
{
	close(child->stdin_fd);
	waitpid(child->pid, NULL, 0);
}

static uint64_t start_time(pid_t pid)
{
	unsigned long long start = 0;
	char path[64];
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	stat = fopen(path, "r");
	assert_non_null(stat);
	assert_int_equal(fscanf(stat,
				"%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u "
				"%*d %*d %*d %*d %*d %*d %llu",
				&start),
			 1);
	fclose(stat);
	return start;
}

struct fixture {
	char dir[64];
	struct child child;
	struct segment_writer *w; /* of the child */
};

static int setup(void **state)
{
	struct fixture *fix = calloc(1, sizeof(*fix));

	strcpy(fix->dir, "/tmp/test_segment_open.XXXXXX");
	assert_non_null(mkdtemp(fix->dir));
	fix->child = start_child(fix->dir, false);
	fix->w = segment_writer_create(3, 8);
	fix->w->header.pid = fix->child.pid;
	fix->w->header.pid_start = start_time(fix->child.pid);
	*state = fix;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fix = *state;
	char command[128];

	end_child(&fix->child);
	segment_writer_destroy(fix->w);
	snprintf(command, sizeof(command), "rm -r %s", fix->dir);
	assert_int_equal(system(command), 0);
	free(fix);
	return 0;
}

static void assert_opens(pid_t pid)
{
	struct pdb_error err = { 0 };
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
	struct pdb_error err = { 0 };

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

static void write_at(const char *path, off_t offset, const char *text)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, text, strlen(text), offset), strlen(text));
	close(fd);
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
		enum error_code code, code_by_name;
		const char *part;
	} table[] = {
		{ spoil_mode, false, ERROR_PERMISSION, ERROR_PERMISSION, "mode 0644" },
		{ spoil_owner, true, ERROR_PERMISSION, ERROR_NONE, "belongs to user 12345" },
		{ spoil_link, false, ERROR_PERMISSION, ERROR_PERMISSION, "symbolic link" },
		{ spoil_fifo, false, ERROR_PERMISSION, ERROR_PERMISSION, "not a regular file" },
		{ spoil_directory, false, ERROR_PERMISSION, ERROR_PERMISSION, "not a regular file" },
		{ spoil_magic, false, ERROR_FORMAT, ERROR_FORMAT, "magic" },
		{ spoil_version, false, ERROR_VERSION, ERROR_VERSION, "version" },
		{ spoil_length, false, ERROR_FORMAT, ERROR_FORMAT, "truncated" },
	};
	struct fixture *fix = *state;

	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct pdb_error err = { 0 };
		char path[4096];
		int fd;

		if (table[i].needs_root && geteuid() != 0)
			continue;
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
		fd = segment_open_file(path, &err);
		assert_true(fd >= 0);
		close(fd);
		table[i].spoil(path);
		assert_refused(fix->child.pid, table[i].code, table[i].part);
		fd = segment_open_file(path, &err);
		assert_int_equal(fd < 0 ? err.code : ERROR_NONE, table[i].code_by_name);
		if (fd >= 0)
			close(fd);
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

	snprintf(file, sizeof(file), "/proc/%d/task/%d/children", (int)outside.pid, (int)outside.pid);
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

static void test_file(void **state)
{
	struct fixture *fix = *state;
	struct pdb_error err = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/none", fix->dir);
	assert_int_equal(segment_open_file(path, &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, "none");
	/* Its process need not live, and need not be of this machine. */
	fix->w->header.pid = 1;
	fix->w->header.pid_start = 1;
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	close(segment_open_file(path, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
}

/* ---- What ranks of a live job have left -------------------------------------------------------- */

static int start_ended(struct fixture *fix, uint64_t *start_ret)
{
	struct child child = start_child(fix->dir, false);

	*start_ret = start_time(child.pid);
	end_child(&child);
	return child.pid;
}

static void spoil_job(struct seg_header *h)
{
	strcpy(h->job, "another");
}

static void spoil_host(struct seg_header *h)
{
	strcpy(h->host, "elsewhere.example");
}

static void spoil_size(struct seg_header *h)
{
	h->size++;
}

static void spoil_rank(struct seg_header *h)
{
	h->rank = h->size;
}

static void spoil_no_rank(struct seg_header *h)
{
	h->rank = -1;
}

static void spoil_own_rank(struct seg_header *h)
{
	h->rank = 3;
}

static void spoil_parent(struct seg_header *h)
{
	h->parent_pid--;
}

static void spoil_no_parent(struct seg_header *h)
{
	h->parent_pid = 0;
}

static void spoil_user(struct seg_header *h)
{
	h->uid++;
}

static void spoil_before(struct seg_header *h)
{
	h->pid_start = start_time(getpid()) - 1;
}

static void spoil_later(struct seg_header *h)
{
	h->pid_start += 60 * (uint64_t)sysconf(_SC_CLK_TCK);
}

static void spoil_alive(struct seg_header *h)
{
	h->pid = getpid();
	h->pid_start = start_time(getpid());
}

/* The live rank 3 of 8, and what rank 5 may have left. */
static void test_left(void **state)
{
	static const struct {
		void (*spoil)(struct seg_header *header);
		int num;
	} table[] = {
		{ NULL, 1 },		{ spoil_job, 0 },     { spoil_host, 0 },
		{ spoil_size, 0 },	{ spoil_rank, 0 },    { spoil_no_rank, 0 },
		{ spoil_own_rank, 0 },	{ spoil_parent, 0 },  { spoil_no_parent, 0 },
		{ spoil_user, 0 },	{ spoil_before, 0 },  { spoil_later, 0 },
		{ spoil_alive, 0 },
	};
	struct fixture *fix = *state;
	struct pdb_error err = { 0 };
	struct seg_header usual;
	char path[4096];
	uint64_t start;
	pid_t ended = start_ended(fix, &start);

	fix->w->header.parent_pid = getpid();
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	usual = fix->w->header;
	usual.rank = 5;
	usual.pid = ended;
	usual.pid_start = start;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct segment_left *left = NULL;

		fix->w->header = usual;
		if (table[i].spoil)
			table[i].spoil(&fix->w->header);
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
		if (segment_find_left(fix->child.pid, &left, &err) != table[i].num)
			fail_msg("case %zu: not %d", i, table[i].num);
		if (table[i].num) {
			assert_int_equal(left[0].rank, 5);
			assert_int_equal(left[0].pid, ended);
		}
		free(left);
		assert_int_equal(remove(path), 0);
	}
}

/* Sorted, each rank once, and those whose pid is another process' by now. */
static void test_left_many(void **state)
{
	static const struct {
		int rank;
		bool is_reused;
	} table[] = { { 7, false }, { 2, true }, { 7, false }, { 0, false } };
	struct fixture *fix = *state;
	struct segment_left *left;
	struct pdb_error err = { 0 };
	char path[4096];

	fix->w->header.parent_pid = getpid();
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	for (size_t i = 0; i < NUM_OF(table); i++) {
		fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
		fix->w->header.rank = table[i].rank;
		if (table[i].is_reused)
			fix->w->header.pid = getppid();
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	}
	assert_int_equal(segment_find_left(fix->child.pid, &left, &err), 3);
	assert_int_equal(left[0].rank, 0);
	assert_int_equal(left[1].rank, 2);
	assert_int_equal(left[2].rank, 7);
	free(left);
}

/* Nothing is known of what others left when the live rank does not say who started it. */
static void test_left_unknown(void **state)
{
	static const int parents[] = { 0, 1, -7 };
	struct fixture *fix = *state;
	struct pdb_error err = { 0 };
	struct segment_left *left;
	pid_t pid = fix->w->header.pid;
	uint64_t pid_start = fix->w->header.pid_start;
	char live[4096], path[4096];

	assert_int_equal(segment_find_left(fix->child.pid, &left, &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, "no recorder");
	for (size_t i = 0; i <= NUM_OF(parents); i++) {
		uint64_t start;

		/* The last of them has ended. */
		fix->w->header.parent_pid =
			i < NUM_OF(parents) ? parents[i] : start_ended(fix, &start);
		fix->w->header.rank = 3;
		fix->w->header.pid = pid;
		fix->w->header.pid_start = pid_start;
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, live), 0);
		fix->w->header.rank = 5;
		fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
		assert_int_equal(segment_find_left(fix->child.pid, &left, &err), 0);
		assert_null(left);
		assert_int_equal(remove(live), 0);
		assert_int_equal(remove(path), 0);
	}
}

/* ---- Cleaning up ----------------------------------------------------------------------------- */

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void save_as(struct fixture *fix, const char *job, pid_t pid, uint64_t start, char path[4096])
{
	strcpy(fix->w->header.job, job);
	fix->w->header.pid = pid;
	fix->w->header.pid_start = start;
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
}

static void test_clean(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child(fix->dir, false);
	pid_t live = fix->child.pid, dead = child.pid;
	uint64_t start = start_time(dead);
	char alive[4096], gone[4096], reused[4096], mapped[4096], open_mode[4096], garbage[4096];
	char other[80];
	struct pdb_error err = { 0 };
	void *map;
	int fd;

	save_as(fix, "alive", live, start_time(live), alive);
	save_as(fix, "gone", dead, start, gone);
	save_as(fix, "reused", live, start_time(live) - 1, reused);
	save_as(fix, "mapped", dead, start, mapped);
	save_as(fix, "open", dead, start, open_mode);
	save_as(fix, "garbage", dead, start, garbage);
	end_child(&child);
	snprintf(other, sizeof(other), "%s/other", fix->dir);
	assert_int_equal(segment_writer_save(fix->w, other), 0);
	assert_int_equal(chmod(open_mode, 0644), 0);
	write_at(garbage, 0, "ELF");
	/* A writer whose pid is not visible here still has its segment mapped. */
	fd = open(mapped, O_RDWR);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);

	assert_int_equal(segment_clean(fix->dir, &err), 2);
	assert_false(exists(gone) || exists(reused));
	assert_true(exists(alive) && exists(mapped) && exists(open_mode) && exists(garbage) &&
		    exists(other));
	munmap(map, 4096);
	assert_int_equal(segment_clean(fix->dir, &err), 1);
	assert_false(exists(mapped));
	assert_int_equal(segment_clean(fix->dir, &err), 0);
	assert_opens(live);
}

/* What a rank has left while others of its job go on tells that it has ended: until they have, too. */
static void test_clean_live_job(void **state)
{
	static const struct {
		void (*spoil)(struct seg_header *header);
		bool is_removed;
	} table[] = {
		{ NULL, false },	 { spoil_job, true },	    { spoil_size, true },
		{ spoil_rank, true },	 { spoil_own_rank, true }, { spoil_parent, true },
		{ spoil_before, true },	 { spoil_later, true },	    { spoil_alive, false },
	};
	struct fixture *fix = *state;
	struct pdb_error err = { 0 };
	struct seg_header usual;
	char live[4096], path[4096];

	fix->w->header.parent_pid = getpid();
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, live), 0);
	fix->w->header.rank = 5;
	fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
	usual = fix->w->header;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		fix->w->header = usual;
		if (table[i].spoil)
			table[i].spoil(&fix->w->header);
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
		if (segment_clean(fix->dir, &err) != table[i].is_removed)
			fail_msg("case %zu: %s", i, table[i].is_removed ? "stays" : "removed");
		assert_true(exists(live));
		assert_int_equal(exists(path), !table[i].is_removed);
		remove(path);
	}
	fix->w->header = usual;
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	end_child(&fix->child);
	assert_int_equal(segment_clean(fix->dir, &err), 2);
	fix->child = start_child(fix->dir, false);
}

/* One job's: another's stay, also those of an earlier process with the same pid. */
static void test_clean_of(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child(fix->dir, false), other = start_child(fix->dir, false);
	pid_t live = fix->child.pid;
	struct segment_process processes[] = { { child.pid, start_time(child.pid) },
					       { live, start_time(live) } };
	char alive[4096], gone[4096], earlier[4096], others[4096];
	struct pdb_error err = { 0 };

	save_as(fix, "alive", live, start_time(live), alive);
	save_as(fix, "gone", child.pid, start_time(child.pid), gone);
	save_as(fix, "earlier", child.pid, start_time(child.pid) - 1, earlier);
	save_as(fix, "others", other.pid, start_time(other.pid), others);
	end_child(&child);
	end_child(&other);

	assert_int_equal(segment_clean_of(fix->dir, NULL, 0, &err), 0);
	assert_true(exists(gone));
	assert_int_equal(segment_clean_of(fix->dir, processes, 2, &err), 1);
	assert_false(exists(gone));
	assert_true(exists(alive) && exists(earlier) && exists(others));
	assert_int_equal(segment_clean_of("/no/such/directory", processes, 2, &err), -1);
}

/* Of a rank that has ended, for a keeper. */
static void save_kept(struct fixture *fix, const char *job, int rank, const struct child *child,
		      uint64_t start, pid_t keeper, char path[4096])
{
	fix->w->header.rank = rank;
	fix->w->header.keeper = keeper;
	save_as(fix, job, child->pid, start, path);
}

static void test_take_kept(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child(fix->dir, false), other = start_child(fix->dir, false);
	char first[4096], again[4096], second[4096], others[4096], alive[4096];
	uint64_t start = start_time(child.pid), other_start = start_time(other.pid);
	struct pdb_error err = { 0 };
	struct segment_kept *kept;

	save_kept(fix, "b", 1, &child, start, getpid(), first);
	save_kept(fix, "b", 0, &other, other_start, getpid(), second);
	/* An earlier program of the same rank. */
	save_kept(fix, "b", 0, &child, start - 1, getpid(), again);
	save_kept(fix, "c", 0, &child, start, 1, others);
	save_kept(fix, "d", 0, &fix->child, start_time(fix->child.pid), getpid(), alive);
	end_child(&child);
	end_child(&other);

	/* They wait for their keepers. */
	assert_int_equal(segment_clean(fix->dir, &err), 0);
	assert_int_equal(segment_take_kept(fix->dir, getpid(), &kept, &err), 2);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(kept[i].job, "b");
		assert_int_equal(kept[i].rank, i);
		assert_false(segment_has_traces(kept[i].fd));
	}
	assert_true(kept[0].start == other_start);
	assert_false(exists(first) || exists(second) || exists(again));
	assert_true(exists(others) && exists(alive));
	segment_kept_free(kept, 2);
	assert_int_equal(segment_take_kept(fix->dir, getpid(), &kept, &err), 0);
	segment_kept_free(kept, 0);
	assert_int_equal(segment_take_kept("/nowhere", getpid(), &kept, &err), -1);
	fix->w->header.keeper = 0;
}

/* The pid of another machine's rank is nobody's here. */
static void test_clean_shared(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child(fix->dir, false);
	struct pdb_error err = { 0 };
	struct statfs fs;
	char path[4096];
	bool is_memory;

	assert_int_equal(statfs(fix->dir, &fs), 0);
	is_memory = fs.f_type == TMPFS_MAGIC;
	strcpy(fix->w->header.host, "elsewhere.example");
	save_as(fix, "far", child.pid, start_time(child.pid), path);
	end_child(&child);
	assert_int_equal(segment_clean(fix->dir, &err), is_memory);
	assert_int_equal(exists(path), !is_memory);
}

static void test_clean_refused(void **state)
{
	struct pdb_error err = { 0 };

	(void)state;
	assert_int_equal(segment_clean("/no/such/directory", &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, "/no/such/directory");
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
		cmocka_unit_test_setup_teardown(test_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clean, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clean_live_job, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clean_of, setup, teardown),
		cmocka_unit_test_setup_teardown(test_take_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clean_shared, setup, teardown),
		cmocka_unit_test(test_clean_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
