"""Facts of a Java-like program for `programs/java.dl`: packages of 20 classes of 6 methods of 8 variables each."""

import numpy as np
from code_facts import columns, near

PACKAGE, METHODS, VARIABLES = 20, 6, 8
VIRTUAL, CONSTRUCTOR, STATIC = 3, 4, 5
"""Methods 0 … 2 of a class are virtual and declared throughout the package, 3 is its own, then these two."""
THIS, FIRST, SECOND, RETURNED, LOCAL = 0, 1, 2, 3, 4
"""The variables of a method; four locals."""


def program(n):
    """The facts of n classes."""
    n -= n % PACKAGE
    return {**hierarchy(n), **Bodies(n).facts()}


def hierarchy(n):
    """Classes 0 … n - 1, interfaces n … n + n / 10, arrays after them; class 0 is the root."""
    rng = np.random.default_rng(9)
    classes = np.arange(n)
    within = classes % PACKAGE
    package = classes - within
    parent = np.where(within == 0, 0, package + (rng.random(n) * within).astype(int))
    interfaces = np.arange(n, n + n // 10)
    inner = interfaces[1:]
    arrays, elements = np.arange(n // 10) + n + n // 10, np.arange(0, n, 10)
    implementing = classes[rng.random(n) < 0.3]
    return {
        "class": columns(classes),
        "interface": columns(interfaces),
        "object_class": columns([0]),
        "array_type": columns(arrays, elements),
        "superclass": columns(classes[1:], parent[1:]),
        "implements": columns(implementing, n + implementing // 10),
        "extends_interface": columns(inner, n + near(rng, inner - n, 5, n // 10)),
    }


class Bodies:
    """Methods and the statements in them. Calls are numbered as they are made; heap objects as their variables."""

    def __init__(self, n):
        self.rng = np.random.default_rng(10)
        self.n, self.n_methods = n, n * METHODS
        self.methods = np.arange(self.n_methods)
        self.owner, self.kind = self.methods // METHODS, self.methods % METHODS
        n_shared = n // PACKAGE * VIRTUAL
        own = n_shared + self.methods
        self.signature = np.where(self.kind < VIRTUAL, self.owner // PACKAGE * VIRTUAL + self.kind, own)
        self.made_type = self.class_near(self.methods)
        self.calls = []
        self.n_calls = 0

    def some(self, share):
        """Some of the methods."""
        return self.methods[self.rng.random(self.n_methods) < share]

    def variable(self, methods, low, high):
        """One of the variables low … high - 1 of each method."""
        return methods * VARIABLES + self.rng.integers(low, high, len(methods))

    def class_near(self, methods):
        return near(self.rng, methods // METHODS, 8, self.n)

    def call(self, methods):
        """Number calls in some methods; they pass two variables and keep the result in a local."""
        numbers = self.n_calls + np.arange(len(methods))
        self.n_calls += len(methods)
        self.calls.append((numbers, methods))
        return numbers

    def facts(self):
        return {**self.declarations(), **self.moves(), **self.fields(), **self.calling(), **self.throwing()} | (
            self.reflection() | self.arguments()
        )

    def declarations(self):
        rng, methods, n = self.rng, self.methods, self.n
        abstract = methods[(self.kind < VIRTUAL) & (self.owner % PACKAGE > 0) & (rng.random(len(methods)) < 0.05)]
        concrete = np.setdiff1d(methods, abstract)
        instance = concrete[concrete % METHODS != STATIC]
        classes = np.arange(n)
        initialising = classes[rng.random(n) < 0.2]
        first, second = concrete * VARIABLES + FIRST, concrete * VARIABLES + SECOND
        formals = [columns(concrete, 0, first), columns(concrete, 1, second)]
        return {
            "method": columns(methods, self.owner, self.signature),
            "abstract": columns(abstract),
            "main": columns(np.arange(0, n, PACKAGE) * METHODS + STATIC),
            "initialiser": columns(initialising, initialising * METHODS + STATIC),
            "default_constructor": columns(classes, classes * METHODS + CONSTRUCTOR),
            "made_by_reflection": columns(classes, self.n_methods * VARIABLES + classes),
            "finalizer": columns([0]),
            "start_signature": columns([1]),
            "run_signature": columns([2]),
            "formal": np.concatenate(formals, axis=1),
            "this_of": columns(instance, instance * VARIABLES + THIS),
            "returns": columns(concrete, concrete * VARIABLES + RETURNED),
        }

    def moves(self):
        new, arrays, moved, cast, returned = map(self.some, (0.8, 0.1, 0.5, 0.3, 0.6))
        made, array = new * VARIABLES + LOCAL, arrays * VARIABLES + LOCAL + 1
        types, array_types = self.made_type[new], self.n + self.n // 10 + arrays // METHODS // 10
        reflective = self.n_methods * VARIABLES + np.arange(self.n)
        filtered = columns(cast * VARIABLES + LOCAL + 2, self.variable(cast, FIRST, RETURNED), self.class_near(cast))
        copies = [
            columns(self.variable(moved, LOCAL + 1, VARIABLES), self.variable(moved, FIRST, LOCAL + 1)),
            columns(returned * VARIABLES + RETURNED, self.variable(returned, LOCAL, VARIABLES)),
        ]
        return {
            "alloc": np.concatenate([columns(made, made, new), columns(array, array, arrays)], axis=1),
            "heap_type": np.concatenate(
                [columns(made, types), columns(array, array_types), columns(reflective, np.arange(self.n))], axis=1
            ),
            "array_alloc": columns(array),
            "move": np.concatenate(copies, axis=1),
            "cast": filtered,
        }

    def fields(self):
        """Fields 0 … 3 and static fields 4 … 5 of every class; a package reads and writes those of its first class."""
        loads, stores, array_loads, array_stores, gets, puts = map(self.some, (0.6, 0.5, 0.1, 0.1, 0.05, 0.03))

        def field(methods, low, high):
            return self.class_near(methods) // PACKAGE * PACKAGE * 6 + self.rng.integers(low, high, len(methods))

        static = np.arange(self.n * 6)
        static = static[static % 6 >= 4]
        to, base = self.variable(loads, LOCAL + 1, VARIABLES), self.variable(loads, THIS, LOCAL + 1)
        return {
            "load": columns(to, base, field(loads, 0, 4)),
            "store": columns(self.variable(stores, THIS, LOCAL), field(stores, 0, 4), stores * VARIABLES + LOCAL),
            "array_load": columns(array_loads * VARIABLES + LOCAL + 2, self.variable(array_loads, FIRST, VARIABLES)),
            "array_store": columns(array_stores * VARIABLES + LOCAL + 1, array_stores * VARIABLES + LOCAL),
            "static_load": columns(gets * VARIABLES + LOCAL + 3, field(gets, 4, 6), gets),
            "static_store": columns(field(puts, 4, 6), puts * VARIABLES + LOCAL, puts),
            "static_field": columns(static, static // 6),
        }

    def calling(self):
        virtual, special, static = np.repeat(self.some(0.9), 2), self.some(0.4), self.some(0.4)
        on_new = self.rng.random(len(virtual)) < 0.5
        base = np.where(on_new, virtual * VARIABLES + LOCAL, self.variable(virtual, THIS, VARIABLES))
        package = np.where(on_new, self.made_type[virtual], virtual // METHODS) // PACKAGE
        named = package * VIRTUAL + self.rng.integers(0, VIRTUAL, len(virtual))
        return {
            "virtual_call": columns(self.call(virtual), base, named),
            "special_call": columns(
                self.call(special), special * VARIABLES + LOCAL, self.class_near(special) * METHODS + CONSTRUCTOR
            ),
            "static_call": columns(self.call(static), self.class_near(static) * METHODS + STATIC),
        }

    def throwing(self):
        throwing, catching = self.some(0.02), self.some(0.3)
        handler = catching * VARIABLES + LOCAL + 3
        return {
            "throws": columns(throwing, throwing * VARIABLES + LOCAL),
            "catches": columns(catching, self.class_near(catching) // PACKAGE * PACKAGE, handler),
        }

    def reflection(self):
        """One method in 100 names a class, makes an object of it, and calls a method or reads or writes a field."""
        used = self.some(0.01)
        strings = self.n_methods * VARIABLES + self.n + np.arange(3 * len(used)).reshape(3, -1)
        locals_ = [used * VARIABLES + LOCAL + i for i in range(4)]
        literal = self.some(0.01)
        naming, making, finding, invoking = (self.call(used) for _ in range(4))
        looking, getting, setting = (self.call(used) for _ in range(3))
        named = near(self.rng, used, 20, self.n_methods)
        fields = self.class_near(used) // PACKAGE * PACKAGE * 6
        return {
            "string_constant": np.concatenate(
                [columns(local, text, used) for local, text in zip(locals_[1:], strings, strict=True)], axis=1
            ),
            "names_class": columns(strings[0], self.class_near(used)),
            "names_method": columns(strings[1], self.signature[named]),
            "names_field": columns(strings[2], fields),
            "for_name": columns(naming, locals_[1]),
            "class_literal": columns(literal * VARIABLES + LOCAL + 2, self.class_near(literal), literal),
            "new_instance": columns(making, locals_[2]),
            "get_method": columns(finding, locals_[2], locals_[2]),
            "invoke": columns(invoking, locals_[3], locals_[0]),
            "get_field": columns(looking, locals_[2], locals_[3]),
            "field_get": columns(getting, locals_[3], locals_[0]),
            "field_set": columns(setting, locals_[3], locals_[0], locals_[0]),
        }

    def arguments(self):
        calls, methods = (np.concatenate(parts) for parts in zip(*self.calls, strict=True))
        passed = [columns(calls, index, self.variable(methods, THIS, LOCAL + 2)) for index in (0, 1)]
        return {
            "in_method": columns(calls, methods),
            "actual": np.concatenate(passed, axis=1),
            "result": columns(calls, self.variable(methods, LOCAL + 1, VARIABLES)),
        }
