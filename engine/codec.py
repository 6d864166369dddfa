"""Dataclasses as plain data: MessagePack, by a schema that the annotations of the classes are.

What is read is what the schema says, whoever wrote it. Classes are numbers in a closed list, those that the root type
mentions: no name is looked up, and nothing is called but their constructors. Everything else is `Damaged`.

A document is [texts, columns, value]. Equal texts are stored once, and so are equal *leaves*: immutable values of
primitive fields, such as a variable or a position. They are stored in columns, a class at a time, and made when a value
that is read has them. In `value` a text or a leaf is its number, a dataclass is [its class, field, …], and None is nil.
The number of a leaf is its row in the columns of its class, times the number of classes, plus the number of its class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import msgpack

from engine.process_setting import collector_off, frames_at_least

Root = TypeVar("Root")
Types = frozenset[type]
PRIMITIVE: Types = frozenset({bool, int, float, str, bytes, NoneType})
SURROGATES = "surrogatepass"
MAX_FRAMES = 10_000
"""A level takes up to eight; terms may nest 200 levels deep, and MessagePack 511."""
WRONG: tuple[type[Exception], ...] = (
    *(TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError, StopIteration),
    msgpack.UnpackException,
)
"""The exceptions of decoding corrupt bytes."""


class Damaged(ValueError):
    """Bytes that no codec has written."""


class Written:
    """The tables of a document that is being written: texts and leaves by their numbers."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.texts: dict[str, int] = {}
        self.leaves: dict[object, int] = {}
        self.known: dict[int, tuple[Any, int]] = {}
        self.columns: dict[int, list[list[Any]]] = {}
        self.n_rows: Counter[int] = Counter()

    def text(self, value: str) -> int:
        return self.texts.setdefault(value, len(self.texts))

    def leaf(self, tag: int, value: Any, values: Callable[[Any, Written], list[Any]]) -> int:
        """The number of a leaf, of which `values` gives the fields; one that has come before is known by its id."""
        if id(value) not in self.known:
            self.known[id(value)] = value, self._numbered(tag, values(value, self))
        return self.known[id(value)][1]

    def _numbered(self, tag: int, values: list[Any]) -> int:
        key = tag, repr(values)  # Primitive values that differ, as 0, 0.0, -0.0 and False do, are written differently.
        found = self.leaves.get(key)
        if found is None:
            found = self.leaves[key] = self.n_rows[tag] * self.n_classes + tag
            self.n_rows[tag] += 1
            for column, value in zip(self.columns.setdefault(tag, [[] for _ in values]), values, strict=True):
                column.append(value)
        return found


class Read:
    """The tables of a document that is read. Leaves are made once each."""

    def __init__(self, texts: list[str], columns: dict[int, list[list[Any]]], classes: Sequence[Leaf | None]) -> None:
        self.texts, self.columns, self.classes = texts, columns, classes
        self.made: dict[int, Any] = {}

    def leaf(self, number: int) -> Any:
        made = self.made.get(number)
        if made is None:
            row, tag = divmod(number, len(self.classes))
            leaf = self.classes[tag]
            if leaf is None or row < 0:
                raise Damaged(f"{number} is no leaf")
            owner, decoders = leaf
            columns = self.columns.get(tag, []) if decoders else []
            made = owner(*[decode(c[row], self) for decode, c in zip(decoders, columns, strict=True)])
            self.made[number] = made
        return made


Encode = Callable[[Any, Written], Any]
Decode = Callable[[Any, Read], Any]
Pair = tuple[Encode, Decode]
Leaf = tuple[type, list[Decode]]
"""A class of leaves, and what decodes the fields of one."""


