/* SPDX-License-Identifier: BSD-3-Clause
 * pdb's reader on a segment of a real program.
 *
 *	read_segment FILE			its evidence, in the words of dump_segment.py --evidence
 *	read_segment --damage SEED FILE		read it with bytes changed at random, for ten seconds */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model/error.h"
#include "model/job/model.h"
#include "model/segment/segment_reader.h"

/* ---- Words ---- */

/* Numbers as words, two at a time in use. */
static const char *text_of(int64_t value)
{
	static char texts[4][24];
	static int next;

	next = (next + 1) % 4;
	snprintf(texts[next], sizeof(texts[next]), "%" PRId64, value);
	return texts[next];
}

static const char *peer_text(int32_t peer)
{
	static const char *const words[] = {"null", "any", "root", "none"};

	return peer < 0 && peer >= SEG_PEER_NONE ? words[-1 - peer] : text_of(peer);
}

static const char *tag_text(int32_t tag)
{
	static const char *const words[] = {"any", "many", "post", "complete", "leader", "group"};

	return tag < 0 && tag >= SEG_TAG_GROUP ? words[-1 - tag] : text_of(tag);
}

static const char *comm_text(uint32_t comm)
{
	return comm == SEG_NO_COMM ? "-" : text_of(comm);
}

static const char *bytes_text(uint64_t bytes)
{
	return bytes == SEG_NO_BYTES ? "-" : text_of((int64_t)bytes);
}

/* bits as "a+b" of num words; the text is good until the next call. */
static const char *flags_text(uint32_t bits, const char *const *words, size_t num)
{
	static char text[128];

	text[0] = '\0';
	for (size_t i = 0; i < num; i++)
		if (bits >> i & 1)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 text[0] ? "+" : "", words[i]);
	return text[0] ? text : "-";
}

/* ---- The evidence ---- */

static const char *made_by(const struct model *model, uint32_t site)
{
	return site ? model->sites[site].name : "-";
}

static void print_members(const struct model *model, uint32_t first, uint32_t num)
{
	if (first == SEG_ALL_MEMBERS || first == SEG_NO_MEMBERS) {
		fputs(first == SEG_ALL_MEMBERS ? "all" : "?", stdout);
		return;
	}
	for (uint32_t i = 0; i < num; i++)
		printf("%s%d", i ? "," : "", model->members[first + i]);
}

static void print_comm(const struct model *model, size_t index)
{
	static const char *const kinds[] = {"intra", "inter", "window", "file"};
	const struct model_comm *comm = &model->comms[index];

	printf("comm %zu: id 0x%" PRIx64 " parent 0x%" PRIx64 " kind %s by %s ordinal %u rank %d "
	       "size %u members ",
	       index, comm->id, comm->parent_id, kinds[comm->kind], made_by(model, comm->site),
	       comm->ordinal, comm->rank, comm->size);
	print_members(model, comm->members, comm->size);
	if (comm->kind == SEG_COMM_INTER) {
		printf(" remote %u members ", comm->remote_size);
		print_members(model, comm->remote_members, comm->remote_size);
	}
	if (comm->sources != SEG_NO_MEMBERS) {
		fputs(comm->num_sources ? " sources " : " sources none", stdout);
		print_members(model, comm->sources, comm->num_sources);
	}
	if (comm->num_destinations) {
		fputs(" destinations ", stdout);
		print_members(model, comm->destinations, comm->num_destinations);
	}
	printf(" name '%s'%s collectives %" PRIu64 "\n", comm->name ? comm->name : "",
	       comm->is_freed ? " freed" : "", comm->collectives);
	for (size_t i = 0; i < SEG_RECENT && comm->recent[i].number; i++)
		printf("  collective %" PRIu64 ": %s root %s bytes %s\n", comm->recent[i].number,
		       model->sites[comm->recent[i].site].name, peer_text(comm->recent[i].root),
		       bytes_text(comm->recent[i].bytes));
}

