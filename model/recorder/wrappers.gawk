# SPDX-License-Identifier: BSD-3-Clause
# Write the recorder's wrappers.
#
#	gawk -f prototypes.gawk -f wrappers.gawk mpi_calls.def PREPROCESSED_MPI_H >wrappers.c
#
# The first file names the functions and their shapes, the second (gcc -E -P of mpi.h) gives their
# prototypes. The macros that the output uses are in wrap.h, the hooks of the shapes in the headers
# that it includes.

# What is done around a few functions, recorded or not.
BEGIN {
	first["MPI_Init"] = first["MPI_Init_thread"] = "process_before_init();"
	last["MPI_Init"] = last["MPI_Init_thread"] = "process_after_init(&wrap_mpi);"
	last["MPI_Session_init"] = "if (wrap.lane)\n\t\tprocess_session(1);"
	last["MPI_Session_finalize"] = "if (wrap.lane)\n\t\tprocess_session(-1);"
	first["MPI_Finalize"] = "process_before_finalize();"
	last["MPI_Finalize"] = "process_after_finalize();"
	first["MPI_Abort"] = "process_before_abort();"
	before[""] = "" # without a shape
}

FNR == NR && $1 == "shape" {
	shape = $2
	hook_before[shape] = shape
	before[shape] = after[shape] = ""
	for (i = 3; i <= NF; i++) {
		if ($i ~ /^@/)
			hook_before[shape] = substr($i, 2)
		else if (match($i, /^(::?)(.*)$/, m)) {
			hook_after[shape] = m[2] == "" ? shape : m[2]
			if_successful[shape] = m[1] == "::"
		}
		else if (hook_after[shape] != "")
			after[shape] = after[shape] " " $i
		else
			before[shape] = before[shape] " " $i
	}
	next
}

FNR == NR && $1 == "look" {
	for (i = 3; $i != ":"; i++)
		look_of[$i] = look_of[$i "_c"] = $2
	for (i++; i <= NF; i++)
		look[$2] = look[$2] " " $i
	next
}

FNR == NR {
	add_calls()
	next
}

{
	text = text " " $0
}

