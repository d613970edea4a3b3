/* SPDX-License-Identifier: BSD-3-Clause
 * Find a segment and check whose it is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/regular_file.h"
#include "model/segment/segment_private.h"
#include "model/segment/segment_reader.h"
#include "model/segment/segment_sweep.h"

int segment_pread(int fd, void *buffer, size_t size, uint64_t offset, struct pdb_error *err)
{
	char *at = buffer;

	while (size) {
		ssize_t got = offset > INT64_MAX ? 0 : pread(fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, "reading the segment");
		if (got == 0)
			return error_set(err, ERROR_FORMAT, "the segment is truncated");
		at += got;
		size -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

static void clean_field(char *text, size_t size)
{
	text[size - 1] = '\0';
	clean_text(text, size);
}

static int check_header(const struct seg_header *h, struct pdb_error *err)
{
	static const char nothing[8];

	if (memcmp(h->magic, nothing, sizeof(h->magic)) == 0)
		return error_set(err, ERROR_FORMAT,
				 "the segment is not complete: no magic; if the rank has just "
				 "started, type \"refresh\"");
	if (memcmp(h->magic, PDB_SEGMENT_MAGIC, sizeof(h->magic)) != 0)
		return error_set(err, ERROR_FORMAT, "not a segment: the magic is wrong");
	if (h->byte_order != PDB_SEGMENT_BYTE_ORDER)
		return error_set(err, ERROR_FORMAT, "the segment has another byte order");
	if (h->version != PDB_SEGMENT_VERSION)
		return error_set(
			err, ERROR_VERSION,
			"the segment has version %u, this pdb reads version %d: use the pdb "
			"of the same release as the recorder",
			h->version, PDB_SEGMENT_VERSION);
	if (h->header_size < sizeof(*h) || h->lane_size < sizeof(struct seg_lane))
		return error_set(err, ERROR_FORMAT, "the segment's header has a wrong size");
	if (h->pid <= 0 || h->rank < -1 || h->size < 0 || h->thread_level < -1)
		return error_set(err, ERROR_FORMAT,
				 "the segment's header is corrupt: its identity");
	if (h->life < SEG_LIFE_STARTING || h->life > SEG_LIFE_STOPPED)
		return error_set(err, ERROR_FORMAT, "the segment's header is corrupt: its life");
	if (h->clock < SEG_CLOCK_MONOTONIC || h->clock > SEG_CLOCK_CNTVCT)
		return error_set(err, ERROR_FORMAT, "the segment's header is corrupt: its clock");
	return 0;
}

int segment_read_header(int fd, struct seg_header *header, struct pdb_error *err)
{
	if (segment_pread(fd, header, sizeof(*header), 0, err) < 0 || check_header(header, err) < 0)
		return -1;
	clean_field(header->host, sizeof(header->host));
	clean_field(header->job, sizeof(header->job));
	clean_field(header->mpi_library, sizeof(header->mpi_library));
	clean_field(header->executable, sizeof(header->executable));
	return 0;
}

bool segment_has_traces(int fd)
{
	struct seg_header header;

	return segment_read_header(fd, &header, NULL) == 0 && header.features & SEG_FEATURE_TRACE;
}

/* Text behind `key` in a file of zero-ended texts; NULL and errno, 0: none. The caller frees. */
static char *read_proc(pid_t pid, const char *name, const char *key)
{
	char path[64], *text = NULL, *found = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	FILE *file = fopen(path, "re");
	if (!file)
		return NULL;
	errno = 0;
	while (!found && getdelim(&text, &size, '\0', file) >= 0)
		if (strncmp(text, key, strlen(key)) == 0)
			found = xstrdup(text + strlen(key));
	int saved = errno;
	fclose(file);
	free(text);
	errno = saved;
	return found;
}

static int no_process(pid_t pid, struct pdb_error *err)
{
	if (errno == ENOENT || errno == ESRCH)
		return error_set(err, ERROR_GONE, "no process %d", (int)pid);
	return error_errno(err, "/proc/%d", (int)pid);
}

int segment_find_owner(pid_t pid, struct segment_owner *owner, struct pdb_error *err)
{
	char *text = read_proc(pid, "stat", "");
	const char *line, *end;

	if (!text)
		return no_process(pid, err);
	bool good = segment_parse_stat(text, &owner->state, &owner->start);
	free(text);
	if (!good)
		return error_set(err, ERROR_SYSTEM, "/proc/%d/stat cannot be understood", (int)pid);
	if (owner->state == 'Z' || owner->state == 'X')
		return error_set(err, ERROR_GONE, "process %d has ended", (int)pid);
	text = read_proc(pid, "status", "");
	if (!text)
		return no_process(pid, err);
	owner->own_pid = pid;
	line = strstr(text, "\nUid:");
	good = line && sscanf(line, "\nUid: %*u %u", &owner->uid) == 1;
	/* Its pid in each namespace, the innermost last. */
	line = strstr(text, "\nNSpid:");
	end = line ? strchr(line + 1, '\n') : NULL;
	line = end ? memrchr(line, '\t', (size_t)(end - line)) : NULL;
	if (line)
		owner->own_pid = atoi(line);
	free(text);
	if (!good)
		return error_set(err, ERROR_SYSTEM, "/proc/%d/status cannot be understood",
				 (int)pid);
	return 0;
}

