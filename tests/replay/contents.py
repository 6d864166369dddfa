"""Relations by what they say, for comparing evaluations that number symbols and records differently."""

from __future__ import annotations

import hashlib

import numpy as np

from engine import CheckedProgram, Result

MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Contents:
    """The tuples of a result, each as a 64-bit hash of its content, whatever ids it is written with."""

    def __init__(self, program: CheckedProgram, result: Result) -> None:
        self.program, self.result = program, result
        texts = result.symbols.texts(range(len(result.symbols)))
        hashes = (hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
        self.symbols = np.frombuffer(b"".join(hashes), np.uint64)
        self.records = {name: np.zeros(len(rows[0]) + 1, np.uint64) for name, rows in result.records.items()}
        self.known = {name: np.arange(len(hashes)) == 0 for name, hashes in self.records.items()}
        assert not any(record.branches for record in program.records.values())
        while any(self.hash_records(name) for name in self.records):
            pass

    def hash_records(self, name: str) -> bool:
        """Hash the records whose fields are hashed; return whether there were any that had not been."""
        fields, rows = self.program.records[name].fields, self.result.records[name]
        ready = ~self.known[name][1:]
        for field, values in zip(fields, rows, strict=True):
            if field.type.kind == "record":
                ready &= self.known[field.type.record][values]
        at = np.flatnonzero(ready)
        self.records[name][at + 1] = self.hashed([field.type for field in fields], rows[:, at])
        self.known[name][at + 1] = True
        return bool(at.size)

    def hashed(self, types, rows: np.ndarray) -> np.ndarray:
        result = np.full(rows.shape[1], len(rows) + 1, np.uint64)
        for type_, values in zip(types, rows, strict=True):
            if type_.kind == "symbol":
                content = self.symbols[values]
            elif type_.kind == "record":
                content = self.records[type_.record][values]
            else:
                content = values.astype(np.int64).view(np.uint64)
            result = mixed(result * MIX[0] + content)
        return result

    def relation(self, name: str) -> np.ndarray:
        """Return the hashes of all tuples, in order."""
        types = [column.type for column in self.program.relations[name].columns]
        return np.sort(self.hashed(types, self.result.relation(name)))


def mixed(values: np.ndarray) -> np.ndarray:
    """Return each value with its bits spread over all of it (splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * MIX[1]
    values = (values ^ (values >> np.uint64(27))) * MIX[2]
    return values ^ (values >> np.uint64(31))


def differing_relations(program: CheckedProgram, one: Result, other: Result) -> list[str]:
    """Return the relations that do not hold the same tuples, with the numbers of those on one side only."""
    first, second = Contents(program, one), Contents(program, other)
    found = []
    for name in program.relations:
        left, right = first.relation(name), second.relation(name)
        if not np.array_equal(left, right):
            more, less = len(np.setdiff1d(left, right)), len(np.setdiff1d(right, left))
            found.append(f"{name}: {more} too many, {less} missing, {len(left)} and {len(right)} in all")
    return found