function add_call(name, kind, shape, texts)
{
	if (kind == "ICOLLECTIVE" && !(shape in hook_before)) {
		hook_before[shape] = shape
		before[shape] = before[substr(shape, 2)]
		hook_after[shape] = "request_made"
		after[shape] = " request"
	}
	if (shape != "" && !(shape in hook_before))
		fail(name " has the unknown shape " shape)
	order[++num_calls] = name
	class[name] = kind
	shape_of[name] = shape
	constants[name] = texts
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
	sub(/^[?=~#]/, "", argument)
	m = split(argument, wanted, "|")
	for (j = 1; j <= m; j++)
		for (i = 1; i <= num_parameters; i++)
			if (names[i] == wanted[j])
				return i
	fail(name " has no argument " argument)
}

# Number of the parameter with that mark in the function's shape; 0: none.
function marked(name, mark,	list, n, i)
{
	n = split(before[shape_of[name]], list)
	for (i = 1; i <= n; i++)
		if (substr(list[i], 1, 1) == mark)
			return position(name, list[i])
	return 0
}

# What the hook gets of parameter i; symbol is empty in C. In Fortran all are references.
function value(i, symbol)
{
	# Where choice buffers come in descriptors, these begin with the address.
	if (names[i] ~ /^(sendbuf|origin_addr|result_addr|compare_addr)$/)
		return symbol ~ /f08ts/ ? "*(void *const *)a" i : symbol ? "a" i : names[i]
	if (i in text_number)
		return symbol ? "a" i ", length" text_number[i] : names[i] ", SIZE_MAX"
	if (!symbol && types[i] ~ /^MPI_(Comm|Datatype|Win|File|Group)$/)
		return "WRAP_FROM_C(" types[i] ", " names[i] ")"
	if (!symbol)
		return (types[i] == "MPI_Request" ? "&" : "") names[i]
	if (types[i] ~ /\*/ || types[i] == "MPI_Request")
		return "a" i
	if (types[i] ~ /^(int|MPI_Count|MPI_Aint|MPI_Offset)$/)
		return "*(const " types[i] " *)a" i
	return "WRAP_FROM_FORTRAN(" types[i] ", a" i ")"
}

# An array of counts and the size of one.
function counts(i, symbol,	type)
{
	type = types[i]
	sub(/[ *].*$/, "", type)
	return "(struct wrap_counts){" (symbol ? "a" i : names[i]) ", sizeof(" type ")}"
}

# ", VALUE" for each argument of the list.
function values(name, list, symbol,	n, argument, i, text)
{
	n = split(list, argument)
	for (i = 1; i <= n; i++)
		if (argument[i] ~ /^([0-9]|[A-Z]+_)/)
			text = text ", " argument[i]
		else if (argument[i] ~ /^#/)
			text = text ", " counts(position(name, argument[i]), symbol)
		else if (argument[i] !~ /^[?=~]/)
			text = text ", " value(position(name, argument[i]), symbol)
	return text
}

# Statements: the hook after the call, if there is one.
function print_after(name, symbol, indent, outcome,	s, if_any)
{
	s = shape_of[name]
	if (hook_after[s] == "")
		return
	if (if_successful[s])
		if_any = "ret == MPI_SUCCESS" (outcome ? " && " outcome : "")
	else if (outcome)
		if_any = "ret != MPI_SUCCESS || " outcome
	if (if_any)
		printf "%sif (%s)\n\t", indent, if_any
	printf "%swrap_%s_after(&wrap%s%s);\n", indent, hook_after[s], if_successful[s] ? "" : ", ret",
	       values(name, after[s], symbol)
}

# Statements: a call that may only look is a poll or not.
function print_look(name, symbol, call,	s)
{
	s = shape_of[name]
	printf "\tif (wrap.lane && looks_are_due(wrap.lane)) {\n"
	printf "\t\twrap_look_%s(&wrap%s);\n", look_of[name], values(name, look[look_of[name]], symbol)
	printf "\t\twrap_%s_before(&wrap%s%s);\n", hook_before[s], values(name, before[s], symbol),
	       constants[name]
	printf "\t\trecorder_enter_look(wrap.lane);\n"
	printf "\t\tint ret = %s;\n", call
	printf "\t\tif (recorder_returned(wrap.lane)) {\n"
	print_after(name, symbol, "\t\t\t", "")
	printf "\t\t\trecorder_leave_look(wrap.lane);\n\t\t}\n"
	printf symbol ? "\t\t(void)ret;\n\t\treturn;\n\t}\n" : "\t\treturn ret;\n\t}\n"
}

# The wrapper's statements around the call of the next function; those of the status and the outcome are
# C expressions.
function print_body(name, symbol, call, status, outcome,	s, at, polls)
{
	s = shape_of[name]
	polls = class[name] == "POLL"
	if (class[name] == "QUIET") {
		printf "\tint ret = %s;\n", call
		printf "\tstruct wrap_call wrap = {.is_fortran = %d};\n", symbol != ""
		print_after(name, symbol, "\t", "")
		return
	}
	at = marked(name, "~")
	if (at) {
		printf "\tstruct lane *skipping = recorder_may_skip();\n"
		printf "\tif (skipping && wrap_%s_is_idle(%s%s)) {\n", s, value(at, symbol), constants[name]
		printf "\t\trecorder_skip(skipping, (uintptr_t)__builtin_dwarf_cfa());\n"
		printf "\t\tint ret = %s;\n\t\trecorder_skipped(skipping);\n", call
		printf symbol ? "\t\t(void)ret;\n\t\treturn;\n\t}\n" : "\t\treturn ret;\n\t}\n"
	}
	printf "\tWRAP_BEGIN(%s);\n", status
	if (name in look_of)
		print_look(name, symbol, call)
	printf "\tif (wrap.lane) {\n"
	if (s != "" && hook_before[s] != "unknown")
		printf "\t\twrap_%s_before(&wrap%s%s);\n", hook_before[s],
		       values(name, before[s], symbol), constants[name]
	else
		printf "\t\twrap_unknown(&wrap, OPERATION_%s);\n", polls ? "POLL" : "CALL"
	printf "\t\trecorder_enter%s(wrap.lane);\n\t}\n", polls ? "_poll" : ""
	printf "\tint ret = %s;\n", call
	printf "\tif (wrap.lane && recorder_returned(wrap.lane)) {\n"
	print_after(name, symbol, "\t\t", outcome)
	if (class[name] ~ /^(COLLECTIVE|COMM)$/)
		printf "\t\tif (__builtin_expect(ret != MPI_SUCCESS, 0))\n\t\t\twrap_failed(&wrap, ret);\n"
	# A poll has failed when it says success and its flag or count is 0.
	if (polls)
		printf "\t\trecorder_leave_poll(wrap.lane, ret == MPI_SUCCESS && %s == 0);\n\t}\n", outcome
	else
		printf "\t\trecorder_leave(wrap.lane);\n\t}\n"
}

# `ierror`: arguments before Fortran's; -1 in C. `list` is how its parameters are declared.
function print_wrapper(name, symbol, type, list, ierror, call, status, outcome,	language)
{
	language = ierror < 0 ? "C" : "FORTRAN"
	printf "WRAP_EXPORT(%s, \"%s\", %s, %s, %d);\n", symbol, name,
	       class[name] == "QUIET" ? "OTHER" : class[name], language, ierror
	printf "%s WRAP_BODY(%s)(%s);\n", type, symbol, list
	printf "%s WRAP_BODY(%s)(%s)\n{\n", type, symbol, list
	printf "\tWRAP_FUNCTION(%s, %s);\n", symbol, language
	if (name in first)
		printf "\t%s\n", first[name]
	print_body(name, ierror < 0 ? "" : symbol, call, status, outcome)
	printf ierror < 0 ? "" : "\t(void)ret;\n"
	if (name in last)
		printf "\t%s\n", last[name]
	printf ierror < 0 ? "\treturn ret;\n}\n\n" : "}\n\n"
}

function c_wrapper(name, list,	i, args, status, outcome)
{
	status = marked(name, "=")
	outcome = marked(name, "?")
	for (i = 1; i <= num_parameters; i++)
		args = args (i > 1 ? ", " : "") (i == status ? "wrap.status" : names[i])
	print_wrapper(name, name, "int", list, -1,
		      sprintf("((__typeof__(&%s))function->next)(%s)", name, args),
		      status ? names[status] : "NULL", outcome ? "*" names[outcome] : "")
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
	print_wrapper(name, symbol, "void", list, n,
		      sprintf("WRAP_FORTRAN_CALL((void (*)(%s))function->next, %s)", types_list, args),
		      status ? "a" status : "NULL", outcome ? "*(int *)a" outcome : "")
}

function fortran_wrappers(name, n,	base)
{
	# Fortran's MPI_INIT has no argc and argv.
	if (name ~ /^MPI_Init(_thread)?$/) {
		n -= 2
		num_texts = 0
	}
	base = tolower(name)
	if (name ~ /_c$/) {
		sub(/_c$/, "", base)
		fortran_wrapper(name, base "_f08_large_", n)
		fortran_wrapper(name, base "_f08ts_large_", n)
		return
	}
	fortran_wrapper(name, base "_f08_", n)
	fortran_wrapper(name, base "_f08ts_", n)
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
	find_prototypes(text, prototype)
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