static void print_request(const struct model *model, size_t slot)
{
	static const char *const kinds[] = {"free",       "send", "recv", "matched",
					    "collective", "lock", "other"};
	static const char *const flags[] = {"persistent", "active",    "partitioned",
					    "neighbours", "cancelled", "synchronous"};
	const struct model_request *request = &model->requests[slot];

	if (request->kind == SEG_REQUEST_FREE)
		return;
	printf("request %zu: %s flags %s comm %s peer %s tag %s ordinal %" PRIu64
	       " bytes %s by %s lane %u\n",
	       slot, kinds[request->kind], flags_text(request->flags, flags, 6),
	       comm_text(request->comm), peer_text(request->peer), tag_text(request->tag),
	       request->ordinal, bytes_text(request->bytes), made_by(model, request->site),
	       request->lane);
}

static void print_operation(const struct model_operation *operation)
{
	static const char *const kinds[] = {"other", "send",     "recv",     "sendrecv",
					    "probe", "wait_all", "wait_any", "collective",
					    "lock",  "local"};
	static const char *const flags[] = {"incomplete", "neighbours", "buffered", "synchronous"};

	printf("  operation: %s flags %s number %" PRIu64 " waited %s", kinds[operation->kind],
	       flags_text(operation->flags, flags, 4), operation->number,
	       operation->num_waited ? "" : "-");
	for (size_t i = 0; i < operation->num_waited; i++)
		printf("%s%u", i ? "," : "", operation->waited[i]);
	putchar('\n');
	for (int i = 0; i < model_num_transfers(operation->kind); i++) {
		const struct model_transfer *transfer = &operation->transfers[i];

		printf("    transfer: comm %s peer %s tag %s ordinal %" PRIu64 " bytes %s\n",
		       comm_text(transfer->comm), peer_text(transfer->peer),
		       tag_text(transfer->tag), transfer->ordinal, bytes_text(transfer->bytes));
	}
}

static void print_note(const struct model_lane *lane, const struct model_note *note)
{
	static const char *const kinds[] = {"",
					    "gives",
					    "takes",
					    "gives root",
					    "takes root",
					    "gives each",
					    "takes each",
					    "gives neighbours",
					    "takes neighbours",
					    "error",
					    "leader"};

	printf("  note: comm %u number %" PRIu64 " %s ", note->comm, note->number,
	       kinds[note->kind]);
	for (uint32_t i = 0; i < note->num; i++) {
		uint32_t entry = lane->note_entries[note->first + i];

		fputs(i ? "," : "", stdout);
		if (entry == UINT32_MAX)
			putchar('?');
		else
			printf("%" PRIu64, (uint64_t)entry * note->unit);
	}
	putchar('\n');
}

static void print_lane(const struct model *model, size_t number)
{
	const struct model_lane *lane = &model->lanes[number];

	printf("lane %zu: tid %d state %s %s events %" PRIu64 "\n", number, lane->tid,
	       SEG_STATE_IS_EXIT(lane->state) ? "exit" : "enter",
	       model->sites[SEG_STATE_SITE(lane->state)].name, lane->events);
	/* The model does not tell one that is not known from one of which nothing is known. */
	if (lane->operation.kind == SEG_OPERATION_OTHER)
		puts("  operation: not known");
	else
		print_operation(&lane->operation);
	for (size_t i = 0; i < lane->num_ledger; i++) {
		const struct model_ledger *row = &lane->ledger[i];

		printf("  ledger: comm %s peer %s tag %s cancelled %u sends %" PRIu64 "/%" PRIu64
		       " receives %" PRIu64 "/%" PRIu64 " taken %" PRIu64 "\n",
		       comm_text(row->comm), peer_text(row->peer), tag_text(row->tag),
		       row->cancelled, row->sends, row->sends_done, row->receives,
		       row->receives_done, row->taken);
	}
	for (size_t i = 0; i < lane->num_notes; i++)
		print_note(lane, &lane->notes[i]);
	if (lane->dropped_ledger)
		printf("  ledger: dropped %" PRIu64 "\n", lane->dropped_ledger);
}