class Codec(Generic[Root]):
    """Writes and reads values of one type, made of dataclasses, tuples, lists, sets, mappings and primitive types.

    Of a dataclass those fields are `kept` that the function of that name says, all without it; others get defaults.
    """

    def __init__(self, root: Any, kept: Callable[[type, Field], bool] = lambda owner, field: True) -> None:
        self._kept = kept
        self._pairs: dict[Any, Pair] = {}
        self._tags: dict[type, int] = {}
        self._leaves: dict[int, Leaf] = {}
        self._encode, self._decode = self._pair(root)

    def pack(self, value: Root, default: Callable[[Any], Any] | None = None) -> bytes:
        """Return a value as bytes; `default` is msgpack's. Raises ValueError where it nests too deep."""
        written = Written(len(self._tags))
        with UNCOLLECTED, DEEP:
            return packed(written, self._encode(value, written), default)

    def unpack(self, data: bytes, ext_hook: Callable[[int, bytes], Any] = msgpack.ExtType) -> Root:
        """Return the value that bytes stand for; `ext_hook` is msgpack's. Raises Damaged."""
        with damage(), UNCOLLECTED, DEEP:
            read, plain = self._read(data, ext_hook)
            return self._decode(plain, read)

    def pack_each(self, values: Iterable[Root]) -> bytes:
        """Return values as bytes, of which each can be read without the others. Raises ValueError, as `pack`."""
        written = Written(len(self._tags))
        with UNCOLLECTED, DEEP:
            return packed(
                written, [msgpack.packb(self._encode(value, written), unicode_errors=SURROGATES) for value in values]
            )

    def unpack_each(self, data: bytes) -> Callable[[int], Root]:
        """Return what reads the value at a position of those that `pack_each` was given. Both raise Damaged."""
        with damage():
            read, parts = self._read(data)
            of_types(parts, frozenset({bytes}))

        def value_at(position: int) -> Root:
            try:
                plain = msgpack.unpackb(parts[position])
                try:
                    return self._decode(plain, read)
                except RecursionError:
                    with DEEP:
                        return self._decode(plain, read)
            except WRONG as error:
                raise Damaged(str(error)) from None

        return value_at

    def _read(self, data: bytes, ext_hook: Callable[[int, bytes], Any] = msgpack.ExtType) -> tuple[Read, Any]:
        document = msgpack.unpackb(data, ext_hook=ext_hook, strict_map_key=False, unicode_errors=SURROGATES)
        texts, columns, plain = document
        return Read(
            of_types(texts, frozenset({str})), columns, [self._leaves.get(t) for t in range(len(self._tags))]
        ), plain

    # ---- a pair for each type

    def _pair(self, hint: Any) -> Pair:
        if hint not in self._pairs:
            # A class may be made of itself: those that need it while it is made find it later.
            self._pairs[hint] = (
                lambda value, written: self._pairs[hint][0](value, written),
                lambda plain, read: self._pairs[hint][1](plain, read),
            )
            self._pairs[hint] = self._made(hint)
        return self._pairs[hint]

    def _made(self, hint: Any) -> Pair:
        origin, arguments = get_origin(hint), get_args(hint)
        if hint is str:
            return lambda value, written: written.text(value), lambda plain, read: read.texts[plain]
        alternatives = frozenset(arguments) if origin in (Union, UnionType) else frozenset({hint})
        if alternatives <= PRIMITIVE:
            return primitive(alternatives)
        held = alternatives - {NoneType}
        if all(map(is_dataclass, held)):
            return self._record(arguments or (hint,))
        if len(held) < len(alternatives):
            return optional(self._pair(Union[tuple(held)]))  # noqa: UP007 - of one type it is that type.
        if origin is tuple and arguments[-1] is not ...:
            return fixed([self._pair(each) for each in arguments])
        if origin in (tuple, list, frozenset, Sequence):
            return sequence(tuple if origin is Sequence else origin, self._pair(arguments[0]))
        if origin in (dict, Mapping):
            return mapping(*(self._pair(each) for each in arguments))
        raise TypeError(f"{hint} is no plain data")

    def _record(self, alternatives: Sequence[type]) -> Pair:
        """Dataclasses, each as its number and its fields or as the number of a leaf, and perhaps None."""
        owners = [each for each in alternatives if each is not NoneType]
        pairs = {owner: self._dataclass(owner) for owner in owners}
        encoders = {owner: encode for owner, (_, encode, _) in pairs.items()}
        decoders = {tag: decode for tag, _, decode in pairs.values() if decode}
        leaves = frozenset(owner for owner, (_, _, decode) in pairs.items() if not decode)
        nullable = NoneType in alternatives

        def encode(value: Any, written: Written) -> Any:
            return None if value is None else encoders[type(value)](value, written)

        def decode(plain: Any, read: Read) -> Any:
            if type(plain) is int:
                leaf = read.leaf(plain)
                if type(leaf) not in leaves:
                    raise Damaged(f"{leaf} stands in a wrong place")
                return leaf
            if plain is None and nullable:
                return None
            return decoders[plain[0]](plain, read)

        return encode, decode

    def _dataclass(self, owner: type) -> tuple[int, Encode, Decode | None]:
        """The number of a class, and its pair; a leaf is decoded before all else."""
        tag = self._tags.setdefault(owner, len(self._tags))
        hints = get_type_hints(owner)
        kept = [field for field in fields(owner) if field.init and self._kept(owner, field)]
        names = [field.name for field in kept]
        pairs = [self._pair(hints[name]) for name in names]
        encoders, decoders = [encode for encode, _ in pairs], [decode for _, decode in pairs]

        encoded = list(zip(names, encoders, strict=True))

        def values(value: Any, written: Written) -> list[Any]:
            return [encode(getattr(value, name), written) for name, encode in encoded]

        if is_leaf(owner, kept, hints):
            self._leaves[tag] = owner, decoders
            return tag, lambda value, written: written.leaf(tag, value, values), None
        n_positional = sum(not field.kw_only for field in kept)
        keywords = names[n_positional:]

        def decode(plain: Any, read: Read) -> Any:
            if type(plain) is not list:
                raise Damaged(f"{plain} is no {owner.__name__}")
            found = [decode(each, read) for decode, each in zip(decoders, plain[1:], strict=True)]
            if not keywords:
                return owner(*found)
            return owner(*found[:n_positional], **dict(zip(keywords, found[n_positional:], strict=True)))

        return tag, lambda value, written: [tag, *values(value, written)], decode


