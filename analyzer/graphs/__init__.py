"""Graphs for other tools: call graphs, facts as files, CFL reachability."""
