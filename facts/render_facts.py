"""Facts as a person reads them: entities by their labels. For tests, documentation and the authors of extractors."""

from facts import schema
from facts.file_facts import NIL, FileFacts


def render(facts: FileFacts) -> dict[str, list[tuple[str, ...]]]:
    """Return the rows of every relation as texts.

    An entity reads `def f/x#1`: the labels from the module inwards, an ordinal above 0 behind `#`; the module itself
    `module`, none `nil`.
    """
    names = _names(facts)
    declared = schema.local_relations()
    return {
        relation: [
            tuple(_text(kind, value, facts, names) for kind, value in zip(declared[relation].kinds, row, strict=True))
            for row in columns.T.tolist()
        ]
        for relation, columns in facts.relations.items()
    }


def _names(facts: FileFacts) -> list[str]:
    scopes, labels, ordinals = facts.entities.tolist()
    own = [
        facts.symbols[label] + (f"#{ordinal}" if ordinal else "")
        for label, ordinal in zip(labels, ordinals, strict=True)
    ]
    names = ["module"]
    for entity in range(1, len(own)):
        path, scope = own[entity], scopes[entity]
        while scope > 0:
            path, scope = f"{own[scope]}/{path}", scopes[scope]
        names.append(path)
    return names


def _text(kind: str, value: int, facts: FileFacts, names: list[str]) -> str:
    if kind == schema.ENTITY:
        return "nil" if value == NIL else names[value]
    return facts.symbols[value] if kind == schema.SYMBOL else str(value)
