"""Context policies: points-to, and all that builds on it, with functions analysed once for each of their contexts.

In flow mounted facts and a policy, out flow facts in which every function has a clone for each further context, and the
facts that tell calls which clone they run (`rules/lib/context_clones.dl`). The rules are those of an analysis without
contexts.

1. `policy.py`: the policies by name.
2. `bodies.py`: which function an entity belongs to.
3. `choose.py`: the contexts of each function, from the calls and receivers that the analysis without contexts finds.
4. `clone.py`: the facts of the clones.
5. `evaluate.py`: the two evaluations, and how clones become the functions that they are clones of again.

Source: Whaley and Lam, Cloning-based context-sensitive pointer alias analysis using binary decision diagrams
(PLDI 2004). What is made in clones is told apart as well, as with heap cloning. For which functions keep one context,
Smaragdakis, Kastrinis and Balatsouras, Introspective analysis: context-sensitivity, across the board (PLDI 2014).
"""