/* The directory of segments by the process' environment. The caller frees. */
static char *segment_dir(pid_t pid, struct pdb_error *err)
{
	char *dir = read_proc(pid, "environ", PDB_ENV_DIR "=");

	if (dir && *dir)
		return dir;
	if (dir || errno == 0) {
		free(dir);
		return xstrdup(PDB_DEFAULT_SEGMENT_DIR);
	}
	if (errno == EACCES || errno == EPERM)
		error_set(err, ERROR_PERMISSION,
			  "process %d is another user's or protected: %s; run pdb as its "
			  "user or as root",
			  (int)pid, strerror(errno));
	else
		no_process(pid, err);
	return NULL;
}

/* Open `dir` as the process sees it: symbolic links on the way are resolved in its own root. */
static int open_dir_of(pid_t pid, const char *dir)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char path[64];
	int root, fd, saved;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, dir, &how, sizeof(how));
	/* Linux before 5.6, or a container that allows no system call it does not know. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(root, dir + strspn(dir, "/"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	saved = errno;
	close(root);
	errno = saved;
	return fd;
}

int segment_open_dir(pid_t pid, struct pdb_error *err)
{
	char *dir = segment_dir(pid, err);

	if (!dir)
		return -1;
	if (dir[0] != '/') {
		error_set(err, ERROR_UNSUPPORTED,
			  "its segment may be anywhere: set %s=%s to an absolute path", PDB_ENV_DIR,
			  dir);
		free(dir);
		return -1;
	}
	int fd = open_dir_of(pid, dir);
	if (fd < 0 && errno == ENOENT)
		error_set(err, ERROR_NOT_FOUND, "process %d has no recorder: it has no %s",
			  (int)pid, dir);
	else if (fd < 0)
		error_errno(err, "its %s", dir);
	free(dir);
	return fd;
}

int segment_open_checked(int dir, const char *name, uid_t uid, struct stat *st,
			 struct pdb_error *err)
{
	int fd = regular_file_open(dir, name, O_NOFOLLOW, st);

	if (fd < 0 && errno == ELOOP)
		return error_set(err, ERROR_PERMISSION, "%s is a symbolic link", name);
	if (fd < 0 && errno == ENXIO)
		return error_set(err, ERROR_PERMISSION, "%s is not a regular file", name);
	if (fd < 0)
		return error_errno(err, "%s", name);
	if (st->st_uid != uid && st->st_uid != 0)
		error_set(err, ERROR_PERMISSION, "%s belongs to user %u, not to %u", name,
			  (unsigned)st->st_uid, (unsigned)uid);
	else if (st->st_mode & 077)
		error_set(err, ERROR_PERMISSION, "%s has mode %04o, which lets others in", name,
			  (unsigned)st->st_mode & 07777);
	else
		return fd;
	close(fd);
	return -1;
}

/* The fd of `name` if it is the owner's; -1 and the reason, or ERROR_NONE for a left-over. */
static int try_segment(int dir, const char *name, const struct segment_owner *owner,
		       struct pdb_error *err)
{
	struct seg_header header;
	struct stat st;
	int fd = segment_open_checked(dir, name, owner->uid, &st, err);

	if (fd < 0)
		return -1;
	if (segment_read_header(fd, &header, err) < 0) {
		error_prefix(err, "%s", name);
	} else {
		error_clear(err);
		if (header.pid == owner->own_pid && header.pid_start == owner->start)
			return fd;
	}
	close(fd);
	return -1;
}

static int find_segment(int dir, const struct segment_owner *owner, pid_t pid,
			struct pdb_error *err)
{
	struct pdb_error why = {0};
	struct dirent *entry;
	char pattern[32];
	DIR *list = fdopendir(dir);
	int fd = -1;

	if (!list) {
		error_errno(err, "fdopendir");
		close(dir);
		return -1;
	}
	snprintf(pattern, sizeof(pattern), PDB_SEGMENT_PREFIX "*.%d", (int)owner->own_pid);
	while (fd < 0 && (entry = readdir(list))) {
		struct pdb_error one = {0};

		if (fnmatch(pattern, entry->d_name, 0) != 0)
			continue;
		fd = try_segment(dirfd(list), entry->d_name, owner, &one);
		if (one.code != ERROR_NONE)
			why = one;
	}
	closedir(list);
	if (fd >= 0)
		return fd;
	if (why.code != ERROR_NONE && why.code != ERROR_NOT_FOUND) {
		if (err)
			*err = why;
		return -1;
	}
	return error_set(err, ERROR_NOT_FOUND, "process %d has no recorder", (int)pid);
}

int segment_open_pid(pid_t pid, struct pdb_error *err)
{
	struct segment_owner owner;

	if (pid <= 0)
		return error_set(err, ERROR_GONE, "no process %d", (int)pid);
	if (segment_find_owner(pid, &owner, err) < 0)
		return -1;
	int fd = segment_open_dir(pid, err);
	return fd < 0 ? -1 : find_segment(fd, &owner, pid, err);
}
