/* SPDX-License-Identifier: BSD-3-Clause
 * Segments that are left of processes that have ended. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "model/error.h"
#include "model/proctable.h"
#include "model/segment_private.h"
#include "model/segment_reader.h"

/* Does anybody have the file open, or mapped, for writing? A read lease is only given when not; so
 * a writer in another pid namespace, whose pid means nothing here, is seen too. */
static bool has_writer(int fd)
{
	/* Should somebody open it just now, the kernel's signal must not end this program. */
	fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

/* Was it written on this machine? In a directory that machines share, only the name tells; memory
 * is not shared, whatever a container calls itself. */
static bool is_of_this_machine(int fd, const struct seg_header *header)
{
	struct statfs fs;

	return host_is_local(header->host) || (fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC);
}

static bool is_left_over(int fd)
{
	struct seg_header header;
	struct segment_owner owner;
	struct pdb_error err = { 0 };

	if (segment_read_header(fd, &header, NULL) < 0 || !is_of_this_machine(fd, &header) ||
	    has_writer(fd))
		return false;
	if (segment_find_owner(header.pid, &owner, &err) < 0)
		return err.code == ERROR_GONE;
	return owner.start != header.pid_start;
}

int segment_clean(const char *dir, struct pdb_error *err)
{
	DIR *list = opendir(dir ? dir : PDB_DEFAULT_SEGMENT_DIR);
	struct dirent *entry;
	int removed = 0;

	if (!list)
		return error_errno(err, "%s", dir ? dir : PDB_DEFAULT_SEGMENT_DIR);
	while ((entry = readdir(list))) {
		struct stat st, now;
		int fd;

		if (strncmp(entry->d_name, PDB_SEGMENT_PREFIX, strlen(PDB_SEGMENT_PREFIX)) != 0)
			continue;
		fd = segment_open_checked(dirfd(list), entry->d_name, geteuid(), &st, NULL);
		if (fd < 0)
			continue;
		/* Still the file that was looked at, and not one that took its name since. */
		if (st.st_uid == geteuid() && is_left_over(fd) &&
		    fstatat(dirfd(list), entry->d_name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
		    now.st_ino == st.st_ino && unlinkat(dirfd(list), entry->d_name, 0) == 0)
			removed++;
		close(fd);
	}
	closedir(list);
	return removed;
}
