/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/start/preload.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/words.h"
#include "attach/process/elf_needed.h"
#include "attach/process/elf_symbol.h"
#include "model/segment/segment.h"

/* Open MPI's launchers pass the variables of this list to ranks on other hosts. */
#define ENV_LIST "OMPI_MCA_mca_base_env_list"

/* The variables that ranks on other hosts need. */
static const char *const forwarded[] = {
	PDB_ENV_RECORD, PDB_ENV_DIR,   PDB_ENV_RING,         PDB_ENV_CHAIN,  PDB_ENV_PTRACER,
	PDB_ENV_QUIET,  PDB_ENV_TRACE, PDB_ENV_TRACE_FILTER, PDB_ENV_KEEPER, NULL,
};

static const struct {
	const char *mpi, *recorder;
} recorders[] = {
	[PRELOAD_OPENMPI] = {"openmpi", "libpdbrec-openmpi.so"},
	[PRELOAD_MPICH] = {"mpich", "libpdbrec-mpich.so"},
	[PRELOAD_ABI] = {"abi", "libpdbrec-abi.so"},
};
#define FIRST PRELOAD_OPENMPI
#define LAST PRELOAD_ABI

enum preload_mpi preload_mpi_of_name(const char *name)
{
	for (enum preload_mpi mpi = FIRST; name && mpi <= LAST; mpi++)
		if (strcmp(name, recorders[mpi].mpi) == 0)
			return mpi;
	return PRELOAD_UNKNOWN;
}

/* ---- Which MPI ---- */

/* A library that only one MPI's launchers load identifies that MPI by its name. MPI libraries
 * themselves share names (libmpi.so.12, libmpi_cray.so.12, libmpi_abi.so.1), so their exported
 * symbols decide. The recorder uses the same rule. */
static enum preload_mpi mpi_of_library(const char *name, const char *path)
{
	const struct launcher_kind *kind = launcher_kind_of_library(name);

	if (kind)
		return preload_mpi_of_name(kind->mpi);
	if (!path)
		return PRELOAD_UNKNOWN;
	if (elf_symbol_is_exported(path, "MPIR_Dup_fn"))
		return PRELOAD_MPICH;
	if (elf_symbol_is_exported(path, "ompi_mpi_comm_world") &&
	    elf_symbol_is_exported(path, "PMPI_Comm_c2f"))
		return PRELOAD_OPENMPI;
	return elf_symbol_is_exported(path, "MPI_Abi_get_version") ? PRELOAD_ABI : PRELOAD_UNKNOWN;
}

static bool take_mpi(const char *name, const char *path, void *context)
{
	enum preload_mpi *mpi = context;

	*mpi = mpi_of_library(name, path);
	return *mpi != PRELOAD_UNKNOWN;
}

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* The file that a word would run: itself if it has a slash, else in PATH. The caller frees. */
static char *find_program(const char *word)
{
	const char *path = getenv("PATH");

	if (strchr(word, '/'))
		return is_program(word) ? xstrdup(word) : NULL;
	while (path && *path) {
		size_t length = strcspn(path, ":");
		char *file = xasprintf("%.*s/%s", (int)length, path, word);

		if (is_program(file))
			return file;
		free(file);
		path += length + (path[length] == ':');
	}
	return NULL;
}

/* The MPI by the libraries that an ELF file needs, directly or not; unknown for other files. */
static enum preload_mpi mpi_of_word(const char *word)
{
	enum preload_mpi mpi = PRELOAD_UNKNOWN;
	char *file SCOPED(free) = find_program(word);

	if (file)
		elf_needed_walk(file, take_mpi, &mpi);
	return mpi;
}

/* The launcher by its file name behind all links: "mpirun.openmpi", "mpiexec.hydra", "srun". */
static const struct launcher_kind *find_kind(const char *word)
{
	char *file = find_program(word), real[PATH_MAX];
	const char *path = file && realpath(file, real) ? real : word, *slash = strrchr(path, '/');

	free(file);
	return launcher_kind_of_program(slash ? slash + 1 : path);
}

enum preload_mpi preload_guess(char *const argv[])
{
	enum preload_mpi mpi = PRELOAD_UNKNOWN;
	const struct launcher_kind *kind;

	for (size_t i = 1; argv[i] && !mpi; i++)
		if (argv[i][0] != '-')
			mpi = mpi_of_word(argv[i]);
	if (mpi)
		return mpi;
	kind = find_kind(argv[0]);
	return kind ? preload_mpi_of_name(kind->mpi) : mpi_of_word(argv[0]);
}

/* ---- Where the recorder is ---- */

static void cut_name(char *path)
{
	*strrchr(path, '/') = '\0';
}

/* The folder of the running program. */
static bool program_folder(char folder[static PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);

	if (length <= 0)
		return false;
	folder[length] = '\0';
	cut_name(folder);
	return true;
}

/* The folder of the library that contains this code. For a program, the loader has the name that it
 * was started with. */
static bool library_folder(char folder[static PATH_MAX])
{
	static const char own;
	Dl_info info;

	if (!dladdr(&own, &info) || !info.dli_fname || info.dli_fname[0] != '/' ||
	    !realpath(info.dli_fname, folder))
		return false;
	cut_name(folder);
	return true;
}

/* The path of an installed file, without symbolic links. Folders, in this order: PDB_LIBDIR; the
 * running program's folder; ../lib/pdb from there; pdb/, ../pdb/ and ../lib/pdb/ from the folder of
 * this library, and the folder above it; the folder of the installation. */
