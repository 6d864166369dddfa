"""Why a tuple is there, and why one is not: derivations and failed instantiations, on a maintained program.

What flows in: a view (`engine.incremental.MaintainedProgram`), its program, and an atom. What flows out: explanations
as plain data, text or graphs. Nothing is recorded while a program is evaluated: rules are matched backwards, on the
tuples that are there and the iterations that the view keeps anyway.
`explainer` (the door) → `atoms` (atoms read and written) → `derivations` (least heights) and `failures` (what is
missing) → `explained_rules` (clauses with places) → `body_solver` (instantiations of a body) → `tuple_lookup`.
`formats` writes explanations; `program_file` makes an explainer of a program and facts in files.
"""

from typing import TYPE_CHECKING

from engine.lazy_import import load_on_use

if TYPE_CHECKING:
    from engine.language.checked_program import Type as Type
    from engine.provenance.atoms import AtomWriter as AtomWriter
    from engine.provenance.explainer import Document as Document
    from engine.provenance.explainer import Explainer as Explainer
    from engine.provenance.formats import as_dot as as_dot
    from engine.provenance.formats import as_text as as_text
    from engine.provenance.program_file import explainer_of_file as explainer_of_file
    from engine.provenance.tuple_lookup import Tuple as Tuple

PUBLIC = {
    "Explainer": "engine.provenance.explainer",
    "Document": "engine.provenance.explainer",
    "explainer_of_file": "engine.provenance.program_file",
    "Type": "engine.language.checked_program",
    "AtomWriter": "engine.provenance.atoms",
    "Tuple": "engine.provenance.tuple_lookup",
    "as_text": "engine.provenance.formats",
    "as_dot": "engine.provenance.formats",
}

__getattr__ = load_on_use(__name__, PUBLIC)
