/* SPDX-License-Identifier: BSD-3-Clause
 * Segments that are left of processes that have ended. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model/job/proctable.h"
#include "model/segment/segment_private.h"
#include "model/segment/segment_reader.h"
#include "model/segment/segment_sweep.h"

/* By which a file's time and a process' may differ: they come from different clocks. */
enum { CLOCK_SLACK_SECONDS = 2 };

/* Was it written on this machine? Where machines share a directory, only the name tells. */
static bool is_of_this_machine(int fd, const struct seg_header *header)
{
	return host_is_local(header->host) || segment_is_in_memory(fd);
}

/* Has the process that made this segment ended? */
static bool is_left_over(int fd, const struct seg_header *header)
{
	struct segment_owner owner;
	struct pdb_error err = {0};

	if (!is_of_this_machine(fd, header) || segment_has_writer(fd) > 0)
		return false;
	if (segment_find_owner(header->pid, &owner, &err) < 0)
		return err.code == ERROR_GONE;
	return owner.start != header->pid_start;
}

/* Open a segment of `uid` or root and read its header; -1 if it is none. */
static int open_segment(int dir, const char *name, uid_t uid, struct stat *st,
			struct seg_header *header)
{
	if (strncmp(name, PDB_SEGMENT_PREFIX, strlen(PDB_SEGMENT_PREFIX)) != 0)
		return -1;
	int fd = segment_open_checked(dir, name, uid, st, NULL);
	if (fd >= 0 && segment_read_header(fd, header, NULL) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Where segments are made: `dir` if it is given, or as the environment says. */
static const char *directory(const char *dir)
{
	const char *own = getenv(PDB_ENV_DIR);

	if (dir)
		return dir;
	return own && *own ? own : PDB_DEFAULT_SEGMENT_DIR;
}

/* ---- Of a job that goes on ---- */

/* Who started the live rank with this segment, if it is still there: a process with that pid
 * that is not younger than the rank was its parent then. */
static bool find_parent(pid_t pid, const struct seg_header *live, struct segment_owner *parent)
{
	/* In another pid namespace the numbers mean other processes; 1 adopts whoever is left. */
	return live->pid == pid && live->parent_pid > 1 && live->size > 0 &&
	       segment_find_owner(live->parent_pid, parent, NULL) == 0 &&
	       parent->own_pid == live->parent_pid && parent->start <= live->pid_start;
}

static bool is_sibling(const struct seg_header *header, const struct seg_header *live,
		       const struct segment_owner *parent)
{
	return header->parent_pid == live->parent_pid && header->pid_start >= parent->start &&
	       segment_is_one_start(header->pid_start, live->pid_start) &&
	       header->pid != live->pid && header->uid == live->uid && header->size == live->size &&
	       header->rank >= 0 && header->rank < live->size && header->rank != live->rank &&
	       strcmp(header->host, live->host) == 0 && strcmp(header->job, live->job) == 0;
}

SORTED_BY(compare_ranks, struct segment_left, rank, pid)

/* The directory of the live process' segment, its header and who started it. NULL and *err as
 * segment_open_pid(), or ERROR_NONE: nothing can be said. */
static DIR *open_beside(pid_t pid, struct seg_header *live, struct segment_owner *parent,
			struct pdb_error *err)
{
	int dir, fd = segment_open_pid(pid, err), status;
	DIR *list;

	if (fd < 0)
		return NULL;
	status = segment_read_header(fd, live, err);
	close(fd);
	if (status < 0)
		return NULL;
	error_clear(err);
	if (!find_parent(pid, live, parent))
		return NULL;
	dir = segment_open_dir(pid, err);
	if (dir < 0)
		return NULL;
	list = fdopendir(dir);
	if (!list) {
		error_errno(err, "fdopendir");
		close(dir);
	}
	return list;
}

/* The segment `name` if it is left of a rank of the live one's job, or -1. */
static int open_left(DIR *list, const char *name, const struct seg_header *live,
		     const struct segment_owner *parent, struct seg_header *header)
{
	struct stat st;
	int fd = open_segment(dirfd(list), name, live->uid, &st, header);

	if (fd < 0 || (is_sibling(header, live, parent) && is_left_over(fd, header)))
		return fd;
	close(fd);
	return -1;
}

int segment_find_left(pid_t pid, struct segment_left **ret, struct pdb_error *err)
{
	struct pdb_error why = {0};
	struct segment_left *left = NULL;
	struct segment_owner parent;
	struct seg_header live;
	size_t num = 0, capacity = 0;
	struct dirent *entry;
	DIR *list = open_beside(pid, &live, &parent, &why);

	if (!list && why.code != ERROR_NONE) {
		if (err)
			*err = why;
		return -1;
	}
	while (list && (entry = readdir(list))) {
		struct seg_header header;
		int fd = open_left(list, entry->d_name, &live, &parent, &header);

		if (fd < 0)
			continue;
		*XPUSH(left, num, capacity) = (struct segment_left){header.rank, header.pid};
		close(fd);
	}
	if (list)
		closedir(list);
	*ret = left;
	sorted_make(left, num, sizeof(*left), compare_ranks);
	/* A rank may have had several programs, one after the other. */
	return (int)sorted_unique(left, num, sizeof(*left), sorted_compare_int);
}

int segment_open_left(pid_t pid, const struct segment_left *left)
{
	struct segment_owner parent;
	struct pdb_error err = {0};
	struct seg_header live, header;
	struct dirent *entry;
	DIR *list = open_beside(pid, &live, &parent, &err);
	int fd = -1, job_length;

	while (list && fd < 0 && (entry = readdir(list))) {
		if (segment_name_pid(entry->d_name, &job_length) != left->pid)
			continue;
		fd = open_left(list, entry->d_name, &live, &parent, &header);
		if (fd >= 0 && (header.rank != left->rank || header.pid != left->pid)) {
			close(fd);
			fd = -1;
		}
	}
	if (list)
		closedir(list);
	return fd;
}

/* ---- For a keeper ---- */

static bool has_living_keeper(const struct seg_header *header)
{
	return header->keeper > 0 && host_is_local(header->host) && kill(header->keeper, 0) == 0;
}

/* Remove it if it is still the file that was looked at, and not one that took its name since. */
static bool remove_segment(int dir, const char *name, const struct stat *st)
{
	struct stat now;

	return fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == st->st_ino &&
	       unlinkat(dir, name, 0) == 0;
}

/* Of several programs of a rank the last one first. */
SORTED_BY_ORDER(compare_kept, struct segment_kept,
	  strcmp(x->job, y->job) ?: SORTED_ORDER(x->rank, y->rank)
	  ?: SORTED_ORDER(y->start, x->start))

static int sort_kept(struct segment_kept *kept, int num)
{
	int left = 0;

	sorted_make(kept, (size_t)num, sizeof(*kept), compare_kept);
	for (int i = 0; i < num; i++) {
		if (left && kept[left - 1].rank == kept[i].rank &&
		    strcmp(kept[left - 1].job, kept[i].job) == 0)
			close(kept[i].fd);
		else
			kept[left++] = kept[i];
	}
	return left;
}

int segment_take_kept(const char *dir, pid_t keeper, struct segment_kept **ret,
		      struct pdb_error *err)
{
	DIR *list = opendir(directory(dir));
	size_t num = 0, capacity = 0;
	struct dirent *entry;

	*ret = NULL;
	if (!list)
		return error_errno(err, "%s", directory(dir));
	while ((entry = readdir(list))) {
		struct seg_header header;
		struct stat st;
		int fd = open_segment(dirfd(list), entry->d_name, geteuid(), &st, &header);

		if (fd < 0)
			continue;
		if (header.keeper != keeper || !host_is_local(header.host) ||
		    !is_left_over(fd, &header) ||
		    !remove_segment(dirfd(list), entry->d_name, &st)) {
			close(fd);
			continue;
		}
		struct segment_kept one = {.fd = fd,
					   .rank = header.rank,
					   .size = header.size,
					   .pid = header.pid,
					   .start = header.pid_start};
		memcpy(one.host, header.host, sizeof(one.host));
		memcpy(one.job, header.job, sizeof(one.job));
		memcpy(one.executable, header.executable, sizeof(one.executable));
		*XPUSH(*ret, num, capacity) = one;
	}
	closedir(list);
	return sort_kept(*ret, (int)num);
}

void segment_kept_free(struct segment_kept *kept, int num)
{
	for (int i = 0; i < num; i++)
		if (kept[i].fd >= 0)
			close(kept[i].fd);
	free(kept);
}

/* ---- Files that never became segments ----
 * A process that is killed while it makes its segment leaves a file without a whole header; all
 * that is known of it is its name. */

/* Is it the beginning of a segment, shorter than its header or without magic, which comes last? */
static bool is_unfinished(int fd, const struct stat *st)
{
	static const char nothing[8];
	const size_t size = st->st_size < 8 ? (size_t)st->st_size : 8;
	char magic[8];

	if (segment_pread(fd, magic, size, 0, NULL) < 0)
		return false;
	return memcmp(magic, nothing, size) == 0 ||
	       (st->st_size < (off_t)sizeof(struct seg_header) &&
		memcmp(magic, PDB_SEGMENT_MAGIC, size) == 0);
}

/* May that process have made the file? Not if it started after that. */
static bool is_old_enough(pid_t pid, const struct stat *st)
{
	struct segment_owner owner;
	struct pdb_error err = {0};
	struct timespec real, boot;
	double start;

	if (segment_find_owner(pid, &owner, &err) < 0)
		return err.code != ERROR_GONE;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	start = (double)(real.tv_sec - boot.tv_sec) +
		(double)owner.start / (double)sysconf(_SC_CLK_TCK);
	return start <= (double)st->st_mtim.tv_sec + CLOCK_SLACK_SECONDS;
}

/* Remove such a file whose maker is gone. In memory only: it does not say which machine's it is. */
static bool remove_unfinished(int dir, const char *name)
{
	int job_length;
	pid_t pid = segment_name_pid(name, &job_length);
	struct stat st;
	int fd = pid ? segment_open_checked(dir, name, geteuid(), &st, NULL) : -1;
	bool is_removed;

	if (fd < 0)
		return false;
	is_removed = st.st_uid == geteuid() && segment_is_in_memory(fd) && is_unfinished(fd, &st) &&
		     segment_has_writer(fd) <= 0 && !is_old_enough(pid, &st) &&
		     remove_segment(dir, name, &st);
	close(fd);
	return is_removed;
}

static bool is_one_of(const struct seg_header *header, const struct segment_process *processes,
		      size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (header->pid == processes[i].pid && header->pid_start == processes[i].start)
			return true;
	return false;
}

/* A rank of a job that goes on, and who started it. */
struct live {
	struct seg_header header;
	struct segment_owner parent;
};

/* Those in the directory, in *ret, which the caller frees. Returns their number. */
static size_t list_live(DIR *list, struct live **ret)
{
	size_t num = 0, capacity = 0;
	struct dirent *entry;

	*ret = NULL;
	while ((entry = readdir(list))) {
		struct live one;
		struct stat st;
		int fd = open_segment(dirfd(list), entry->d_name, geteuid(), &st, &one.header);

		if (fd < 0)
			continue;
		if (!is_left_over(fd, &one.header) &&
		    find_parent(one.header.pid, &one.header, &one.parent)) {
			*XPUSH(*ret, num, capacity) = one;
		}
		close(fd);
	}
	rewinddir(list);
	return num;
}

/* Is it of a rank that has ended while others of its job go on? It is all that tells of that. */
static bool is_needed(const struct seg_header *header, const struct live *live, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (is_sibling(header, &live[i].header, &live[i].parent))
			return true;
	return false;
}

int segment_clean(const char *dir, const struct segment_process *processes, size_t num,
		  struct pdb_error *err)
{
	DIR *list = opendir(directory(dir));
	struct live *live = NULL;
	struct dirent *entry;
	int removed = 0;

	if (!list)
		return error_errno(err, "%s", directory(dir));
	size_t num_live = processes ? 0 : list_live(list, &live);
	while ((entry = readdir(list))) {
		struct seg_header header;
		struct stat st;
		int fd = open_segment(dirfd(list), entry->d_name, geteuid(), &st, &header);

		if (fd < 0) {
			removed += !processes && remove_unfinished(dirfd(list), entry->d_name);
			continue;
		}
		removed += st.st_uid == geteuid() &&
			   (!processes || is_one_of(&header, processes, num)) &&
			   is_left_over(fd, &header) && !has_living_keeper(&header) &&
			   !is_needed(&header, live, num_live) &&
			   remove_segment(dirfd(list), entry->d_name, &st);
		close(fd);
	}
	closedir(list);
	free(live);
	return removed;
}

void segment_sweep_usual(void)
{
	enum { MOST_ROUNDS = 16, MOST_FILES = 4096 };

	for (unsigned i = 0; i < MOST_ROUNDS; i++)
		if (segment_sweep(directory(NULL), MOST_FILES, i) == 0)
			break;
}
