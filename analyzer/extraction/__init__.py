"""From a tree to facts: which files, by which processes, under which limits."""
