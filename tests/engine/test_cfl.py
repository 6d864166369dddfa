"""CFL reachability: known languages by arithmetic, random grammars on random graphs against the definition."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from backends import BACKENDS
from cfl_oracle import reachable
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import engine
from engine.cfl.edge_output import write_solution
from engine.cfl.edges import read_edges
from engine.cfl.grammar import with_inverses
from engine.cfl.grammar_files import parse_grammar
from engine.cfl.normalise import normalise
from engine.cfl.solver import solve, wanted_symbols

POCR_ALIASES = "M DV d\nDV dbar V\nV Abar V\nV V A\nV FV_i f_i\nV M\nV\nFV_i fbar_i V\nA A A\nA a M\nA a\nA\nAbar Abar Abar\nAbar M abar\nAbar abar\nAbar\nCount:\nV\n"  # noqa: E501
# Graspan's pointer analysis, with the inverse of a symbol that has productions, -F.
CSPA = "F a\nF a M\nF F F\nF v\nM -d W\nW A d\nM v\nA -F F\nA -F B\nB M F\n"


def answers(tmp_path, grammar, edges, symbols=(), dialect=None, backend="one thread"):
    """Return {symbol: {(source, target) or (source, target, index)}}, vertices and indices as texts."""
    path = tmp_path / "edges"
    path.write_text(edges)
    parsed = parse_grammar("grammar", grammar, dialect)
    graph = read_edges(path, parsed)
    solution = solve(parsed, graph, wanted_symbols(parsed, symbols), **BACKENDS[backend]._asdict())
    vertices, indices = graph.vertices.texts(), graph.indices.texts()
    found = {}
    for answer in solution.answers:
        rows = answer.columns().T.tolist()
        assert rows == sorted(rows)
        triples = [(vertices[x], vertices[y], *(indices[i] for i in index)) for x, y, *index in rows]
        found[answer.symbol] = set(triples)
        assert len(found[answer.symbol]) == len(triples)
        pairs = {row[:2] for row in triples}
        assert answer.n_pairs == len(pairs) and answer.n_loops == sum(x == y for x, y in pairs)
    return found


def lines(edges):
    return "".join("\t".join(map(str, edge)) + "\n" for edge in edges)


# ---- languages that are known


@pytest.mark.parametrize("n", [1, 7])
def test_balanced_brackets_on_a_path(tmp_path, n):
    """On n opening edges and n closing ones behind them: from k before the middle to k after it, 1 ≤ k ≤ n."""
    path = [(i, i + 1, "open" if i < n else "close") for i in range(2 * n)]
    found = answers(tmp_path, "S open T\nS open close\nT S close\n", lines(path))["S"]
    assert found == {(str(n - k), str(n + k)) for k in range(1, n + 1)}


@pytest.mark.parametrize(("p", "q"), [(2, 3), (3, 5), (4, 7)])
def test_brackets_on_two_cycles_join_everything(tmp_path, p, q):
    """Cycles at 0, of p opening and q closing edges, coprime: openᵏ closeᵏ joins all of one to all of the other."""
    opening = [("0" if i == 0 else f"a{i}", "0" if i == p - 1 else f"a{i + 1}", "open") for i in range(p)]
    closing = [("0" if i == 0 else f"b{i}", "0" if i == q - 1 else f"b{i + 1}", "close") for i in range(q)]
    found = answers(tmp_path, "S open S close\nS open close\n", lines(opening + closing))["S"]
    assert len(found) == p * q


def test_dyck_language_with_two_kinds_of_brackets_and_concatenation(tmp_path):
    """([])[] at the vertices 0 … 6: the pairs are those of its balanced factors, and each vertex with itself."""
    text = "([])[]"
    label = {"(": "call_i\t1", ")": "ret_i\t1", "[": "call_i\t2", "]": "ret_i\t2"}
    found = answers(tmp_path, "S\nS S S\nS call_i S ret_i\n", lines((i, i + 1, label[c]) for i, c in enumerate(text)))
    spans = {(0, 4), (1, 3), (4, 6), (0, 6)} | {(i, i) for i in range(7)}
    assert found["S"] == {(str(x), str(y)) for x, y in spans}


@pytest.mark.parametrize("depth", [1, 4])
def test_same_generation_in_a_binary_tree(tmp_path, depth):
    """2ᵏ nodes of depth k are of one generation: 4 + 16 + … pairs, and the root with itself."""
    arcs = [(i, child, "arc") for i in range(1, 2**depth) for child in (2 * i, 2 * i + 1)]
    grammar = "S\nS -arc S arc\n"
    found = answers(tmp_path, grammar, lines(arcs))["S"]
    assert len(found) == sum(4**k for k in range(depth + 1))


@pytest.mark.parametrize("grammar", ["R\nR e R\n", "R\nR R e\n", "R\nR R R\nR e\n", "R e\nR e S\nS R\nS e\nR S S\n"])
def test_closure_of_a_path_however_it_is_written(tmp_path, grammar):
    n = 12
    found = answers(tmp_path, grammar, lines((i, i + 1, "e") for i in range(n)), ["R"])["R"]
    reflexive = grammar.startswith("R\n")
    assert len(found) == n * (n + 1) // 2 + (n + 1) * reflexive


# ---- against the definition


@st.composite
def problems(draw):
    """A grammar over few symbols, some of them indexed, inverse or with edges of their own; and a graph."""
    heads = ["S", "T", "U_i"]
    labels = ["a", "b", "c_i", "abar", "cbar_i", "-b", "-S", "-T", "S", "U_i"]
    productions = []
    for _ in range(draw(st.integers(1, 7))):
        head, body = draw(st.sampled_from(heads)), draw(st.lists(st.sampled_from(heads + labels), max_size=4))
        if not head.endswith("_i") or any(symbol.endswith("_i") for symbol in body):
            productions.append((head, *body))
    vertex = st.integers(0, 4)
    labels = st.sampled_from(["a", "a", "b", "c_i", "cbar_i", "S", "U_i", "other"])
    edges = draw(st.lists(st.tuples(vertex, vertex, labels, st.integers(1, 2)), max_size=9))
    return productions, [(x, y, a, i if a.endswith("_i") else None) for x, y, a, i in edges]


@pytest.mark.parametrize("backend", ["one thread", "tiny, two threads", "dws"])
@settings(max_examples=2 * settings.default.max_examples, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(problem=problems())
def test_random_grammars_on_random_graphs_equal_the_definition(tmp_path_factory, backend, problem):
    productions, edges = problem
    if not productions:
        return
    indexed = {symbol for production in productions for symbol in production if symbol.endswith("_i")}
    expected = reachable(productions, edges, indexed)
    written = lines(tuple(filter(lambda part: part is not None, edge)) for edge in edges)
    found = answers(tmp_path_factory.mktemp("cfl"), lines(productions), written, backend=backend)
    for symbol, triples in found.items():
        assert triples == {tuple(str(p) for p in triple if p is not None) for triple in expected[symbol]}, symbol


@settings(phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(problem=problems())
def test_asking_for_one_symbol_changes_nothing(tmp_path_factory, problem):
    productions, edges = problem
    if not productions:
        return
    written = lines(tuple(filter(lambda part: part is not None, edge)) for edge in edges)
    folder = tmp_path_factory.mktemp("cfl")
    everything = answers(folder, lines(productions), written)
    for symbol in everything:
        assert answers(folder, lines(productions), written, [symbol]) == {symbol: everything[symbol]}


def test_normal_form_has_no_epsilon_and_two_symbols_at_most():
    grammar = parse_grammar("aa.cfg", POCR_ALIASES)
    normal = normalise(grammar, ["a", "abar", "d", "dbar", "f_i", "fbar_i"], ["V"])
    assert normal.empty >= {"V", "A", "Abar"}
    assert {len(production.body) for production in normal.grammar.productions} == {1, 2}
    assert "A" not in normal.grammar.heads  # V follows single steps of A, so A itself is not asked for


# ---- symbols that are restricted before they are formed

POINTER = (Path(__file__).parents[2] / "rules/exports/pointer.cfg").read_text()
MIRRORS = {
    "memory aliases": (POINTER, "M"),
    "a composition at both ends, which ε does not belong to": ("M -d -F F d\nM -d -F M F d\nF F F\nF a\nF a M\n", "M"),
    "steps in front and behind": ("M F d F\nF F F\nF a\nF\n", "M"),
    "a step that is an inverse": ("M -d V d\nV F -F\nF F F\nF -a\nF M\nF\n", "M"),
    "a part that recurs through what it stands in": ("M d V -d\nM a\nV -a V M\nV -a M a\nV\n", "M"),
    "a composition that its own step needs": ("M F d\nF F F\nF a F a\nF d\n", "M"),
}


@st.composite
def pointer_edges(draw):
    vertex = st.integers(0, 5)
    edges = draw(st.lists(st.tuples(vertex, vertex, st.sampled_from("aadf"), st.integers(1, 2)), max_size=12))
    return [(x, y, "f_i", i) if label == "f" else (x, y, label, None) for x, y, label, i in edges]


@pytest.mark.parametrize("name", MIRRORS)
@settings(max_examples=2 * settings.default.max_examples, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(edges=pointer_edges())
def test_what_is_restricted_joins_the_same(tmp_path_factory, name, edges):
    """The wanted symbol alone, by the restricted plan, and among all symbols, by the productions: the definition's."""
    grammar, symbol = MIRRORS[name]
    parsed = parse_grammar("grammar", grammar)
    productions = [(p.head, *(step.symbol for step in p.body)) for p in parsed.productions]
    expected = {(str(x), str(y)) for x, y, _ in reachable(productions, edges, parsed.indexed)[symbol]}
    written = lines(tuple(filter(lambda part: part is not None, edge)) for edge in edges)
    folder = tmp_path_factory.mktemp("cfl")
    assert answers(folder, grammar, written, [symbol])[symbol] == expected
    assert answers(folder, grammar, written, [*parsed.heads])[symbol] == expected


