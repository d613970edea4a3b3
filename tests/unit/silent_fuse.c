/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/silent_fuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NODE 2
#define FILE_SIZE 4096

int silent_fuse_mount(const char *point)
{
	char options[96];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fd);
	if (fd < 0 || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("far:/data", point, "fuse.silent", 0, options))
		return -1;
	return fd;
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.mode = node == FILE_NODE ? S_IFREG | 0644 : S_IFDIR | 0755,
		.nlink = 1,
		.size = node == FILE_NODE ? FILE_SIZE : 0,
	};
}

static void answer(int fd, uint64_t unique, int error, const void *body, size_t size)
{
	struct {
		struct fuse_out_header header;
		char body[512];
	} out = {.header = {.unique = unique, .error = error}};

	if (size)
		memcpy(out.body, body, size);
	out.header.len = (uint32_t)(sizeof(out.header) + size);
	if (write(fd, &out, out.header.len) < 0)
		return; /* the one that asked has gone */
}

static void serve_one(int fd, const struct fuse_in_header *in, bool answers_statfs)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
				     .minor = FUSE_KERNEL_MINOR_VERSION,
				     .max_write = 4096};
	struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attributes(FILE_NODE)};
	struct fuse_attr_out attr = {.attr = attributes(in->nodeid)};
	struct fuse_statfs_out statfs = {.st = {.blocks = 1, .bfree = 1, .bsize = 4096}};
	struct fuse_open_out opened = {.fh = 1};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer(fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		break;
	case FUSE_STATFS:
		if (answers_statfs)
			answer(fd, in->unique, 0, &statfs, sizeof(statfs));
		break;
	default:
		answer(fd, in->unique, -ENOSYS, NULL, 0);
		break;
	}
}

void silent_fuse_serve(int fd, bool answers_statfs)
{
	static char request[1 << 16];
	ssize_t size;

	while ((size = read(fd, request, sizeof(request))) > 0 || errno == EINTR || errno == ENOENT)
		if (size >= (ssize_t)sizeof(struct fuse_in_header))
			serve_one(fd, (const void *)request, answers_statfs);
}
