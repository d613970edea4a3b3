# SPDX-License-Identifier: BSD-3-Clause
# Write the recorder's wrappers.
#
#	gawk -f prototypes.gawk -f wrappers.gawk mpi_calls.def PREPROCESSED_MPI_H >wrappers.c
#
# The first file names the functions and their shapes, the second (gcc -E -P of mpi.h) gives their
# prototypes. The macros that the output uses are in wrap.h, the hooks of the shapes in the headers
# that it includes.

FNR == NR && $1 == "shape" {
	shape = $2
	hook_before[shape] = shape
	hook_after[shape] = ""
	num_before[shape] = num_after[shape] = 0
	for (i = 3; i <= NF; i++) {
		if ($i ~ /^@/)
			hook_before[shape] = substr($i, 2)
		else if ($i ~ /^:/)
			hook_after[shape] = $i == ":" ? shape : substr($i, 2)
		else if (hook_after[shape] != "")
			after[shape, ++num_after[shape]] = $i
		else
			before[shape, ++num_before[shape]] = $i
	}
	next
}

FNR == NR {
	if ($1 ~ /^MPI_/) {
		add_call($1)
		# The variant with large counts has its arguments in the same order.
		add_call($1 "_c")
	}
	next
}

{
	text = text " " $0
}

function add_call(name,	i)
{
	order[++num_calls] = name
	class[name] = $2
	shape_of[name] = $3
	if ($3 != "" && !($3 in hook_before))
		fail($1 " has the unknown shape " $3)
	for (i = 4; i <= NF; i++)
		constants[name] = constants[name] ", " $i
}

function fail(why)
{
	print "wrappers.gawk: " why >"/dev/stderr"
	failed = 1
	exit 1
}

# Number of the parameter that an ARGUMENT of a shape names.
function position(name, argument,	wanted, m, i, j)
{
	sub(/^[?=~]/, "", argument)
	m = split(argument, wanted, "|")
	for (j = 1; j <= m; j++)
		for (i = 1; i <= num_parameters; i++)
			if (names[i] == wanted[j])
				return i
	fail(name " has no argument " argument)
}

# Number of the parameter with that mark in the function's shape; 0: none.
function marked(name, mark,	s, i)
{
	s = shape_of[name]
	for (i = 1; i <= num_before[s]; i++)
		if (substr(before[s, i], 1, 1) == mark)
			return position(name, before[s, i])
	return 0
}

# What the hook gets of parameter i, in C and in Fortran (where all are references).
function c_value(i)
{
	if (i in text_number)
		return names[i] ", SIZE_MAX"
	if (types[i] ~ /^MPI_(Comm|Datatype|Win|File|Group)$/)
		return "WRAP_FROM_C(" types[i] ", " names[i] ")"
	return (types[i] == "MPI_Request" ? "&" : "") names[i]
}
function fortran_value(i, symbol)
{
	if (i in text_number)
		return "a" i ", length" text_number[i]
	if (types[i] ~ /^(void|char) ?\*$/ && symbol ~ /_f08ts_/)
		return "WRAP_DESCRIBED(a" i ")"
	if (types[i] ~ /\*/ || types[i] == "MPI_Request")
		return "a" i
	if (types[i] ~ /^(int|MPI_Count|MPI_Aint|MPI_Offset)$/)
		return "*(const " types[i] " *)a" i
	return "WRAP_FROM_FORTRAN(" types[i] ", a" i ")"
}

# ", VALUE" for each argument; symbol is empty in C.
function values(name, list, num, symbol,	s, i, at, text)
{
	s = shape_of[name]
	for (i = 1; i <= num; i++) {
		if (list[s, i] ~ /^[?=~]/)
			continue
		if (list[s, i] ~ /^([0-9]|[A-Z]+_)/) {
			text = text ", " list[s, i]
			continue
		}
		at = position(name, list[s, i])
		text = text ", " (symbol ? fortran_value(at, symbol) : c_value(at))
	}
	return text
}