def test_memory_aliases_need_neither_value_aliases_nor_value_flows():
    """Shared Arrangements, §6.3.2: dereferences restrict value aliases before these are formed."""
    grammar = with_inverses(parse_grammar("pointer", POINTER), ["a", "d", "f_i"])
    alone, every = (normalise(grammar, ["a", "d", "f_i"], wanted) for wanted in (["M"], ["M", "V", "F"]))
    assert not {"V", "F"} & set(alone.grammar.symbols)
    assert {"V", "F"} < set(every.grammar.symbols)


# ---- Graspan's pointer analysis


@pytest.fixture
def small_cspa():
    """Assignments and dereferences of a chain p0 = &o, p1 = p0 … with stores and loads, as CSPA has them."""
    assign = [(i + 1, i) for i in range(6)] + [(20, 3), (30, 21)]
    dereference = [(3, 20), (5, 21)]
    return assign, dereference


def cspa_edges(assign, dereference):
    ends = {end for pair in assign for end in pair}
    return [(x, y, "a") for x, y in assign] + [(x, y, "d") for x, y in dereference] + [(x, x, "v") for x in ends]


def test_graspans_pointer_analysis_is_a_grammar(tmp_path, small_cspa):
    """The same as the ten rules of CSPA, where a value flows to itself at the ends of assignments."""
    found = answers(tmp_path, CSPA, lines(cspa_edges(*small_cspa)), ["F", "A", "M"])
    rules = (Path(__file__).parents[1] / "benchmarks/programs/cspa.dl").read_text()
    rules = "\n".join(line for line in rules.splitlines() if not line.startswith(".input"))
    facts = [f"Assign({x}, {y})." for x, y in small_cspa[0]] + [f"Dereference({x}, {y})." for x, y in small_cspa[1]]
    result = engine.evaluate(engine.compile([rules + "\n" + "\n".join(facts)]), engine.Database(), threads=1)
    for symbol, name in (("F", "ValueFlow"), ("A", "ValueAlias"), ("M", "MemoryAlias")):
        assert found[symbol] == {(str(x), str(y)) for x, y in result.relation(name).T.tolist()}
    assert ("20", "21") in found["M"]


