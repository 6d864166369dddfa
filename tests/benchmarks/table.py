"""The table of measurements: one row a workload, and what fell short below it."""

HEADER = (
    "workload",
    "rows",
    "1 thread",
    "2 threads",
    "speed-up",
    "B/tuple",
    "peer",
    "peer s",
    "ratio",
    "aim",
    "work",
    "",
)


def heading():
    return line(HEADER)


def row(measured):
    """The lines of one workload: ours beside its first peer, a line for each further peer, and the papers' figure."""
    one, two = measured["ours"]["1"], measured["ours"]["2"]
    peers = measured["peers"] or {"": {"elapsed_s": None}}
    lines = []
    for name, peer in peers.items():
        first = not lines
        lines.append(
            line(
                (
                    measured["name"] if first else "",
                    f"{two['derived']:,}" if first else "",
                    seconds(one["elapsed_s"]) if first else "",
                    seconds(two["elapsed_s"]) if first else "",
                    f"{one['elapsed_s'] / two['elapsed_s']:.2f}" if first else "",
                    f"{two['peak_bytes'] / max(1, two['derived']):.0f}" if first else "",
                    name,
                    seconds(peer["elapsed_s"]) if name else "",
                    ratio(measured, name, peer),
                    aim(measured, name),
                    work(one, peer),
                    verdict(measured, peer),
                )
            )
        )
    if measured["published"]:
        lines.append(f"{'':16}{measured['published']}")
    return "\n".join(lines)


def line(cells):
    return "{:15} {:>13} {:>9} {:>9} {:>8} {:>8}  {:18} {:>8} {:>7} {:>6} {:>6} {}".format(*cells).rstrip()


def seconds(value):
    return "timeout" if value is None else f"{value:.2f}"


def ratio(measured, name, peer):
    """How many times as fast as the peer we are, on two threads."""
    if not name or peer["elapsed_s"] is None:
        return ""
    return f"{peer['elapsed_s'] / measured['ours']['2']['elapsed_s']:.2f}x"


def work(one, peer):
    """How many times our seconds of a processor, on one thread, a peer takes: a busy machine changes it little."""
    return f"{peer['processor_s'] / one['processor_s']:.1f}x" if peer.get("processor_s") else ""


def aim(measured, name):
    if not measured["aim"] or name not in ("Soufflé -j1", "by hand"):
        return ">1x" if name.startswith("DuckDB") else ""
    return f"{measured['aim']:g}x" if name.startswith("S") else f"{1 / measured['aim']:.2f}x"


def verdict(measured, peer):
    """Whether the numbers of rows agree with arithmetic or another algorithm, rows and sums with the peer."""
    ours, wrong = measured["ours"]["2"], []
    for source, found in (("expected", {"rows": measured["expected"]}), ("peer", peer)):
        for kind in ("rows", "sums"):
            for name, n in found.get(kind, {}).items():
                if ours[kind][name] != n:
                    wrong.append(f"{kind} of {name}: {source} {n:,}, we {ours[kind][name]:,}")
    return "WRONG " + "; ".join(wrong) if wrong else "ok" if measured["expected"] or peer.get("rows") else ""
