# SPDX-License-Identifier: BSD-3-Clause
# Write the recorder's wrappers.
#
#	gawk -f wrappers.gawk mpi_calls.def PREPROCESSED_MPI_H >wrappers.c
#
# The first file names the functions, the second (gcc -E -P of mpi.h) gives their prototypes. The
# macros that the output uses are in wrap.h.

FNR == NR {
	if ($1 ~ /^MPI_/) {
		order[++num_calls] = $1
		class[$1] = $2
		outcome[$1] = $3
		# The variant with large counts has its arguments in the same order.
		order[++num_calls] = $1 "_c"
		class[$1 "_c"] = $2
		outcome[$1 "_c"] = $3
	}
	next
}

{
	text = text " " $0
}

function trim(s)
{
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

# Split the prototype's parameters: names[], and how many are text (these have hidden lengths in
# Fortran). Returns their number.
function parameters(list, names,	parts, n, i, p)
{
	num_texts = 0
	list = trim(list)
	if (list == "" || list == "void")
		return 0
	n = split(list, parts, ",")
	for (i = 1; i <= n; i++) {
		p = trim(parts[i])
		if (p ~ /(^|[ \t])char[ \t*]/)
			num_texts++
		gsub(/(\[[^]]*\])+$/, "", p)
		match(p, /[A-Za-z_][A-Za-z_0-9]*$/)
		names[i] = substr(p, RSTART)
	}
	return n
}

function hook(name)
{
	if (class[name] == "POLL")
		return "POLL"
	if (name == "MPI_Init" || name == "MPI_Init_thread")
		return "INIT"
	if (name ~ /^MPI_Session_(init|finalize)$/)
		return toupper(substr(name, 5))
	if (name == "MPI_Finalize" || name == "MPI_Abort")
		return toupper(substr(name, 5))
	return "CALL"
}

function c_wrapper(name, list, names, n,	i, args)
{
	for (i = 1; i <= n; i++)
		args = args (i > 1 ? ", " : "") names[i]
	printf "int %s(%s)\n{\n", name, list
	printf "\tWRAP_BEGIN(\"%s\", \"%s\", %s, C);\n", name, name, class[name]
	printf "\tif (!next)\n\t\treturn MPI_ERR_OTHER;\n"
	printf "\tWRAP_BEFORE_%s();\n", hook(name)
	printf "\tint ret = ((__typeof__(&%s))next)(%s);\n", name, args
	if (class[name] == "POLL")
		printf "\tWRAP_AFTER_POLL(ret, *%s);\n", names[outcome[name]]
	else
		printf "\tWRAP_AFTER_%s();\n", hook(name)
	printf "\treturn ret;\n}\n\n"
}

# Fortran passes every argument by reference, then ierror (NULL when absent in mpi_f08), then the
# lengths of texts by value.
function fortran_wrapper(name, symbol, n,	i, list, types, args, sep)
{
	for (i = 1; i <= n; i++) {
		list = list "void *a" i ", "
		types = types "void *, "
		args = args "a" i ", "
	}
	list = list "int *ierror"
	types = types "int *"
	args = args "ierror"
	for (i = 1; i <= num_texts; i++) {
		list = list ", size_t length" i
		types = types ", size_t"
		args = args ", length" i
	}
	printf "void %s(%s);\n", symbol, list
	printf "void %s(%s)\n{\n", symbol, list
	printf "\tWRAP_BEGIN(\"%s\", \"%s\", %s, FORTRAN);\n", symbol, name, class[name]
	printf "\tif (!next) {\n\t\tif (ierror)\n\t\t\t*ierror = MPI_ERR_OTHER;\n\t\treturn;\n\t}\n"
	printf "\tWRAP_BEFORE_%s();\n", hook(name)
	printf "\t((void (*)(%s))next)(%s);\n", types, args
	if (class[name] == "POLL")
		printf "\tWRAP_AFTER_POLL(ierror ? *ierror : 0, *(int *)a%d);\n", outcome[name]
	else
		printf "\tWRAP_AFTER_%s();\n", hook(name)
	printf "}\n\n"
}

function fortran_wrappers(name, n,	base, i, m)
{
	# Fortran's MPI_INIT has no argc and argv.
	if (hook(name) == "INIT") {
		n -= 2
		num_texts = 0
	}
	base = tolower(name)
	if (base ~ /_c$/ && name ~ /_c$/) {
		sub(/_c$/, "", base)
		fortran_wrapper(name, base "_f08_large_", n)
		fortran_wrapper(name, base "_f08ts_large_", n)
		return
	}
	m = split("f08_ f08ts_", f08, " ")
	for (i = 1; i <= m; i++)
		fortran_wrapper(name, base "_" f08[i], n)
	fortran_manglings(name, base, n)
	# The forms whose base address is a TYPE(C_PTR) have names of their own.
	if (name == "MPI_Win_allocate" || name == "MPI_Win_allocate_shared")
		fortran_manglings(name, base "_cptr", n)
}

function fortran_manglings(name, base, n)
{
	fortran_wrapper(name, base, n)
	fortran_wrapper(name, base "_", n)
	fortran_wrapper(name, base "__", n)
	fortran_wrapper(name, toupper(base), n)
}

END {
	print "/* Written by wrappers.gawk from mpi_calls.def and mpi.h. */"
	print "#include \"model/recorder/wrap.h\"\n"
	num = split(text, statements, ";")
	for (i = 1; i <= num; i++) {
		if (match(statements[i], /(^|[^A-Za-z_0-9])int +(MPI_[A-Za-z_0-9]+) *\((.*)\)[^()]*$/, m))
			prototype[m[2]] = m[3]
	}
	for (i = 1; i <= num_calls; i++) {
		name = order[i]
		if (!(name in prototype))
			continue
		delete names
		n = parameters(prototype[name], names)
		c_wrapper(name, prototype[name], names, n)
		fortran_wrappers(name, n)
		written++
	}
	if (written < 150) {
		print "wrappers.gawk: only " written + 0 " prototypes found in mpi.h" >"/dev/stderr"
		exit 1
	}
}
