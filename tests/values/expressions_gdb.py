# SPDX-License-Identifier: BSD-3-Clause
"""Within gdb, attached to a rank: expressions of its variables by chance, with gdb's own values.

Settings come by the environment: EXPRESSIONS_SEED, EXPRESSIONS_NUM, EXPRESSIONS_FILE (the result, a
list of objects in JSON), EXPRESSIONS_PROGRAM (frames of this file alone). A value is a tree:
{"number": N}, {"float": TEXT, "size": N}, {"char": N}, {"enum": TEXT, "number": N}, {"bool": B},
{"pointer": N, "text": TEXT}, {"struct": [[NAME, TREE]...]}, {"array": [TREE...]}, {"other": TEXT}."""
import json
import os
import random
import re

import gdb

SEED = int(os.environ["EXPRESSIONS_SEED"])
WANTED = int(os.environ["EXPRESSIONS_NUM"])
PROGRAM = os.environ["EXPRESSIONS_PROGRAM"]
chance = random.Random(SEED)
MAX_ELEMENTS = 3000
STRUCTS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
STRINGS = (gdb.TYPE_CODE_STRING,)


def base_of(name):
    """"sweep" of "physics::Field<double>::sweep(int)"."""
    while re.search("<[^<>]*>", name):
        name = re.sub("<[^<>]*>", "", name)
    return name.split("(")[0].split("::")[-1]


def own_frames():
    """With the names of their functions, each once: nothing else tells two of one name apart."""
    frames, frame, seen = [], gdb.newest_frame(), set()
    while frame is not None and len(frames) < 20:
        name = frame.name()
        # Above main is the C library, though its frame belongs to the program.
        if name and gdb.solib_name(frame.pc()) is None and name != "_start":
            base = base_of(name)
            if base in seen:
                frames = [entry for entry in frames if entry[1] != base]
            elif frame.find_sal().symtab is not None:
                frames.append((frame, base))
            seen.add(base)
        frame = frame.older()
    return frames


def names_of(frame):
    """Local ones, the innermost of each name, and those of the file and its modules."""
    block, locals_, seen = frame.block(), [], set()
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            is_it = symbol.is_variable or symbol.is_argument
            if is_it and symbol.name not in seen and "." not in symbol.name:
                seen.add(symbol.name)
                locals_.append(symbol.name)
        if block.function:
            break
        block = block.superblock
    file_ones = []
    for block in (frame.find_sal().symtab.static_block(), frame.find_sal().symtab.global_block()):
        for symbol in block:
            if symbol.is_variable and symbol.name not in seen and "." not in symbol.name:
                file_ones.append(symbol.name)
    return locals_, file_ones


def is_fortran(frame):
    return "fortran" in gdb.execute("show language", to_string=True).lower()


def step(value, fortran):
    """What can be done next: (for pdb, for gdb, value). None: nothing."""
    type_ = value.type.strip_typedefs()
    code = type_.code
    if code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return step(value.referenced_value(), fortran)
    if code in STRUCTS:
        fields = [field for field in type_.fields() if field.name and not field.is_base_class and
                  hasattr(field, "bitpos") and not field.artificial and not field.bitsize and
                  not field.name.startswith(("_vptr", "__"))]
        if not fields:
            return None
        field = chance.choice(fields)
        text = ("%" if fortran else ".") + field.name
        return text, text, value[field]
    if code == gdb.TYPE_CODE_ARRAY:
        if fortran:
            return fortran_step(value, type_)
        low, high = type_.range()
        if high < low:
            return None
        if chance.random() < 0.2 and high - low < MAX_ELEMENTS:
            first = chance.randint(low, high)
            last = chance.randint(first, high)
            return f"[{first}:{last + 1}]", f"[{first}]@{last - first + 1}", None
        index = chance.randint(low, high)
        return f"[{index}]", f"[{index}]", value[index]
    if code == gdb.TYPE_CODE_PTR:
        target = type_.target().strip_typedefs()
        if target.code in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_METHOD):
            return None
        if not int(value) or not target.sizeof or fortran:
            return None
        if target.code in STRUCTS and chance.random() < 0.7:
            inner = step(value.dereference(), fortran)
            if inner and inner[0].startswith("."):
                return "->" + inner[0][1:], "->" + inner[1][1:], inner[2]
        index = chance.randint(0, 1)
        return f"[{index}]", f"[{index}]", value[index]
    return None