static int find_own_file(const char *name, char **path_ret, struct pdb_error *err)
{
	const char *set = getenv(PDB_ENV_LIBDIR);
	char program[PATH_MAX], library[PATH_MAX];
	bool is_program = program_folder(program), is_library = library_folder(library);
	char *places[] = {
		set && *set ? xasprintf("%s/%s", set, name) : NULL,
		is_program ? xasprintf("%s/%s", program, name) : NULL,
		is_program ? xasprintf("%s/../lib/pdb/%s", program, name) : NULL,
		is_library ? xasprintf("%s/pdb/%s", library, name) : NULL,
		is_library ? xasprintf("%s/../pdb/%s", library, name) : NULL,
		is_library ? xasprintf("%s/../lib/pdb/%s", library, name) : NULL,
		is_library ? xasprintf("%s/../%s", library, name) : NULL,
		xasprintf("%s/%s", PDB_LIBDIR_DEFAULT, name),
	};
	char *found = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!found && places[i] && access(places[i], R_OK) == 0)
			found = realpath(places[i], NULL);
		free(places[i]);
	}
	if (!found)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is neither beside pdb nor in %s; set %s to where it is", name,
				 PDB_LIBDIR_DEFAULT, PDB_ENV_LIBDIR);
	*path_ret = found;
	return 0;
}

int preload_find(enum preload_mpi mpi, char **path_ret, struct pdb_error *err)
{
	return find_own_file(recorders[mpi ? mpi : FIRST].recorder, path_ret, err);
}

int preload_find_all(enum preload_mpi first, char **paths_ret, struct pdb_error *err)
{
	enum preload_mpi mpi = first ? first : FIRST;
	char *paths = NULL;

	/* All in turn, from that one on. */
	for (int i = FIRST; i <= LAST; i++, mpi = mpi == LAST ? FIRST : mpi + 1) {
		char *path, *before = paths;

		if (preload_find(mpi, &path, err) < 0)
			continue;
		paths = before ? xasprintf("%s:%s", before, path) : xstrdup(path);
		free(before);
		free(path);
	}
	*paths_ret = paths;
	return paths ? 0 : -1;
}

/* ---- How a launcher is told ---- */

/* `library`, followed by what is preloaded already. */
static char *preload_value(const char *library)
{
	const char *old = getenv("LD_PRELOAD");

	return old && *old ? xasprintf("%s:%s", library, old) : xstrdup(library);
}

char **preload_command(char *const argv[], const char *library)
{
	char *value SCOPED(free) = preload_value(library);
	const struct launcher_kind *kind = find_kind(argv[0]);
	struct words words = {.words = NULL};

	words_add(&words, argv[0]);
	if (kind && kind->preload)
		kind->preload(&words, value, forwarded);
	else
		setenv("LD_PRELOAD", value, 1);
	words_add_all(&words, (const char *const *)argv + 1);
	return words.words;
}

/* Quoted for a shell. */
static void put_quoted(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			putc(*text, out);
	}
	putc('\'', out);
}

char *preload_shell_lines(enum preload_mpi mpi, const char *library)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fputs("export LD_PRELOAD=", out);
	put_quoted(out, library);
	fputs("\"${LD_PRELOAD:+:$LD_PRELOAD}\"\n", out);
	if (mpi != PRELOAD_MPICH) {
		fputs("export " ENV_LIST "='LD_PRELOAD", out);
		for (size_t i = 0; forwarded[i]; i++)
			if (getenv(forwarded[i]))
				fprintf(out, ";%s", forwarded[i]);
		fputs("'\"${" ENV_LIST ":+;$" ENV_LIST "}\"\n", out);
	}
	fclose(out);
	return text;
}

static bool is_one_of(const char *const *names, const char *name, size_t length)
{
	for (; *names; names++)
		if (strlen(*names) == length && strncmp(name, *names, length) == 0)
			return true;
	return false;
}

/* Is it the path of a recorder, in any folder? */
static bool is_recorder(const char *path, size_t length)
{
	const char *slash = memrchr(path, '/', length), *name = slash ? slash + 1 : path;
	const char *names[LAST + 1] = {NULL};

	for (enum preload_mpi mpi = FIRST; mpi <= LAST; mpi++)
		names[mpi - FIRST] = recorders[mpi].recorder;
	return is_one_of(names, name, (size_t)(path + length - name));
}

/* Is it a name that preload_shell_lines() puts on the list? */
static bool is_forwarded(const char *name, size_t length)
{
	static const char *const preloaded[] = {"LD_PRELOAD", NULL};

	return is_one_of(preloaded, name, length) || is_one_of(forwarded, name, length);
}

/* Write a line that removes pdb's elements from a variable; nothing if it has none. */
static void put_rest(FILE *out, const char *variable, char separator,
		     bool (*is_ours)(const char *text, size_t length))
{
	const char *value = getenv(variable);
	char *rest = xstrdup("");
	bool has_ours = false;

	for (const char *at = value ? value : ""; *at;) {
		size_t length = strcspn(at, (char[]){separator, '\0'});

		if (is_ours(at, length)) {
			has_ours = true;
		} else if (length > 0) {
			char *longer = xasprintf("%s%.*s%.*s", rest, *rest ? 1 : 0, &separator,
						 (int)length, at);

			free(rest);
			rest = longer;
		}
		at += length + (at[length] != '\0');
	}
	if (has_ours && *rest) {
		fprintf(out, "export %s=", variable);
		put_quoted(out, rest);
		putc('\n', out);
	} else if (has_ours) {
		fprintf(out, "unset %s\n", variable);
	}
	free(rest);
}

char *preload_unset_lines(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	put_rest(out, "LD_PRELOAD", ':', is_recorder);
	put_rest(out, ENV_LIST, ';', is_forwarded);
	fclose(out);
	return text;
}