static int print_evidence(int fd)
{
	struct pdb_error err = {0};
	struct model *model;

	if (segment_read(fd, &model, &err) < 0) {
		fprintf(stderr, "read_segment: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < model->num_comms; i++)
		print_comm(model, i);
	for (size_t i = 0; i < model->num_requests; i++)
		print_request(model, i);
	for (size_t i = 0; i < model->num_lanes; i++)
		print_lane(model, i);
	model_destroy(model);
	return 0;
}

/* ---- Damage ---- */

/* Where the file has data, which is little of it. */
struct extent {
	off_t at, size;
};

enum { MAX_EXTENTS = 256 };

/* Copy the segment into a file of its own, holes left out; the number of extents. */
static int copy_sparse(int from, int to, struct extent *extents)
{
	static char bytes[65536];
	off_t end = lseek(from, 0, SEEK_END), at = 0;
	int num = 0;

	if (ftruncate(to, end) < 0)
		return -1;
	while (num < MAX_EXTENTS && (at = lseek(from, at, SEEK_DATA)) >= 0) {
		off_t hole = lseek(from, at, SEEK_HOLE);

		extents[num++] = (struct extent){at, hole - at};
		while (at < hole) {
			size_t size = hole - at < (off_t)sizeof(bytes) ? (size_t)(hole - at)
								       : sizeof(bytes);

			if (pread(from, bytes, size, at) != (ssize_t)size ||
			    pwrite(to, bytes, size, at) != (ssize_t)size)
				return -1;
			at += (off_t)size;
		}
	}
	return num;
}

/* A place in the data; half of them in the header, which says where all else is. */
static off_t choose(const struct extent *extents, int num)
{
	const struct extent *extent = &extents[random() % num];

	if (random() % 2)
		return random() % 1024;
	return extent->at + random() % extent->size;
}

static int damage(int segment, unsigned int seed)
{
	struct extent extents[MAX_EXTENTS];
	int fd = memfd_create("damaged", MFD_CLOEXEC), num;
	time_t end = time(NULL) + 10;
	long rounds = 0, taken = 0;

	num = fd < 0 ? -1 : copy_sparse(segment, fd, extents);
	if (num <= 0) {
		perror("read_segment: copying");
		return 1;
	}
	srandom(seed);
	for (; rounds < 20000 && time(NULL) < end; rounds++) {
		struct pdb_error err = {0};
		struct model *model;
		uint8_t old[3], new;
		off_t places[3];
		int bytes = 1 + (int)(random() % 3);

		for (int i = 0; i < bytes; i++) {
			places[i] = choose(extents, num);
			new = (uint8_t)random();
			if (pread(fd, &old[i], 1, places[i]) != 1 ||
			    pwrite(fd, &new, 1, places[i]) != 1)
				abort();
		}
		if (segment_read(fd, &model, &err) == 0) {
			taken++;
			if (model_validate(model, &err) < 0)
				abort();
			model_destroy(model);
		} else if (err.code != ERROR_FORMAT && err.code != ERROR_VERSION) {
			fprintf(stderr, "read_segment: round %ld: %s\n", rounds, err.text);
			return 1;
		}
		for (int i = bytes; i > 0; i--)
			if (pwrite(fd, &old[i - 1], 1, places[i - 1]) != 1)
				abort();
	}
	printf("seed %u: %ld rounds, %ld read\n", seed, rounds, taken);
	close(fd);
	return taken == 0 || taken == rounds;
}

int main(int argc, char **argv)
{
	int fd, status;

	if (argc != 2 && !(argc == 4 && !strcmp(argv[1], "--damage"))) {
		fputs("usage: read_segment [--damage SEED] FILE\n", stderr);
		return 2;
	}
	fd = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		perror(argv[argc - 1]);
		return 2;
	}
	status = argc == 2 ? print_evidence(fd) : damage(fd, (unsigned int)atoi(argv[2]));
	close(fd);
	return status;
}
