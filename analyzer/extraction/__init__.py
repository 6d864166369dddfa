"""Extract facts from a tree: selection of files, worker processes and limits."""
