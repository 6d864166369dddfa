"""Mutates source files and extracts them: nothing may raise, take long for its size, or differ from run to run.

    python tests/facts/mutants.py FOLDER… [--count N] [--seed S] [--keep FOLDER]

Prints what it found by class, and a summary; files that show something are kept.
"""

import argparse
import hashlib
import os
import random
import re
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from facts import extract, language_of, save

MOST_BYTES = 48 * 1024
# Processor time that a file may take: so much for any, and so much for each KB of it.
BASE_S, KB_S = 2.0, 0.03
SAMPLED = 200
"""One file of so many is extracted again in a process with another hash seed."""
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
_OPENING = tuple(
    b"( [ { f( x[ ! - -- * & `${ <a> A< x? ()=>( lambda:( func(){ class/**/A{ try{ if(x){ /* \" ' ".split()
)
_OPENING += (b"#if A\n", b"else if (x) {}\n", b" if x else ", b"class A { ")


def mutated(random_: random.Random, data: bytes, other: bytes) -> bytes:
    """Return a file changed in up to four ways; `other` is one of the same language to take parts from."""
    for _ in range(random_.randint(1, 4)):
        data = random_.choice(_MUTATIONS)(random_, data, other)[:MOST_BYTES]
    return data


def _span(random_: random.Random, data: bytes, most: int) -> tuple[int, int]:
    start = random_.randint(0, len(data))
    return start, min(len(data), start + random_.randint(0, most))


def _bytes(random_: random.Random, data: bytes, other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(random_.randint(1, 20) if data else 0):
        changed[random_.randrange(len(changed))] = random_.choice(
            (random_.randrange(256), random_.choice(b"(){}[]<>\"'`#/*\\\n\0"))
        )
    return bytes(changed)


def _deletion(random_: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(random_, data, 400)
    return data[:start] + data[end:]


def _duplication(random_: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(random_, data, 400)
    return data[:end] + data[start:end] * random_.choice((1, 2, 20)) + data[end:]


def _splice(random_: random.Random, data: bytes, other: bytes) -> bytes:
    start, end = _span(random_, other, 2000)
    at, until = _span(random_, data, 400)
    return data[:at] + other[start:end] + data[until:]


def _tokens(random_: random.Random, data: bytes, other: bytes) -> bytes:
    """Exchange some tokens for others of the two files."""
    parts, given = _TOKEN.findall(data), _TOKEN.findall(other) or [b" "]
    for _ in range(random_.randint(1, 10) if parts else 0):
        parts[random_.randrange(len(parts))] = random_.choice(given)
    return b"".join(parts)


def _nesting(random_: random.Random, data: bytes, other: bytes) -> bytes:
    at = random_.randint(0, len(data))
    return data[:at] + random_.choice(_OPENING) * random_.choice((3, 30, 300, 3000)) + data[at:]


def _lines(random_: random.Random, data: bytes, other: bytes) -> bytes:
    """Move lines around."""
    lines = data.splitlines(keepends=True)
    for _ in range(random_.randint(1, 5) if lines else 0):
        line = lines.pop(random_.randrange(len(lines)))
        lines.insert(random_.randint(0, len(lines)), line)
    return b"".join(lines)


_MUTATIONS = (_bytes, _deletion, _duplication, _splice, _tokens, _nesting, _lines)


def corpus(folders: list[Path]) -> dict[str, list[bytes]]:
    """Return the files below the folders by language."""
    found: dict[str, list[bytes]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            language = language_of(path.name)
            if language and path.is_file() and path.stat().st_size <= MOST_BYTES:
                found.setdefault(language, []).append(path.read_bytes())
    return found


def mutants(files: dict[str, list[bytes]], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield `count` mutated files, the languages in turn."""
    languages = sorted(files)
    for number in range(count):
        random_ = random.Random(f"{seed}/{number}")
        language = languages[number % len(languages)]
        data, other = (random_.choice(files[language]) for _ in range(2))
        yield language, mutated(random_, data, other)


def examine(language: str, data: bytes) -> tuple[str, str]:
    """Return the class of what a file shows, empty for nothing, and what is known about it."""
    try:
        first, first_s = _extracted(language, data)
        second, second_s = _extracted(language, data)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__} in {_place(error)}", traceback.format_exc()
    taken_s = min(first_s, second_s)  # In one of them the collector may go through all that tests have left behind.
    if taken_s > BASE_S + KB_S * len(data) / 1024:
        return f"slow: {language}", f"{taken_s:.1f} s for {len(data)} bytes"
    if first != second:
        return f"another answer: {language}", ""
    return "", ""


def _extracted(language: str, data: bytes) -> tuple[bytes, float]:
    """Return the facts of a file, and the processor time that they have taken."""
    begun = time.process_time()
    return save(extract(data, language)), time.process_time() - begun


def _place(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.name}"


def digest_elsewhere(language: str, data: bytes, seed: int) -> str:
    """Return the digest of the facts that a process with another hash seed finds."""
    code = (
        "import hashlib, sys, facts\n"
        "print(hashlib.sha1(facts.save(facts.extract(sys.stdin.buffer.read(), sys.argv[1]))).hexdigest())"
    )
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    done = subprocess.run([sys.executable, "-c", code, language], input=data, capture_output=True, env=environment)
    return done.stdout.decode().strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("fuzzed"))
    given = parser.parse_args()
    files, classes, begun = corpus(given.folders), Counter(), time.process_time()
    print({language: len(paths) for language, paths in files.items()}, flush=True)
    for number, (language, data) in enumerate(mutants(files, given.count, given.seed)):
        if number < given.first:
            continue
        kind, detail = examine(language, data)
        if not kind and number % SAMPLED == 0:
            here = hashlib.sha1(save(extract(data, language))).hexdigest()
            kind = (
                "" if digest_elsewhere(language, data, number) == here else f"another answer by hash seed: {language}"
            )
        if kind:
            classes[kind] += 1
            given.keep.mkdir(parents=True, exist_ok=True)
            (given.keep / f"{number}.{language}").write_bytes(data)
            print(f"{number} {kind}: {detail.strip().splitlines()[-1] if detail else ''}", flush=True)
        elif number % 1000 == 999:
            print(f"{number + 1} files, {time.process_time() - begun:.0f} s", flush=True)
    print(f"{given.count - given.first} files:", dict(classes) or "nothing found")


if __name__ == "__main__":
    threading.stack_size(64 << 20)
    worker = threading.Thread(target=main)
    worker.start()
    worker.join()
