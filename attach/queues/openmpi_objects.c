/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "attach/queues/openmpi_objects.h"
#include "model/job/message_queues.h"

#define MAX_COMMS 16384 /* more are not read */
#define PAGE 4096

static const char *const class_names[] = {
	"opal_pointer_array_t",
	"ompi_communicator_t",
	"ompi_group_t",
	"ompi_proc_t",
	"opal_list_t",
	"mca_pml_ob1_comm_t",
	"mca_pml_ob1_comm_proc_t",
	"mca_pml_ob1_recv_request_t",
	"mca_pml_ob1_recv_frag_t",
};

/* What both versions have. larger: by how much a mutex is larger than on x86_64. */
#define LAYOUT(larger)                                                                             \
	.array_size = 120 + (larger), .pml_comm_size = 240 + 2 * (larger), .peer_size = 168,       \
	.comm_name = 160 + (larger), .comm_pml = 328 + (larger), .wild_receives = 88 + (larger),   \
	.peers = 216 + 2 * (larger), .num_peers = 224 + 2 * (larger), .peer_proc = 16,             \
	.expected = 24, .sent = 28, .receives = 40, .unexpected = 104, .proc_name = 40,            \
	.fragment_header = 56

static const struct openmpi_layout layouts[] = {
	/* 4.1 */
	{LAYOUT(0), .comm_size = 352, .comm_group = 256, .group_size = 72},
	{LAYOUT(8), .comm_size = 360, .comm_group = 264, .group_size = 72},
	/* 5.0 */
	{LAYOUT(0), .comm_size = 384, .comm_group = 272, .group_size = 80, .name_is_apart = true},
	{LAYOUT(8), .comm_size = 392, .comm_group = 280, .group_size = 80, .name_is_apart = true},
};

enum {
	MAX_ARRAY = 128,     /* bytes of an opal_pointer_array_t, which ends with */
	ARRAY_SIZE = 32,     /* that far from its end the number of elements, */
	ARRAY_ELEMENTS = 8,  /* and where they are */
	MAX_CLASS_NAME = 32, /* of those that are known */
};

bool openmpi_init(struct openmpi *openmpi, const struct memory *memory, const struct maps *maps)
{
	const struct maps_object *object = maps_find_object(maps, "libmpi.so");

	*openmpi = (struct openmpi){.memory = *memory};
	return object &&
	       !elf_symbol_find(memory->pid, object, "ompi_mpi_communicators",
				&openmpi->communicators, &openmpi->array_size) &&
	       !elf_symbol_find(memory->pid, object, "ompi_proc_local_proc", &openmpi->own_proc,
				NULL) &&
	       openmpi->array_size <= MAX_ARRAY && openmpi->array_size >= ARRAY_SIZE;
}

bool openmpi_get(const struct openmpi *openmpi, uint64_t address, void *buffer, size_t size)
{
	return !memory_get(&openmpi->memory, address, buffer, size);
}

uint64_t openmpi_word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

uint32_t openmpi_half_at(const uint8_t *bytes, size_t offset)
{
	uint32_t half;

	memcpy(&half, bytes + offset, sizeof(half));
	return half;
}

bool openmpi_has_name(const struct openmpi *openmpi, const struct openmpi_class_object *class,
		      const char *name)
{
	char text[MAX_CLASS_NAME];
	size_t size = strlen(name) + 1;

	return openmpi_get(openmpi, class->name, text, size) && !memcmp(text, name, size);
}

bool openmpi_is_a(struct openmpi *openmpi, const void *object, enum openmpi_class kind)
{
	struct openmpi_known_class *known = &openmpi->classes[kind];
	struct openmpi_class_object class;
	uint64_t address;

	memcpy(&address, object, sizeof(address));
	if (address && address == known->address)
		return true;
	if (!openmpi_get(openmpi, address, &class, sizeof(class)) ||
	    !openmpi_has_name(openmpi, &class, class_names[kind]))
		return false;
	*known = (struct openmpi_known_class){address, class.size};
	return true;
}

static const struct openmpi_layout *find_layout(const struct openmpi *openmpi)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].array_size == openmpi->array_size &&
		    layouts[i].array_size == openmpi->classes[OPENMPI_ARRAY].size &&
		    layouts[i].comm_size == openmpi->classes[OPENMPI_COMM].size)
			return &layouts[i];
	return NULL;
}

