"""Terms and comparisons as text, for messages."""

from __future__ import annotations

from engine.language.signatures import INFIX
from engine.language.syntax import (
    Aggregate,
    Constant,
    Constraint,
    Functor,
    HeadAggregate,
    RecordTerm,
    Term,
    Variable,
    Vertical,
    Wildcard,
)


def show(node: Term | Constraint) -> str:
    """Return a term or a comparison as it may be written; an aggregate without its body."""
    match node:
        case Constraint():
            return (
                node.op
                if node.left is None or node.right is None
                else f"{show(node.left)} {node.op} {show(node.right)}"
            )
        case Variable():
            return node.name.split("#")[0]
        case Wildcard():
            return "_"
        case Constant():
            return "nil" if node.type == "nil" else f'"{node.value}"' if node.type == "symbol" else str(node.value)
        case Functor():
            return show_functor(node)
        case RecordTerm():
            return f"[{', '.join(map(show, node.arguments))}]"
        case HeadAggregate():
            return f"{node.kind}<{show(node.target)}>"
        case Vertical():
            return f"{show(node.value)}@{show(node.column)}"
        case Aggregate():
            return f"{node.kind} {'' if node.target is None else show(node.target)}: {{ … }}"


def show_functor(term: Functor) -> str:
    if term.name in INFIX and len(term.arguments) == 2:
        left, right = (
            f"({show(t)})" if isinstance(t, Functor) and t.name in INFIX else show(t) for t in term.arguments
        )
        return f"{left} {term.name} {right}"
    if term.name == "neg":
        return f"-{show(term.arguments[0])}"
    return f"{term.name}({', '.join(map(show, term.arguments))})"