# ---- files


def test_vertices_are_numbers_in_order_or_any_words(tmp_path):
    grammar = parse_grammar("g", "R e\n")
    (tmp_path / "e").write_text("10 -9 e\n  9\t10   e  \r\n# 1 2 e\n\n10 -9 e\n")
    graph = read_edges(tmp_path / "e", grammar)
    assert (graph.vertices.texts(), graph.n_edges) == (["-9", "9", "10"], 2)
    (tmp_path / "e").write_text("10 main.x e\n9 10 e\n")
    assert read_edges(tmp_path / "e", grammar).vertices.texts() == ["10", "9", "main.x"]
    (tmp_path / "e").write_bytes(gzip.compress(f"{10**17} 0 e\n".encode()))
    assert read_edges(tmp_path / "e", grammar).vertices.texts() == ["0", str(10**17)]


def test_words_of_one_hash_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.cfl.split_lines.FACTOR", np.uint64(0))
    grammar = parse_grammar("g", "R e\nS f\n")
    (tmp_path / "e").write_text("ab ba e\nba ab f\nbc ab e\n")
    graph = read_edges(tmp_path / "e", grammar)
    assert graph.vertices.texts() == ["ab", "ba", "bc"]
    assert {label: columns.T.tolist() for label, columns in graph.edges.items()} == {
        "e": [[0, 1], [2, 0]],
        "f": [[1, 0]],
    }


