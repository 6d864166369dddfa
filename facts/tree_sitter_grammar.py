"""A tree-sitter grammar as extractors use it: numbers of kinds and fields, meaningful children, tables of handlers."""

from collections.abc import Callable, Iterator

from tree_sitter import Language, Node, Parser


class Grammar:
    """A language's grammar; `extras` names the kinds that may stand anywhere and carry no meaning, such as comments."""

    def __init__(self, pointer: object, *extras: str) -> None:
        self.language = Language(pointer)
        self.parser = Parser(self.language)
        self.extras = self.kind_ids(*extras)

    def names(self) -> set[str]:
        """Return the names of the named kinds that stand in trees."""
        language = self.language
        return {
            name
            for index in range(language.node_kind_count)
            if language.node_kind_is_named(index)
            and language.node_kind_is_visible(index)
            and (name := language.node_kind_for_id(index)) is not None
        }

    def kind_ids(self, *names: str) -> frozenset[int]:
        """Return the numbers of the named node kinds with these names; a name may have several."""
        language = self.language
        ids = {
            index
            for index in range(language.node_kind_count)
            if language.node_kind_for_id(index) in names and language.node_kind_is_named(index)
        }
        assert {language.node_kind_for_id(index) for index in ids} == set(names), names
        return frozenset(ids)

    def field_id(self, name: str) -> int:
        """Return the number of a field of the grammar."""
        index = self.language.field_id_for_name(name)
        assert index is not None, name
        return index

    def children(self, node: Node) -> list[Node]:
        """Return the named children that carry meaning."""
        return [child for child in node.named_children if child.kind_id not in self.extras]

    def only_child(self, node: Node) -> Node | None:
        """Return the first named child that carries meaning, None if there is none."""
        for child in node.named_children:
            if child.kind_id not in self.extras:
                return child
        return None

    def with_fields(self, node: Node, field: int) -> Iterator[Node]:
        """Yield the children that stand in `field`."""
        return (
            child for child in node.children_by_field_id(field) if child.is_named and child.kind_id not in self.extras
        )


class Handlers(dict):
    """The functions that handle nodes, by kind number. They enter it by decoration: `@EXPRESSIONS("call")`."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self.grammar = grammar

    def __call__(self, *names: str) -> Callable[[Callable], Callable]:
        def enter(handler: Callable) -> Callable:
            self.update(dict.fromkeys(self.grammar.kind_ids(*names), handler))
            return handler

        return enter

    def names(self) -> set[str]:
        """Return the names of all handled kinds."""
        name_of = self.grammar.language.node_kind_for_id
        return {name for kind in self if (name := name_of(kind)) is not None}


def is_broken(node: Node) -> bool:
    """Return True if a syntax error stands directly in `node`, so that its fields may be missing."""
    return node.has_error and (node.is_error or any(child.is_error or child.is_missing for child in node.children))


def n_error_bytes(root: Node) -> int:
    """Return how many bytes stand in syntax errors, counting what is missing as one."""
    count, work = 0, [root]
    while work:
        node = work.pop()
        if node.is_error or node.is_missing:
            count += node.end_byte - node.start_byte + 1
        elif node.has_error:
            work += node.children
    return count


def part(node: Node, field: int) -> Node:
    """Return the child in a field that every node without a syntax error has."""
    found = node.child_by_field_id(field)
    assert found is not None
    return found


def has_token(node: Node, token: str) -> bool:
    """Return True if `token` stands among the direct children, such as the `async` of a definition."""
    return any(child.type == token for child in node.children if not child.is_named)


def is_deeper(node: Node, levels: int) -> bool:
    """Return True if the tree below a node has more than `levels` levels. Parts with fewer nodes are skipped."""
    work = [(node, 0)]
    while work:
        node, level = work.pop()
        if level > levels:
            return True
        if node.descendant_count > levels - level:
            work.extend((child, level + 1) for child in node.children)
    return False