/* What cannot be read is empty. */
static void read_name(const struct openmpi *openmpi, uint64_t address, char name[OPENMPI_NAME_SIZE])
{
	size_t size = PAGE - address % PAGE; /* memory may end there */

	memset(name, 0, OPENMPI_NAME_SIZE);
	if (!openmpi_get(openmpi, address, name, OPENMPI_NAME_SIZE) && size < OPENMPI_NAME_SIZE)
		openmpi_get(openmpi, address, name, size);
}

/* False only if it looks as nothing that is known. */
static bool read_comm(struct openmpi *openmpi, struct arena *arena, struct openmpi_comms *comms,
		      uint32_t number, uint64_t address)
{
	const struct openmpi_layout *layout = comms->layout;
	uint8_t object[OPENMPI_MAX_OBJECT];

	/* What has a number already and is just being made is none yet. */
	if (!openmpi_get(openmpi, address, object, layout ? layout->comm_size : sizeof(uint64_t)) ||
	    !openmpi_is_a(openmpi, object, OPENMPI_COMM))
		return true;
	if (!layout) {
		comms->layout = layout = find_layout(openmpi);
		if (!layout || !openmpi_get(openmpi, address, object, layout->comm_size))
			return false;
	}
	struct openmpi_comm *comm = ARENA_PUSH(arena, comms->list, comms->num, comms->capacity);
	comm->number = number;
	comm->pml = openmpi_word_at(object, layout->comm_pml);
	comm->group = openmpi_word_at(object, layout->comm_group);
	if (layout->name_is_apart)
		read_name(openmpi, openmpi_word_at(object, layout->comm_name), comm->name);
	else
		memcpy(comm->name, object + layout->comm_name, sizeof(comm->name));
	return true;
}

bool openmpi_read_comms(struct openmpi *openmpi, struct arena *arena, struct openmpi_comms *comms)
{
	uint8_t array[MAX_ARRAY];
	uint64_t *addresses;
	uint32_t num;

	*comms = (struct openmpi_comms){.num = 0};
	if (!openmpi_get(openmpi, openmpi->communicators, array, openmpi->array_size) ||
	    !openmpi_is_a(openmpi, array, OPENMPI_ARRAY))
		return false;
	num = openmpi_half_at(array, openmpi->array_size - ARRAY_SIZE);
	if (num > MAX_COMMS)
		return false;
	addresses = arena_array(arena, num, sizeof(*addresses));
	if (!openmpi_get(openmpi, openmpi_word_at(array, openmpi->array_size - ARRAY_ELEMENTS),
			 addresses, num * sizeof(*addresses)))
		return false;
	for (uint32_t i = 0; i < num; i++)
		if (addresses[i] && !read_comm(openmpi, arena, comms, i, addresses[i]))
			return false;
	return comms->num > 0;
}

bool openmpi_read_job(struct openmpi *openmpi, const struct openmpi_layout *layout,
		      uint32_t *job_ret)
{
	uint8_t own[OPENMPI_MAX_OBJECT];
	uint64_t address;

	if (!openmpi_get(openmpi, openmpi->own_proc, &address, sizeof(address)) ||
	    !openmpi_get(openmpi, address, own, layout->proc_name + sizeof(*job_ret)) ||
	    !openmpi_is_a(openmpi, own, OPENMPI_PROC))
		return false;
	*job_ret = openmpi_half_at(own, layout->proc_name);
	return true;
}

int32_t *openmpi_read_ranks(struct openmpi *openmpi, struct arena *arena,
			    const struct openmpi_layout *layout, const uint64_t *addresses,
			    size_t num)
{
	size_t name = layout->proc_name, size = name + 2 * sizeof(uint32_t);
	uint8_t *objects = arena_array(arena, num, size);
	int32_t *ranks = arena_array(arena, num, sizeof(*ranks));
	uint32_t job;

	if (!openmpi_read_job(openmpi, layout, &job) ||
	    memory_get_each(&openmpi->memory, addresses, num, objects, size))
		return NULL;
	for (size_t i = 0; i < num; i++) {
		const uint8_t *object = objects + i * size;
		uint32_t number = openmpi_half_at(object, name + sizeof(uint32_t));

		if (!openmpi_is_a(openmpi, object, OPENMPI_PROC) || number >= OPENMPI_MAX_RANKS)
			return NULL;
		/* Numbers are those of a job. */
		ranks[i] =
			openmpi_half_at(object, name) == job ? (int32_t)number : MESSAGE_OTHER_PEER;
	}
	return ranks;
}
