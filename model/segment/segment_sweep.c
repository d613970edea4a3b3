/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/segment/segment_sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "model/segment/segment.h"

enum { START_SECONDS = 10 };
enum { MOST_REMOVED = 16, NAME_SIZE = 128, DIRECTORY_BYTES = 8192 };

bool segment_parse_stat(const char *stat, char *state, uint64_t *start)
{
	/* The name before this may hold anything. */
	const char *end = strrchr(stat, ')');
	unsigned long long ticks;

	if (!end || sscanf(end,
			   ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			   "%*d %*d %llu",
			   state, &ticks) != 2)
		return false;
	*start = ticks;
	return true;
}

int64_t segment_process_start(pid_t pid)
{
	char path[32], text[1024], state;
	uint64_t start;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && kill(pid, 0) < 0 && errno == ESRCH ? 0 : -1;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		n = errno == ESRCH ? 0 : -1;
	close(fd);
	if (n <= 0)
		return n;
	text[n] = '\0';
	if (!segment_parse_stat(text, &state, &start))
		return -1;
	return state == 'Z' || state == 'X' ? 0 : (int64_t)start;
}

bool segment_is_one_start(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= START_SECONDS * (uint64_t)sysconf(_SC_CLK_TCK);
}

/* A read lease is only given when there is none. */
int segment_has_writer(int fd)
{
	/* Should somebody open it just now, the kernel's signal must not end this program. */
	fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN ? 1 : -1;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return 0;
}

bool segment_is_in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

pid_t segment_name_pid(const char *name, int *job_length)
{
	static const char letters[] = "0123456789@_-"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	char job[128], again[256];
	int rank;
	pid_t pid;

	if (sscanf(name, PDB_SEGMENT_PREFIX "%127[^.].%d.%d", job, &rank, &pid) != 3 || rank < -1 ||
	    pid <= 0 || job[strspn(job, letters)])
		return 0;
	snprintf(again, sizeof(again), PDB_SEGMENT_PREFIX "%s.%d.%d", job, rank, (int)pid);
	if (strcmp(again, name) != 0)
		return 0;
	*job_length = (int)(strlen(PDB_SEGMENT_PREFIX) + strlen(job) + 1);
	return pid;
}

/* opendir() would allocate. */
struct listing {
	int fd;
	long have, at;
	_Alignas(struct dirent64) char bytes[DIRECTORY_BYTES];
};

static const char *next_name(struct listing *l)
{
	if (l->at >= l->have) {
		l->have = syscall(SYS_getdents64, l->fd, l->bytes, sizeof(l->bytes));
		l->at = 0;
	}
	if (l->have <= 0)
		return NULL;
	const struct dirent64 *entry = (const struct dirent64 *)(l->bytes + l->at);
	l->at += entry->d_reclen;
	return entry->d_name;
}

static void rewind_listing(struct listing *l)
{
	lseek(l->fd, 0, SEEK_SET);
	l->have = l->at = 0;
}

/* The segment's header, or zeros where it was never finished. -1: none, or not the caller's. */
static int open_own(int dir, const char *name, struct stat *st, struct seg_header *header)
{
	static const char nothing[8];
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -1;
	memset(header, 0, sizeof(*header));
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	    !(st->st_mode & 077) && pread(fd, header, sizeof(*header), 0) >= 0 &&
	    (memcmp(header->magic, nothing, sizeof(nothing)) == 0 ||
	     (memcmp(header->magic, PDB_SEGMENT_MAGIC, sizeof(header->magic)) == 0 &&
	      header->version == PDB_SEGMENT_VERSION &&
	      header->byte_order == PDB_SEGMENT_BYTE_ORDER)))
		return fd;
	close(fd);
	return -1;
}

/* Or nobody knows. `start`: as the header says; 0: any process of that pid counts. */
static bool is_alive(pid_t pid, uint64_t start)
{
	int64_t now = segment_process_start(pid);

	return now < 0 || (now > 0 && (start == 0 || (uint64_t)now == start));
}

/* Is who started it there, who may be the job's launcher? One that is younger than the rank is
 * another process; 1 adopts whoever is left. */
static bool has_parent(const struct seg_header *header)
{
	int64_t now = header->parent_pid > 1 ? segment_process_start(header->parent_pid) : 0;

	return now < 0 || (now > 0 && (uint64_t)now <= header->pid_start);
}

static bool has_keeper(const struct seg_header *header)
{
	return header->keeper > 0 && (kill(header->keeper, 0) == 0 || errno != ESRCH);
}

static bool is_over(int fd, pid_t pid, const struct seg_header *header)
{
	return !is_alive(pid, header->pid_start) && !has_parent(header) && !has_keeper(header) &&
	       segment_has_writer(fd) == 0;
}

