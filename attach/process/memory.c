/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attach/process/memory.h"

#define PAGE 4096
#define MAX_PLACES 512 /* that one system call reads: no more than IOV_MAX */

static ssize_t read_through_file(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	char path[64];
	int fd, saved;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == EACCES)
			errno = EPERM;
		else if (errno == ENOENT)
			errno = ESRCH;
		return -1;
	}
	ssize_t n = pread(fd, buffer, size, (off_t)address);
	saved = errno;
	close(fd);
	errno = n == 0 ? ESRCH : saved == EIO ? EFAULT : saved;
	return n > 0 ? n : -1;
}

ssize_t memory_read(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	struct iovec to = {buffer, size};
	struct iovec from = {(void *)(uintptr_t)address, size};

	if (address >= (uint64_t)INT64_MAX || size > SSIZE_MAX) {
		errno = EFAULT;
		return -1;
	}
	ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);
	if (n < 0 && (errno == ENOSYS || errno == EPERM))
		n = read_through_file(pid, address, buffer, size);
	return n;
}

int memory_read_all(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	ssize_t n = memory_read(pid, address, buffer, size);

	if (n < 0)
		return -1;
	if ((size_t)n != size) {
		errno = EFAULT;
		return -1;
	}
	return 0;
}

ssize_t memory_read_string(pid_t pid, uint64_t address, char *buffer, size_t size)
{
	size_t have = 0;

	/* Page by page: the string may end just before memory that cannot be read. */
	while (have < size) {
		size_t want = PAGE - (address + have) % PAGE;

		if (want > size - have)
			want = size - have;
		ssize_t n = memory_read(pid, address + have, buffer + have, want);
		if (n < 0)
			return -1;
		char *end = memchr(buffer + have, '\0', (size_t)n);
		if (end)
			return end - buffer;
		if ((size_t)n < want) {
			errno = EFAULT;
			return -1;
		}
		have += want;
	}
	errno = ENAMETOOLONG;
	return -1;
}

int memory_get(const struct memory *memory, uint64_t address, void *buffer, size_t size)
{
	if (memory->pid)
		return memory_read_all(memory->pid, address, buffer, size);
	return memory->read(memory->context, address, buffer, size);
}

/* As many as one system call takes; less than `num` if it took less: 0 if none. */
static size_t read_places(pid_t pid, const uint64_t *addresses, size_t num, void *buffer,
			  size_t size)
{
	struct iovec to = {buffer, 0}, from[MAX_PLACES];

	if (num > MAX_PLACES)
		num = MAX_PLACES;
	for (size_t i = 0; i < num; i++)
		from[i] = (struct iovec){(void *)(uintptr_t)addresses[i], size};
	to.iov_len = num * size;
	ssize_t n = process_vm_readv(pid, &to, 1, from, num, 0);
	return n < 0 ? 0 : (size_t)n / size;
}

int memory_get_each(const struct memory *memory, const uint64_t *addresses, size_t num,
		    void *buffer, size_t size)
{
	uint8_t *to = buffer;

	for (size_t done = 0, n; done < num; done += n) {
		n = memory->pid ? read_places(memory->pid, addresses + done, num - done,
					      to + done * size, size)
				: 0;
		/* The next one: not there, or such calls are forbidden. */
		if (n == 0) {
			if (memory_get(memory, addresses[done], to + done * size, size))
				return -1;
			n = 1;
		}
	}
	return 0;
}

static int ends_before(const void *address, const void *range)
{
	return ((const uint64_t *)range)[1] <= *(const uint64_t *)address;
}

const void *memory_find_range(const void *ranges, size_t num, size_t size, uint64_t address)
{
	size_t i = sorted_first(&address, ranges, num, size, ends_before);
	const void *range = (const char *)ranges + i * size;

	return i < num && *(const uint64_t *)range <= address ? range : NULL;
}
