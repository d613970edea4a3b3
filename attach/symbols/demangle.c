/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <dlfcn.h>

#include "attach/symbols/demangle.h"
#include "model/base.h"

typedef char *(*cxa_demangle_fn)(const char *mangled, char *buffer, size_t *length, int *status);

/* The demangler of the C++ ABI is in libstdc++. Loaded when the first C++ name turns up, so that
 * neither building nor running pdb needs C++ where no job does. */
static cxa_demangle_fn load_demangler(void)
{
	static cxa_demangle_fn function;
	static bool is_tried;
	void *library;

	if (!is_tried) {
		is_tried = true;
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		if (library)
			*(void **)&function = dlsym(library, "__cxa_demangle");
	}
	return function;
}

/* Cut what GCC appends to clones, parts and nested functions: a dot and a word or a number. */
static void cut_suffixes(char *name)
{
	static const char *const words[] = {"constprop", "isra",     "part",
					    "cold",      "lto_priv", "localalias"};
	char *dot;

	/* A version: memcpy@@GLIBC_2.14. */
	if (name[0] != '@')
		name[strcspn(name, "@")] = '\0';
	while ((dot = strrchr(name, '.')) && dot != name) {
		bool is_suffix = dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1);

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			is_suffix |= !strcmp(dot + 1, words[i]);
		if (!is_suffix)
			break;
		*dot = '\0';
	}
}

/* Cut the parameters and what follows them: "a::b(int) const" is "a::b". They are the last pair of
 * brackets, whatever brackets are inside. */
static void cut_parameters(char *name)
{
	char *close = strrchr(name, ')'), *at;
	int depth = 0;

	if (!close || close[1 + strspn(close + 1, " &constvlaie")])
		return;
	for (at = close; at > name; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (!depth)
			break;
	}
	if (at > name)
		*at = '\0';
}

/* Function templates are written with their return type: "void a::b<int>" is "a::b<int>". It ends
 * at the last blank outside of all brackets; "operator new" is one name. */
static const char *skip_return_type(const char *name)
{
	const char *at, *start = name;
	int depth = 0;

	for (at = name; *at; at++) {
		if (!strncmp(at, "operator", 8))
			break;
		depth += *at == '<' || *at == '(' || *at == '{';
		depth -= *at == '>' || *at == ')' || *at == '}';
		if (!depth && *at == ' ')
			start = at + 1;
	}
	return start;
}

static char *demangle_cxx(const char *symbol)
{
	cxa_demangle_fn function = load_demangler();
	char *plain = NULL, *copy;
	int status;

	if (function)
		plain = function(symbol, NULL, NULL, &status);
	if (!plain)
		return NULL;
	cut_parameters(plain);
	/* From now on owned by an allocation of our own kind. */
	copy = xstrdup(skip_return_type(plain));
	free(plain);
	return copy;
}

/* __MODULE_MOD_PROCEDURE, all in lower case but for that word. */
static char *demangle_module(const char *symbol)
{
	const char *middle = strstr(symbol, "_MOD_");

	if (strncmp(symbol, "__", 2) != 0 || !middle || middle <= symbol + 2 || !middle[5])
		return NULL;
	return xasprintf("%.*s::%s", (int)(middle - symbol - 2), symbol + 2, middle + 5);
}

/* An external Fortran procedure: lower case and one underscore at the end (two, from some
 * compilers, where the name has one inside). */
static void cut_underscore(char *name)
{
	size_t length = strlen(name), i;

	if (length < 2 || name[length - 1] != '_' || !islower((unsigned char)name[0]))
		return;
	for (i = 0; i < length; i++)
		if (isupper((unsigned char)name[i]))
			return;
	name[--length] = '\0';
	if (name[length - 1] == '_' && strchr(name, '_') != name + length - 1)
		name[length - 1] = '\0';
}

char *demangle(const char *symbol)
{
	char *name = xstrdup(symbol), *better;

	cut_suffixes(name);
	better = !strncmp(name, "_Z", 2) ? demangle_cxx(name) : demangle_module(name);
	if (better) {
		free(name);
		return better;
	}
	cut_underscore(name);
	return name;
}