/* Has it been marked for long enough? Marks it if it is not. */
static bool is_due(int fd, const struct stat *st)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};

	if (st->st_mode & 0200) {
		if (futimens(fd, times) == 0)
			fchmod(fd, 0400);
		return false;
	}
	return time(NULL) - st->st_mtim.tv_sec >= SEGMENT_SWEEP_SECONDS;
}

struct due {
	ino_t inode;
	int job_length, rank, size, parent;
	uint64_t start;
	bool is_needed; /* a rank of its job lives */
	char name[NAME_SIZE];
};

/* Segments of the directory whose time has come, each `step`th file at most. */
static int find_due(struct listing *l, unsigned step, unsigned first, struct due due[MOST_REMOVED])
{
	unsigned index = 0;
	const char *name;
	int num = 0;

	while (num < MOST_REMOVED && (name = next_name(l))) {
		struct seg_header header;
		struct stat st;
		int job_length, fd;
		pid_t pid = segment_name_pid(name, &job_length);

		if (!pid || strlen(name) >= NAME_SIZE || index++ % step != first)
			continue;
		fd = open_own(l->fd, name, &st, &header);
		if (fd < 0)
			continue;
		if (is_over(fd, pid, &header) && is_due(fd, &st)) {
			due[num] = (struct due){.inode = st.st_ino,
						.job_length = job_length,
						.rank = header.rank,
						.size = header.size,
						.parent = header.parent_pid,
						.start = header.pid_start};
			memcpy(due[num++].name, name, strlen(name) + 1);
		}
		close(fd);
	}
	return num;
}

/* May it be of a rank of the same job? A file that was never finished tells nothing of any. */
static bool is_of_its_job(const struct due *due, const char *name, const struct seg_header *header)
{
	return due->size > 0 && header->size == due->size && header->rank != due->rank &&
	       header->parent_pid == due->parent &&
	       strncmp(name, due->name, (size_t)due->job_length) == 0 &&
	       segment_is_one_start(header->pid_start, due->start);
}

static bool may_be_needed(const char *name, const struct due *due, int num)
{
	for (int i = 0; i < num; i++)
		if (!due[i].is_needed && strncmp(name, due[i].name, (size_t)due[i].job_length) == 0)
			return true;
	return false;
}

/* Spare those of jobs of which something lives, also in another pid namespace. */
static void spare_needed(struct listing *l, struct due *due, int num)
{
	const char *name;

	while ((name = next_name(l))) {
		struct seg_header header;
		struct stat st;
		int job_length, fd;
		pid_t pid = segment_name_pid(name, &job_length);

		if (!pid || !may_be_needed(name, due, num))
			continue;
		fd = open_own(l->fd, name, &st, &header);
		if (fd < 0)
			continue;
		for (int i = 0; i < num; i++)
			if (is_of_its_job(&due[i], name, &header) && !is_over(fd, pid, &header))
				due[i].is_needed = true;
		close(fd);
	}
}

/* 0 as well if the directory has more than so many files. */
static unsigned count_segments(struct listing *l, unsigned most_files)
{
	unsigned num = 0, files = 0;
	const char *name;

	while ((name = next_name(l))) {
		if (++files > most_files)
			return 0;
		num += strncmp(name, PDB_SEGMENT_PREFIX, strlen(PDB_SEGMENT_PREFIX)) == 0;
	}
	return num;
}

/* Does /proc show the processes of this one's pid namespace? */
static bool sees_processes(void)
{
	char text[16] = "";

	return readlink("/proc/self", text, sizeof(text) - 1) > 0 && atoi(text) == getpid();
}

static int sweep(struct listing *l, unsigned most, unsigned seed)
{
	unsigned num_segments = count_segments(l, most * SEGMENT_SWEEP_FILES);
	unsigned step = num_segments / most + 1;
	struct due due[MOST_REMOVED];
	int num, removed = 0;
	struct stat now;

	if (num_segments == 0)
		return 0;
	rewind_listing(l);
	num = find_due(l, step, seed % step, due);
	if (num == 0)
		return 0;
	rewind_listing(l);
	spare_needed(l, due, num);
	for (int i = 0; i < num; i++)
		removed += !due[i].is_needed &&
			   fstatat(l->fd, due[i].name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
			   now.st_ino == due[i].inode && unlinkat(l->fd, due[i].name, 0) == 0;
	return removed;
}

int segment_sweep(const char *dir, unsigned most, unsigned seed)
{
	struct listing l = {.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	int removed = 0;

	if (l.fd < 0)
		return 0;
	if (segment_is_in_memory(l.fd) && sees_processes())
		removed = sweep(&l, most, seed);
	close(l.fd);
	return removed;
}
