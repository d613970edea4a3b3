# SPDX-License-Identifier: BSD-3-Clause
# What mpi_calls.def and the prototypes of mpi.h say of functions. Given to gawk before the file that asks.

# Has the script add_call(NAME, CLASS, SHAPE, CONSTANTS) each function that the line of mpi_calls.def gives.
function add_calls(	num, i, kind, shape, texts)
{
	while ($(num + 1) ~ /^MPI_/)
		num++
	kind = $(num + 1)
	shape = $(num + 2)
	for (i = num + 3; i <= NF; i++)
		texts = texts ", " $i
	for (i = 1; i <= num; i++) {
		if (kind != "COLLECTIVES") {
			add_with_large($i, kind, shape, texts)
			continue
		}
		add_with_large($i, "COLLECTIVE", shape, "")
		add_with_large("MPI_I" tolower(substr($i, 5)), "ICOLLECTIVE", "i" shape, ", 0")
		add_with_large($i "_init", "ICOLLECTIVE", "i" shape, ", SEG_REQUEST_PERSISTENT")
	}
}

# The variant with large counts has its arguments in the same order.
function add_with_large(name, kind, shape, texts)
{
	add_call(name, kind, shape, texts)
	add_call(name "_c", kind, shape, texts)
}

# The prototypes in the text of a header: by name, their parameters.
function find_prototypes(text, prototype,	num, statements, i, m)
{
	num = split(text, statements, ";")
	for (i = 1; i <= num; i++)
		if (match(statements[i], /(^|[^A-Za-z_0-9])int +(MPI_\w+) *\((.*)\)[^()]*$/, m))
			prototype[m[2]] = m[3]
}

# Of those with handles, numbers and addresses. MPICH 4.2's MPI_Request_get_status_all() and the like
# lack the standard's "const".
function print_prototypes(text,	prototype, name)
{
	find_prototypes(text, prototype)
	PROCINFO["sorted_in"] = "@ind_str_asc"
	for (name in prototype)
		if ((name == "MPI_Grequest_start" || prototype[name] !~ /MPI_T_|MPI_F08|_function/) &&
		    name !~ /^MPI_Request_get_status_(all|any|some)$/)
			printf "int %s(%s);\n", name, prototype[name]
}

function trim(s)
{
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

# Split the prototype's parameters: names[], types[] ("MPI_Comm", "void *"), and text_number[] of
# those that are text: these have hidden lengths in Fortran. Returns their number.
function parameters(list, names, types,	parts, n, i, p, is_array)
{
	num_texts = 0
	delete text_number
	list = trim(list)
	if (list == "" || list == "void")
		return 0
	n = split(list, parts, ",")
	for (i = 1; i <= n; i++) {
		p = trim(parts[i])
		if (p ~ /(^|[ \t])char[ \t*]/)
			text_number[i] = ++num_texts
		is_array = gsub(/(\[[^]]*\])+$/, "", p)
		match(p, /[A-Za-z_][A-Za-z_0-9]*$/)
		names[i] = substr(p, RSTART)
		p = substr(p, 1, RSTART - 1)
		gsub(/(^|[ \t])const[ \t]/, "", p)
		types[i] = trim(p) (is_array ? " *" : "")
	}
	return n
}
