"""A group whose members are threads of this process, and get of one another what a frame carries."""

import threading

from engine.cluster.member import evaluate
from engine.cluster.message_codec import pack, unpack
from engine.database import Database
from engine.evaluation.execution import Options
from engine.result import Result
from engine.symbols import Symbols

TINY = Options(chunk_rows=5, buffer_rows=2, partition_rows=6, split_rows=6, delta_rows=1, alone_rows=0, min_sampled=2)


class Seat:
    """One place at a table where all lay down their parcels, and then take them."""

    def __init__(self, table, rank):
        self.table, self.rank, self.size = table, rank, table.size

    def exchange(self, payloads):
        self.table.laid[self.rank] = [pack(parcel) for parcel in payloads]
        self.table.barrier.wait()
        taken = [unpack(payloads[self.rank]) for payloads in self.table.laid]
        self.table.barrier.wait()
        return taken


class Table:
    def __init__(self, size):
        self.size, self.laid, self.barrier = size, [None] * size, threading.Barrier(size)


def together(size, work):
    """Return what `work(seat)` returns for each of so many members; raise what the first failing one has raised."""
    table, returned, raised = Table(size), [None] * size, []

    def sit(rank):
        try:
            returned[rank] = work(Seat(table, rank))
        except BaseException as error:
            raised.append(error)
            table.barrier.abort()

    threads = [threading.Thread(target=sit, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise next((e for e in raised if not isinstance(e, threading.BrokenBarrierError)), raised[0])
    return returned


def run(program, database, size, **options):
    """Evaluate a program with so many members, the facts dealt out among them; return the members."""
    texts = database.symbols.texts(range(len(database.symbols)))

    def work(seat):
        mine = {name: columns[:, seat.rank :: size] for name, columns in database.relations.items()}
        checkpoints = options.get("checkpoints")
        chosen = {**options, "checkpoints": checkpoints(seat)} if checkpoints else options
        return evaluate(program, Database(Symbols(texts), database.records, mine), seat, **chosen)

    return together(size, work)


def results(program, members):
    """What each member holds of the relations, as a Result."""
    for member in members:
        records = {name: table.columns for name, table in member.records.items()}
        yield Result(member.symbols, records, {name: member.part(name) for name in program.relations})