def is_leaf(owner: type, kept: Sequence[Field], hints: Mapping[str, Any]) -> bool:
    """Return True if values of a class may be shared, and be made column by column."""
    params = owner.__dataclass_params__  # type: ignore[attr-defined]  # It is a dataclass.
    alternatives = (frozenset(get_args(hints[field.name]) or {hints[field.name]}) for field in kept)
    return (
        params.frozen
        and params.eq
        and not any(field.kw_only for field in kept)
        and all(types <= PRIMITIVE for types in alternatives)
    )


def of_types(values: list[Any], types: Types) -> list[Any]:
    """Return values that have these very types. Raises Damaged for others."""
    if not types.issuperset(map(type, values)):
        raise Damaged(f"values are none of {types}")
    return values


def allowed(types: Types) -> Types:
    return types | {int} if float in types else types


def primitive(types: Types) -> Pair:
    taken = allowed(types)

    def decode(plain: Any, read: Read) -> Any:
        if type(plain) not in taken:
            raise Damaged(f"{plain!r} is none of {types}")
        return plain

    return lambda value, written: value, decode


def optional(pair: Pair) -> Pair:
    encode, decode = pair
    return (
        lambda value, written: None if value is None else encode(value, written),
        lambda plain, read: None if plain is None else decode(plain, read),
    )


def sequence(kind: type, pair: Pair) -> Pair:
    encode_one, decode_one = pair

    def encode(value: Any, written: Written) -> list[Any]:
        held = sorted(value) if kind is frozenset else value
        return [encode_one(each, written) for each in held]

    def decode(plain: Any, read: Read) -> Any:
        if type(plain) is not list:
            raise Damaged(f"{plain!r} is no sequence")
        return kind([decode_one(each, read) for each in plain])

    return encode, decode


def fixed(pairs: Sequence[Pair]) -> Pair:
    def encode(value: Any, written: Written) -> list[Any]:
        return [encode_one(each, written) for (encode_one, _), each in zip(pairs, value, strict=True)]

    def decode(plain: Any, read: Read) -> tuple[Any, ...]:
        if type(plain) is not list:
            raise Damaged(f"{plain!r} is no tuple")
        return tuple([decode_one(each, read) for (_, decode_one), each in zip(pairs, plain, strict=True)])

    return encode, decode


def mapping(keys: Pair, values: Pair) -> Pair:
    """Mappings are lists of keys and values: a key may be anything, and their order stays."""
    (encode_key, decode_key), (encode_value, decode_value) = keys, values

    def encode(value: Any, written: Written) -> list[Any]:
        return [[encode_key(key, written), encode_value(held, written)] for key, held in value.items()]

    def decode(plain: Any, read: Read) -> dict[Any, Any]:
        if type(plain) is not list:
            raise Damaged(f"{plain!r} is no mapping")
        return {decode_key(key, read): decode_value(held, read) for key, held in plain}

    return encode, decode


def packed(written: Written, plain: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """Return the document of an encoded value."""
    document = [list(written.texts), written.columns, plain]
    return msgpack.packb(document, default=default, unicode_errors=SURROGATES)


@contextmanager
def damage() -> Iterator[None]:
    """Say of what decoding corrupt bytes raises that they are Damaged."""
    try:
        yield
    except WRONG as error:
        raise Damaged(str(error)) from None


DEEP = frames_at_least(MAX_FRAMES)
"""Follows terms as deep as they nest."""
UNCOLLECTED = collector_off()
"""Makes many objects, none of them garbage, without the collector."""
