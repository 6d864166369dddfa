"""Small programs for the taint analysis. `# found` marks each call of `sink` that tainted data reaches, and no other.

`source()` gives tainted data, `sink(x)` takes harm from it, `clean(x)` sanitizes: all are of no file that is scanned.
"""

HEADER = "from flows import clean, sink, source\n"

CASES = {
    "what is taken out is not iterated": """
        x = {"a": source(), "b": "b"}
        for key, value in x.items():
            sink(value)  # found
        x["a"] = "a"
        for key, value in x.items():
            sink(value)
        a, b = [source(), "b"]
        sink(a)  # found
        sink(b)
        y = [source(), "b"]
        y[0] = "a"
        c, d = y
        sink(c)
        for z in y:
            sink(z)
        y[1] = source()
        for z in y:
            sink(z)  # found
    """,
    "a loop goes through the nodes of a list": """
        third = {"text": source(), "next": None}
        second = {"text": "b", "next": third}
        node = {"text": "a", "next": second}
        sink(node["text"])
        while node:
            sink(node["text"])  # found
            node = node["next"]
        other = {"text": "a", "next": {"text": "b", "next": None}}
        while other:
            sink(other["text"])
            other = other["next"]
    """,
    "a dictionary is made of pairs": """
        x = dict((key, value) for key, value in [("a", source()), ("b", "b")])
        sink(x["a"].encode())  # found
        y = dict([("a", source())])
        sink(y["a"].encode())  # found
        z = dict(part.split("=") for part in source().split("&"))
        sink(z["a"].encode())  # found
        w = dict([("a", "a")])
        sink(w["a"].encode())
    """,
    "a method is called with its object, whoever calls it": """
        from framework import register

        class Jobs:
            def __init__(self, prefix):
                self.prefix = prefix
                register("start", self.start)
                register("stop", view=self.stop)

            def start(self):
                self.run(source())

            def stop(self):
                self.end(source())

            def run(self, text):
                sink(self.prefix + text)  # found

            def end(self, text):
                sink(self.prefix)
                sink(text)  # found

        Jobs("a")
    """,
    "a mapping fills the fields of an object": """
        from dataclasses import dataclass
        from pydantic import BaseModel

        @dataclass
        class Book:
            title: str
            place: str
            pages: int = 0

        class Form(BaseModel):
            title: str

        class Page(Form):
            number: int

        book = Book(**source())
        sink(book.title)  # found
        sink(book.pages)
        other = Book(**{"title": "a", "place": source()})
        sink(other.title)
        sink(other.place)  # found
        page = Page(**source())
        sink(page.title)  # found
        sink(page.number)
        page = Page.model_validate(source())
        sink(page.title)  # found
        page = Page(**{"title": "a", "number": 1})
        sink(page.title)
    """,
    "an object is called": """
        class Runner:
            def __init__(self, text):
                self.text = text

            def __call__(self):
                return self.text

        a = Runner(source())
        b = Runner("b")
        sink(a())  # found
        sink(b())
    """,
    "text is built of text": """
        x = source()
        sink("a" + x)  # found
        sink(f"a{x}b")  # found
        sink("%s" % x)  # found
        sink("{}".format(x))  # found
        sink(", ".join(["a", x]))  # found
        sink(x.strip().upper()[1:])  # found
        y = "a"
        y += x
        sink(y)  # found
    """,
    "a variable holds what was assigned last": """
        x = source()
        sink(x)  # found
        x = "a"
        sink(x)
    """,
    "two calls of a helper do not mix": """
        def helper(x):
            return "a" + x

        sink(helper(source()))  # found
        sink(helper("b"))
    """,
    "calls nest": """
        def inner(x):
            return x

        def outer(x):
            return inner(x)

        a = outer(source())
        b = outer("b")
        sink(a)  # found
        sink(b)
    """,
    "a sink in a function is reached from the call that taints it": """
        def run(x):
            sink(x)  # found

        def skip(x):
            sink(x)

        run(source())
        skip("a")
    """,
    "recursion ends": """
        def repeat(x, n):
            if n == 0:
                return x
            return repeat(x + "a", n - 1)

        sink(repeat(source(), 3))  # found
        sink(repeat("b", 3))
    """,
    "parameters are matched by position, name and default": """
        def pick(a, b="b", *, c="c"):
            sink(a)
            sink(b)  # found
            return c

        x = source()
        sink(pick("a", x))
        sink(pick("a", b=x, c="c"))
        sink(pick("a", c=x))  # found
    """,
    "arguments are collected and spread": """
        def last(*values, **options):
            sink(values[0])
            sink(values[1])  # found
            sink(options["a"])
            return options["b"]

        sink(last("a", source(), a="a", b="b"))
        sink(last("a", "b", a="a", b=source()))  # found

        def two(a, b):
            sink(a)
            sink(b)  # found

        two(*["a", source()])
        two(**{"a": "a", "b": source()})
    """,
    "a dict by key": """
        d = {"a": source(), "b": "b"}
        sink(d["a"])  # found
        sink(d["b"])
        sink(d.get("a"))  # found
        sink(d.get("b"))
        sink(d)  # found
        d["c"] = source()
        sink(d["c"])  # found
        for key, value in d.items():
            sink(key)
            sink(value)  # found
    """,
    "a tainted key taints keys": """
        d = {}
        d[source()] = "a"
        sink(d["b"])
        for key in d:
            sink(key)  # found
    """,
    "a list by position": """
        xs = ["a", source(), "b"]
        sink(xs[0])
        sink(xs[1])  # found
        sink(xs[1:][0])  # found
        sink(xs[2:][0])
        a, *rest = xs
        sink(a)
        sink(rest[0])  # found
        sink(rest[1])
        for x in xs:
            sink(x)  # found
    """,
    "elements that are appended": """
        xs = []
        xs.append(source())
        ys = []
        ys.append("a")
        sink(xs[0])  # found
        sink(ys[0])
        ys.extend(xs)
        sink(ys.pop())  # found
    """,
    "containers in containers": """
        d = {"a": {"b": source()}, "c": {"b": "b"}}
        sink(d["a"]["b"])  # found
        sink(d["c"]["b"])
    """,
    "all that a tainted whole gives is tainted": """
        d = source()
        sink(d["a"]["b"])  # found
        sink(d.a.b())  # found
        for x in d:
            sink(x)  # found
    """,
    "objects keep apart": """
        class Box:
            def __init__(self, content):
                self.content = content
                self.label = "a"

            def get(self):
                return self.content

        first = Box(source())
        second = Box("b")
        sink(first.content)  # found
        sink(first.get())  # found
        sink(first.label)
        sink(second.content)
        sink(second.get())
    """,
    "what a function stores in its argument": """
        class Box:
            pass

        def fill(box, x):
            box.content = x

        a, b = Box(), Box()
        fill(a, source())
        fill(b, "b")
        sink(a.content)  # found
        sink(b.content)
        d = {"x": "x"}

        def put(target):
            target["x"] = source()

        put(d)
        sink(d["x"])  # found
    """,
    "an alias is the same object": """
        a = {"x": "x"}
        b = a
        b["x"] = source()
        sink(a["x"])  # found
    """,
    "a store overwrites": """
        a = {"x": source()}
        sink(a["x"])  # found
        a["x"] = "x"
        sink(a["x"])
        b = {"x": "x"}
        sink(b["x"])
        b["x"] = source()
        sink(b["x"])  # found
        del b["x"]
        sink(b.get("x"))
    """,
    "a called function overwrites": """
        def reset(target):
            target["x"] = "x"

        a = {"x": source()}
        b = {"x": source()}
        reset(a)
        sink(a["x"])
        sink(b["x"])  # found
    """,
    "one branch does not overwrite for the other": """
        def run(flag):
            a = {"x": source()}
            if flag:
                a["x"] = "x"
            sink(a["x"])  # found
    """,
    "inherited constructors": """
        class Base:
            def __init__(self, x):
                self.x = x

        class Derived(Base):
            def __init__(self, x, y):
                super().__init__(x)
                self.y = y

        d = Derived(source(), "y")
        sink(d.x)  # found
        sink(d.y)
    """,
    "properties and methods that give back the receiver": """
        class Query:
            def __init__(self):
                self.text = ""

            def add(self, x):
                self.text = x
                return self

            @property
            def full(self):
                return "a" + self.text

        sink(Query().add(source()).full)  # found
        sink(Query().add("b").full)
    """,
    "data classes": """
        from dataclasses import dataclass

        @dataclass
        class Pair:
            left: str
            right: str

        p = Pair(source(), "b")
        sink(p.left)  # found
        sink(p.right)
    """,
    "what a class holds": """
        class Settings:
            name = source()
            other = "a"

        sink(Settings.name)  # found
        sink(Settings().name)  # found
        sink(Settings.other)
        Settings.later = source()
        sink(Settings().later)  # found
    """,
    "attributes by name": """
        class Box:
            pass

        b = Box()
        setattr(b, "x", source())
        sink(getattr(b, "x"))  # found
        sink(getattr(b, "y", "y"))
    """,
    "closures and lambdas": """
        def outer(x):
            def inner():
                return x
            return inner

        sink(outer(source())())  # found
        add = lambda a, b: a + b
        sink(add("a", source()))  # found
        sink(add("a", "b"))
    """,
    "variables of an enclosing function": """
        def run():
            x = "a"

            def change():
                nonlocal x
                x = source()

            change()
            sink(x)  # found
    """,
    "generators": """
        def values(x):
            yield "a"
            yield x

        for value in values(source()):
            sink(value)  # found
        for value in values("b"):
            sink(value)

        def more(x):
            yield from values(x)

        sink(next(more(source())))  # found
    """,
    "comprehensions": """
        xs = [source(), source()]
        sink([x.strip() for x in xs][0])  # found
        sink({"a": x for x in xs}["a"])  # found
        sink(" ".join(x for x in xs))  # found
        sink(["a" for x in xs][0])
    """,
    "await": """
        async def fetch(x):
            return x

        async def run():
            sink(await fetch(source()))  # found
            sink(await fetch("a"))
    """,
    "exceptions": """
        def fail(x):
            raise ValueError(x)

        try:
            fail(source())
        except ValueError as error:
            sink(str(error))  # found
        try:
            fail("a")
        except ValueError as error:
            sink(str(error))
    """,
    "context managers": """
        class Session:
            def __init__(self, x):
                self.x = x

            def __enter__(self):
                return self

            def __exit__(self, *details):
                pass

        with Session(source()) as session:
            sink(session.x)  # found
    """,
    "functions as arguments": """
        def apply(f, x):
            return f(x)

        sink(apply(lambda x: x + "a", source()))  # found
        sink(list(map(lambda x: x + "a", [source()]))[0])  # found
        sink(list(map(lambda x: x + "a", ["b"]))[0])
    """,
    "decorators that wrap": """
        import functools

        def logged(function):
            @functools.wraps(function)
            def wrapper(*values, **options):
                return function(*values, **options)
            return wrapper

        @logged
        def shown(a, b):
            sink(a)
            return b

        sink(shown("a", source()))  # found
        sink(shown("a", b="b"))
    """,
    "sanitizers": """
        x = source()
        sink(clean(x))
        sink(x)  # found
        y = clean(x) + x
        sink(y)  # found
    """,
    "numbers and truth values carry no text": """
        x = source()
        sink(int(x))
        sink(len(x))
        sink(x == "a")
        sink(x.isdigit())
        sink(str(int(x)) + "a")
    """,
    "guards": """
        def run(flag):
            x = source()
            if x in ("a", "b"):
                sink(x)
            else:
                sink(x)  # found
            if x == "c":
                sink(x)
            if not x.isdigit():
                sink(x)  # found
                return
            sink(x)
    """,
    "a guard that chooses a default": """
        def run():
            x = source()
            if x not in ("a", "b"):
                x = "a"
            sink(x)
    """,
    "an empty value does no harm": """
        x = source()
        sink(x and "a")
        sink(x or "a")  # found
    """,
    "branches that cannot be taken": """
        def run():
            x = "a"
            if 1 > 2:
                x = source()
            sink(x)
            debug = False
            if debug:
                sink(source())
    """,
    "loops": """
        def run(n):
            x = "a"
            for _ in range(n):
                sink(x)  # found
                x = source()
            sink(x)  # found
    """,
    "pairs": """
        for i, x in enumerate(["a", source()]):
            sink(i)
            sink(x)  # found
        for a, b in zip(["a"], [source()]):
            sink(a)
            sink(b)  # found
    """,
    "swapped variables and elements": """
        a, b = source(), "b"
        a, b = b, a
        sink(a)
        sink(b)  # found

        def swap(left, right):
            kept = left["x"]
            left["x"] = right["x"]
            right["x"] = kept

        c = {"x": source()}
        d = {"x": "x"}
        swap(c, d)
        sink(c["x"])
        sink(d["x"])  # found
    """,
    "an object that a getter gives out": """
        class Part:
            def set(self, x):
                self.x = x

        class Whole:
            def make(self):
                self.part = Part()
                return self.part

        w = Whole()
        p = w.make()
        p.set(source())
        sink(w.part.x)  # found
        sink(Whole().make().x)
    """,
    "a chosen element is as harmless as the choices": """
        TABLE = {"a": "1"}
        sink(TABLE[source()])
        sink(TABLE.get(source()))
    """,
    "match": """
        class Point:
            __match_args__ = ("left", "right")

            def __init__(self, left, right):
                self.left, self.right = left, right

        def run(x):
            match x:
                case {"a": y}:
                    sink(y)  # found
                case [first, *_]:
                    sink(first)  # found
                case str(text):
                    sink(text)  # found

        def part(x):
            match x:
                case Point(left, right):
                    sink(left)  # found
                    sink(right)

        run(source())
        part(Point(source(), "a"))
    """,
    "a set loses a value that is taken out": """
        s = set()
        x = source()
        s.add(x)
        sink(s)  # found
        s.discard(x)
        sink(s)
        s.add(x)
        s.discard("a")
        sink(s)  # found
    """,
    "keys that itemgetter asks for": """
        from operator import itemgetter
        d = {"a": source(), "b": "b"}
        sink(itemgetter("a")(d))  # found
        sink(itemgetter("b")(d))
        x, y = itemgetter("b", "a")(d)
        sink(x)
        sink(y)  # found
    """,
    "a loop over a range that is not empty": """
        def run(n):
            x = source()
            for i in range(2):
                x = "a"
            sink(x)
            y = source()
            for i in range(n):
                y = "a"
            sink(y)  # found
            z = source()
            for i in range(3):
                sink(z)  # found
                z = "a"
            w = source()
            for i in range(3):
                if n:
                    break
                w = "a"
            sink(w)  # found
    """,
    "properties of one class are kept apart": """
        class Box:
            def __init__(self, name, note):
                self.name = name
                self.note = note

            @property
            def title(self):
                return self.name

            @property
            def text(self):
                return self.note

        box = Box("a", source())
        sink(box.title)
        sink(box.text)  # found
    """,
    "getattr gives one attribute": """
        class Box(dict):
            pass

        box = Box()
        box.name = "a"
        box["note"] = source()
        sink(getattr(box, "name", "b"))
        box.note = source()
        sink(getattr(box, "note", "b"))  # found
        sink(getattr(box, "name", "b"))
    """,
    "what a wrapper hands on does not mix": """
        def checked(function):
            def wrapper(*args, **kwargs):
                for value in args:
                    print(value)
                return function(*args, **kwargs)
            return wrapper

        @checked
        def one(x, y="y"):
            sink(x)
            sink(y)  # found

        @checked
        def other(x, *rest, **options):
            sink(x)  # found
            sink(rest[0])
            sink(rest[1])  # found
            sink(options["a"])
            sink(options["b"])  # found

        one("a", y=source())
        other(source(), "b", source(), a="a", b=source())
    """,
    "what is added to a list has a position, until something moves it": """
        def run():
            x = []
            x.append("a")
            x.append(source())
            x.append("c")
            sink(x[0])
            sink(x[1])  # found
            sink(x[-2])  # found
            del x[0]
            sink(x[0])  # found
            sink(x[1])
            sink(x.pop(0))  # found
            sink(x[0])
            y = list()
            y.append(source())
            y.append("b")
            y.insert(0, "a")
            sink(y[1])  # found
            z = []
            if y:
                z.append("a")
            z.append(source())
            sink(z[0])  # found
            sink(z.pop())  # found
            w = []
            for part in y:
                w.append("a")
            w.append(source())
            w.reverse()
            sink(w[0])  # found
            sink([source(), "b"][-1])  # found

        run()
    """,
    "options are kept apart by section and name": """
        from configparser import RawConfigParser

        x = RawConfigParser()
        x.add_section("mail")
        x.set("mail", "host", "a")
        x.set("mail", "user", source())
        sink(x.get("mail", "host"))
        sink(x.get("mail", "user"))  # found
        sink(x.get("other", "user"))
        sink(x["mail"]["user"])  # found
        x["web"] = {"root": source(), "name": "a"}
        sink(x.get("web", "root"))  # found
        sink(x.get("web", "name"))
        sink(x.get("web", "root", fallback="a"))  # found
        x.set("mail", source(), "a")
        sink(x.get("mail", "host"))
    """,
    "a character of a constant text decides": """
        kinds = "PLS"
        x = source()
        sink(x if kinds[1] == "P" else "a")
        sink(x if kinds[-1] == "S" else "a")  # found
        match kinds[2]:
            case "P" | "L":
                y = x
            case _:
                y = "a"
        sink(y)
    """,
    "what is encoded and decoded again is what it was": """
        import base64

        x = base64.urlsafe_b64encode(source().encode())
        sink(base64.urlsafe_b64decode(x.strip()).decode())  # found
    """,
}