def fortran_step(value, type_):
    bounds = []
    while type_.code == gdb.TYPE_CODE_ARRAY:
        bounds.append(type_.range())
        type_ = type_.target().strip_typedefs()
    if any(high < low or high - low > 10 ** 7 for low, high in bounds):
        return None
    # gdb has the dimension of the longest stride first.
    bounds.reverse()
    if chance.random() < 0.4:
        parts = []
        for low, high in bounds:
            first = chance.randint(low, high)
            last = chance.randint(first, min(high, first + 40))
            parts.append(":" if chance.random() < 0.2 and high - low < 60 else f"{first}:{last}"
                         if chance.random() < 0.6 else str(first))
        text = "(" + ",".join(parts) + ")"
        return text, text, None
    text = "(" + ",".join(str(chance.randint(low, high)) for low, high in bounds) + ")"
    return text, text, "evaluate"


def make_expression(name, fortran):
    """(for pdb, for gdb): may fail with gdb.error."""
    ours = theirs = name
    value = gdb.parse_and_eval(name)
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3, 4))):
        try:
            taken = step(value, fortran)
        except (gdb.error, RuntimeError):
            break
        if not taken:
            break
        ours, theirs, value = ours + taken[0], theirs + taken[1], taken[2]
        if value is None:
            break
        if isinstance(value, str):
            value = gdb.parse_and_eval(theirs)
    return ours, theirs


def text_at(value):
    """As many characters as pdb reads; None: they are not there."""
    try:
        bytes_ = gdb.selected_inferior().read_memory(int(value), 64).tobytes()
        return bytes_.split(b"\0")[0].decode("latin-1")
    except gdb.error:
        return None


def is_character(type_):
    return type_.sizeof == 1 and type_.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and (
        "char" in str(type_).lower())


def tree(value, depth=0):
    type_ = value.type.strip_typedefs()
    code = type_.code
    if value.is_optimized_out:
        raise gdb.error("optimized out")
    if code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return tree(value.referenced_value(), depth)
    if code in STRUCTS:
        return {"struct": [[None if field.is_base_class else field.name,
                            tree(value[field], depth + 1)]
                           for field in type_.fields() if hasattr(field, "bitpos")],
                "name": str(type_)}
    if code in (gdb.TYPE_CODE_ARRAY,):
        low, high = type_.range()
        if high - low > MAX_ELEMENTS:
            raise OverflowError
        return {"array": [tree(value[index], depth + 1) for index in range(low, high + 1)]}
    if code in STRINGS:
        bytes_ = gdb.selected_inferior().read_memory(int(value.address), type_.sizeof).tobytes()
        return {"text": bytes_.decode("latin-1")}
    if code == gdb.TYPE_CODE_PTR:
        target = type_.target().strip_typedefs()
        return {"pointer": int(value), "text": text_at(value) if is_character(target) else None}
    if is_character(type_):
        return {"char": int(value) & 255}
    if code == gdb.TYPE_CODE_BOOL:
        return {"bool": bool(int(value))}
    if code == gdb.TYPE_CODE_ENUM:
        return {"enum": str(value), "number": int(value)}
    if code == gdb.TYPE_CODE_INT or code == gdb.TYPE_CODE_CHAR:
        return {"number": int(value)}
    if code == gdb.TYPE_CODE_FLT:
        return {"float": str(value), "size": type_.sizeof}
    return {"other": str(value)}


def main():
    out, tries, seen = [], 0, set()
    frames = [(frame, base) + names_of(frame) for frame, base in own_frames()]
    frames = [entry for entry in frames if entry[2] or entry[3]]
    gdb.execute("set print repeats 0")
    while frames and len(out) < WANTED and tries < 20 * WANTED:
        tries += 1
        frame, base, locals_, file_ones = chance.choice(frames)
        if not frame.is_valid():
            break
        names = locals_ if locals_ and (not file_ones or chance.random() < 0.7) else file_ones
        name = chance.choice(names)
        frame.select()
        fortran = is_fortran(frame)
        entry = {"function": base if name in locals_ else None, "expression": name}
        try:
            entry["expression"], theirs = make_expression(name, fortran)
            entry["gdb"] = theirs
            entry["tree"] = tree(gdb.parse_and_eval(theirs))
        except (gdb.error, RuntimeError, ValueError) as error:
            # Some names are also words of Fortran's.
            if "syntax error" in str(error):
                continue
            entry["reason"] = str(error)
        except OverflowError:
            continue
        key = (entry["function"], entry["expression"])
        if key not in seen:
            seen.add(key)
            out.append(entry)
    with open(os.environ["EXPRESSIONS_FILE"], "w") as file:
        json.dump(out, file)


main()
