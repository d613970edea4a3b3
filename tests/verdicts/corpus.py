# SPDX-License-Identifier: BSD-3-Clause
"""The kept snapshots: an archive for each program in tests/verdicts/corpus, in which they are not compressed one by
one, so that what they have in common is there once, and truth.jsonl, which says of each what was wrong in its job."""

import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
TRUTH = os.path.join(FOLDER, "truth.jsonl")
_LONG = "--long=28"
_WORKERS = 2


def read_truth():
    """By file."""
    if not os.path.exists(TRUTH):
        return {}
    with open(TRUTH, encoding="utf-8") as file:
        return {one["file"]: one for one in map(json.loads, file)}


def write_truth(truth):
    with open(TRUTH, "w", encoding="utf-8") as file:
        for name in sorted(truth, key=natural):
            file.write(json.dumps(truth[name]) + "\n")


def natural(name):
    """Numbers in names as numbers."""
    return [(part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", name)]


def archive_of(program):
    return os.path.join(FOLDER, re.sub(r"[^A-Za-z0-9.]+", "-", program).strip("-") + ".tar.zst")


def _hash_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _unpack(archive, folder):
    """Once: a file beside the snapshots says of which archive they are."""
    mark, is_of = os.path.join(folder, ".of"), _hash_of(archive)
    try:
        with open(mark, encoding="utf-8") as file:
            if file.read() == is_of:
                return
    except FileNotFoundError:
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with subprocess.Popen(["zstd", "-qdc", _LONG, archive], stdout=subprocess.PIPE) as stream:
        subprocess.run(["tar", "-xf", "-", "-C", folder], stdin=stream.stdout, check=True)
    if stream.returncode:
        raise RuntimeError(f"{archive} cannot be unpacked")
    # Snapshots are compressed.
    names = os.listdir(folder)
    subprocess.run(["zstd", "-q", "-1", "--rm", *names], cwd=folder, check=True)
    for name in names:
        os.rename(os.path.join(folder, name + ".zst"), os.path.join(folder, name))
    with open(mark, "w", encoding="utf-8") as file:
        file.write(is_of)


def unpack(into):
    """All of them, into a folder for each archive. Returns paths by file."""
    archives = sorted(name for name in os.listdir(FOLDER) if name.endswith(".tar.zst"))
    folders = [os.path.join(into, name.removesuffix(".tar.zst")) for name in archives]
    with concurrent.futures.ThreadPoolExecutor(_WORKERS) as pool:
        list(pool.map(_unpack, [os.path.join(FOLDER, name) for name in archives], folders))
    return {name: os.path.join(folder, name) for folder in folders
            for name in os.listdir(folder) if name.endswith(".pdb")}


def _pack(archive, paths):
    with tempfile.TemporaryDirectory() as folder:
        names = sorted(map(os.path.basename, paths), key=natural)
        for path in paths:
            with open(os.path.join(folder, os.path.basename(path)), "wb") as plain:
                subprocess.run(["zstd", "-qdc", "-"], stdin=open(path, "rb"), stdout=plain, check=True)
        with open(archive, "wb") as file, \
                subprocess.Popen(["tar", "--sort=name", "--owner=0", "--group=0", "--mode=0644", "--mtime=@0",
                                  "-C", folder, "-cf", "-", *names], stdout=subprocess.PIPE) as tar:
            subprocess.run(["zstd", "-q", "--ultra", "-22", _LONG, "-c"], stdin=tar.stdout, stdout=file,
                           check=True)


def pack(paths, truth):
    """These snapshots, by file, are the corpus from now on."""
    by_archive = collections.defaultdict(list)
    for name, path in paths.items():
        by_archive[archive_of(truth[name]["program"])].append(path)
    os.makedirs(FOLDER, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(_WORKERS) as pool:
        list(pool.map(_pack, by_archive, by_archive.values()))
    for name in os.listdir(FOLDER):
        if name.endswith(".tar.zst") and os.path.join(FOLDER, name) not in by_archive:
            os.remove(os.path.join(FOLDER, name))
    write_truth({name: truth[name] for name in paths})