def test_edges_that_the_grammar_does_not_mention_are_counted(tmp_path):
    (tmp_path / "e").write_text("0 1 e\n1 2 x\n2 3 x\n")
    graph = read_edges(tmp_path / "e", parse_grammar("g", "R\nR e\n"))
    assert (graph.ignored, len(graph.vertices)) == ({"x": 2}, 2)


@pytest.mark.parametrize(
    ("edges", "line", "said"),
    [
        ("0 1 e\n0 1\n", 2, "this line has 2 word(s)"),
        ("# x\n0 1 e 2 3\n", 2, "this line has 5 word(s)"),
        ("0 1 e\n0 1 c_i 1\n0 1 c_i\n", 3, "the label 'c_i' is indexed, and this line has no fourth word"),
        ("0 1 e\n0 1 e 7\n", 2, "the label 'e' has no index in the grammar"),
        ("0 1 e\0\n", 0, "null bytes"),
    ],
)
def test_a_line_that_is_no_edge_is_named(tmp_path, edges, line, said):
    (tmp_path / "e").write_text(edges)
    with pytest.raises(engine.FactsError) as caught:
        read_edges(tmp_path / "e", parse_grammar("g", "R e\nR c_i\n"))
    assert caught.value.line == line and said in caught.value.message


def test_graspans_symbols_have_no_index(tmp_path):
    assert answers(tmp_path, "R x_i\n", "0 1 x_i\n", dialect="graspan") == {"R": {("0", "1")}}


@pytest.mark.parametrize("title", ["", "Production:\n"])
def test_pocrs_sections(title):
    grammar = parse_grammar("vf.cfg", f"{title}A\tA\tA\nA\ta\t\nA\n\nInsert:\nA,\nFollow:\nM, N\nCount:\nA, a\n")
    assert grammar.counted == ("A", "a") and len(grammar.productions) == 3


def test_an_empty_list_of_edges_joins_nothing(tmp_path):
    assert answers(tmp_path, "S\nS a\n", "") == {"S": set()}


@pytest.mark.parametrize("format", ["tsv", "csv"])
def test_results_are_written_as_edges(tmp_path, format):
    (tmp_path / "e").write_text('"x",1 y call_i 7\ny z a\n')
    grammar = parse_grammar("g", "S call_i a\nP_i call_i a\n")
    graph = read_edges(tmp_path / "e", grammar)
    solution = solve(grammar, graph, ["S", "P_i"], threads=1)
    write_solution(solution, graph, tmp_path / "out", format)
    expected = {
        "tsv": '"x",1\tz\tS\n"x",1\tz\tP_i\t7\n',
        "csv": 'source,target,symbol,index\n"""x"",1",z,S,\n"""x"",1",z,P_i,7\n',
    }
    assert (tmp_path / "out").read_text() == expected[format]