# The wrapper's statements around the call of the next function; those of the outcome and the replaced argument
# are C expressions.
function body(name, symbol, call, outcome, status,	s, at)
{
	s = shape_of[name]
	if (class[name] == "QUIET") {
		printf "\tint ret = %s;\n", call
		printf "\tstruct wrap_call wrap = {.is_fortran = %d};\n", symbol != ""
		printf "\twrap_%s_after(&wrap, ret%s);\n", hook_after[s],
		       values(name, after, num_after[s], symbol)
		return
	}
	at = marked(name, "~")
	if (at) {
		printf "\tstruct lane *skipping = recorder_may_skip();\n"
		printf "\tif (skipping && wrap_%s_is_idle(%s%s)) {\n", s,
		       symbol ? fortran_value(at, symbol) : c_value(at), constants[name]
		printf "\t\tWRAP_SKIP(skipping);\n\t\tint ret = %s;\n\t\trecorder_skipped(skipping);\n", call
		printf symbol ? "\t\t(void)ret;\n\t\treturn;\n\t}\n" : "\t\treturn ret;\n\t}\n"
	}
	printf "\tWRAP_BEGIN(%s);\n", status
	printf "\tif (wrap.lane) {\n"
	if (s != "" && hook_before[s] != "unknown")
		printf "\t\twrap_%s_before(&wrap%s%s);\n", hook_before[s],
		       values(name, before, num_before[s], symbol), constants[name]
	else
		printf "\t\twrap_unknown(&wrap, OPERATION_%s);\n", class[name] == "POLL" ? "POLL" : "CALL"
	printf "\t\tWRAP_ENTER%s();\n\t}\n", class[name] == "POLL" ? "_POLL" : ""
	printf "\tint ret = %s;\n", call
	printf "\tif (wrap.lane && recorder_returned(wrap.lane)) {\n"
	if (s != "" && hook_after[s] != "")
		printf "\t\twrap_%s_after(&wrap, ret%s);\n", hook_after[s],
		       values(name, after, num_after[s], symbol)
	printf class[name] == "POLL" ? "\t\tWRAP_LEAVE_POLL(ret, %s);\n\t}\n" :
	       "\t\tWRAP_LEAVE();\n\t}\n", outcome
}

# What is done around a few functions, recorded or not.
function special(name)
{
	if (name == "MPI_Init" || name == "MPI_Init_thread")
		return "INIT"
	if (name ~ /^MPI_(Session_init|Session_finalize|Finalize|Abort)$/)
		return toupper(substr(name, 5))
	return ""
}

function before_special(name)
{
	if (special(name) != "")
		printf "\tWRAP_BEFORE_%s();\n", special(name)
}

function after_special(name)
{
	if (special(name) != "")
		printf "\tWRAP_AFTER_%s();\n", special(name)
}

function stored_class(name)
{
	return class[name] == "QUIET" ? "OTHER" : class[name]
}

function c_wrapper(name, list,	i, args, status, outcome)
{
	status = marked(name, "=")
	outcome = marked(name, "?")
	for (i = 1; i <= num_parameters; i++)
		args = args (i > 1 ? ", " : "") (i == status ? "wrap.status" : names[i])
	printf "WRAP_EXPORT(%s, \"%s\", %s, C, -1);\n", name, name, stored_class(name)
	printf "int WRAP_BODY(%s)(%s);\n", name, list
	printf "int WRAP_BODY(%s)(%s)\n{\n", name, list
	printf "\tWRAP_FUNCTION(%s, C);\n", name
	before_special(name)
	body(name, "", sprintf("((__typeof__(&%s))WRAP_NEXT())(%s)", name, args),
	     outcome ? "*" names[outcome] : "", status ? names[status] : "NULL")
	after_special(name)
	printf "\treturn ret;\n}\n\n"
}

# Fortran passes every argument by reference, then ierror (NULL when absent in mpi_f08), then the
# lengths of texts by value.
function fortran_wrapper(name, symbol, n,	i, list, types_list, args, status, outcome)
{
	status = marked(name, "=")
	outcome = marked(name, "?")
	for (i = 1; i <= n; i++) {
		list = list "void *a" i ", "
		types_list = types_list "void *, "
		args = args (i == status ? "wrap.status" : "a" i) ", "
	}
	list = list "int *ierror"
	types_list = types_list "int *"
	args = args "ierror"
	for (i = 1; i <= num_texts; i++) {
		list = list ", size_t length" i
		types_list = types_list ", size_t"
		args = args ", length" i
	}
	printf "WRAP_EXPORT(%s, \"%s\", %s, FORTRAN, %d);\n", symbol, name, stored_class(name), n
	printf "void WRAP_BODY(%s)(%s);\n", symbol, list
	printf "void WRAP_BODY(%s)(%s)\n{\n", symbol, list
	printf "\tWRAP_FUNCTION(%s, FORTRAN);\n", symbol
	before_special(name)
	body(name, symbol, sprintf("WRAP_FORTRAN_CALL((void (*)(%s))WRAP_NEXT(), %s)", types_list, args),
	     outcome ? "*(int *)a" outcome : "", status ? "a" status : "NULL")
	printf "\t(void)ret;\n"
	after_special(name)
	printf "}\n\n"
}

function fortran_wrappers(name, n,	base, i, m)
{
	# Fortran's MPI_INIT has no argc and argv.
	if (special(name) == "INIT") {
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
	if (failed)
		exit 1
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
		delete types
		num_parameters = parameters(prototype[name], names, types)
		c_wrapper(name, prototype[name])
		fortran_wrappers(name, num_parameters)
		written++
	}
	if (written < 150)
		fail("only " written + 0 " prototypes found in mpi.h")
}
