"""Where tainted data flows in Java, and where it does not, program by program."""

import pytest

MODEL = """
source_call("test", "flows.Flows.source").
sink_argument("test", "flows.Flows.sink", "0").
"""
HEADER = "import static flows.Flows.*;\nimport java.util.*;\n\n"
BOX = """
class Box { String text; Box next; Box() { next = null; } void set(String t) { text = t; } }
class Pair { Box box; Pair() { box = new Box(); } void set(Box b) { this.box = b; } }
"""
PROGRAMS = {
    "a call that gives back its argument names the same object": """
class Main { static Box same(Box b) { Box r = b; return r; }
    static void run() { Box a = new Box(); a.text = source(); Box b = same(same(a));
        sink(b.text); // found
        a.text = "x";
        sink(b.text);
        b.text = source();
        sink(a.text); // found
    } }""",
    "a declared type chooses among overloads, whatever gave the value": """
class Main { static Box same(Box b) { return b; } static Box same(Pair p) { return p.box; }
    static String same(String s) { return s; }
    static void run() { Box a = new Box(); Box b = same(a); Box c = same(b); a.text = source();
        sink(c.text); // found
    } }""",
    "maps, lists, files and arrays are no instances of each other": """
class Main { static String of(java.io.File f, String s) { return s; }
    static String of(Map<String, String> m, String s) { return "m"; }
    static String of(List<String> l, String s) { return "l"; }
    static String of(byte[] b, String s) { return "b"; }
    static void run(java.io.File f, Map<String, String> m, ArrayList<String> l, byte[] b) {
        sink(of(f, source())); // found
        sink(of(m, source()));
        sink(of(l, source()));
        sink(of(b, source()));
    } }""",
    "the most specific overload is called": """
class Main { static String of(Object o, String s) { return s; }
    static String of(Box b, String s) { return "b"; }
    static String of(CharSequence t, String s) { return "t"; }
    static String all(Object o, String s) { return s; }
    static String all(Map<String, String> m, String s) { return "m"; }
    static String any(Object o, Object s) { return "o"; }
    static String any(String t, String s) { return s; }
    static void run(Object o, Box b, Integer n) {
        sink(of(o, source())); // found
        sink(of(b, source()));
        sink(of(n, source())); // found
        sink(all(null, source()));
        sink(all(new Pair(), source())); // found
        sink(any("a", source())); // found
        sink(any(n, source()));
    } }""",
    "an object is stored, then stored to": """
class Main { static void put(Pair p, Box b) { p.set(b); }
    static void run() { Box a = new Box(); Pair p = new Pair(); put(p, a);
        sink(p.box.text);
        a.text = source();
        sink(p.box.text); // found
        p.box.text = "x";
        sink(a.text);
    } }""",
    "a way around a cycle of objects leads to the same object": """
class Main { static void run() { Box a = new Box(); Box b = new Box(); a.next = b; b.next = a;
        a.next.next.next.next.text = source();
        sink(a.text); // found
        sink(b.text);
        b.next.text = "x";
        sink(a.text);
    } }""",
    "a loop goes through the nodes of a list": """
class Main { static void run() { Box a = new Box(); Box b = new Box(); Box c = new Box(); c.text = source();
        a.next = b; b.next = c;
        for (Box n = a; n != null; n = n.next)
            sink(n.text); // found
        sink(a.text);
        sink(a.next.text);
    }
    static void other() { Box a = new Box(); Box b = new Box(); Box c = new Box(); c.text = source();
        b.next = c; a.next = b;
        Box n = a;
        while (n != null) {
            sink(n.text); // found
            n = n.next;
        }
        Box d = new Box(); d.next = new Box();
        for (Box m = d; m != null; m = m.next)
            sink(m.text);
    } }""",
    "an object of an earlier run is not this one": """
class Main { static Box kept;
    static void run() { Box old = kept; Box a = new Box(); kept = a; a.text = source(); old.text = "x";
        sink(a.text); // found
    } }""",
    "an object of an earlier round is not this one": """
class Main { static void run(int n) { Box old = new Box(); String last = "";
        for (int i = 0; i < n; i++) {
            Box a = new Box(); a.next = old; a.text = source(); a.next.text = "x";
            sink(a.text); // found
            old = a;
        }
    } }""",
    "a method of a method's argument overwrites": """
class Main { static void renew(Pair p) { p.set(new Box()); }
    static void run() { Pair p = new Pair(); p.box = new Box(); p.box.text = source();
        sink(p.box.text); // found
        renew(p);
        sink(p.box.text);
    } }""",
    "a field that is stored by its simple name is overwritten": """
class Main { static void run() { Box a = new Box(); a.set(source());
        sink(a.text); // found
        a.set("x");
        sink(a.text);
    } }""",
    "an inner object reads the fields of its own outer object": """
class Main { String text; class In { String get() { return text; } String all() { return Main.this.text; } }
    String read() { In in = new In(); return in.get(); }
    static void run() { Main a = new Main(); Main b = new Main(); a.text = source(); b.text = "x";
        sink(a.read()); // found
        sink(b.read());
        In of = a.new In(); In other = b.new In();
        sink(of.all()); // found
        sink(other.all());
    } }""",
    "an inner object stores to its outer object": """
class Main { String text; In in; class In { void set(String t) { text = t; } }
    static void run() { Main a = new Main(); Main b = new Main(); a.in = b.new In(); a.in.set(source());
        sink(a.text);
        sink(b.text); // found
    } }""",
    "an inner object that its outer object keeps": """
class Main { String text; In in; class In { String get() { return text; } }
    void fill() { in = new In(); }
    static void run() { Main a = new Main(); a.text = source(); a.fill();
        sink(a.in.get()); // found
    } }""",
    "a lambda stores to a field of the object around": """
class Main { String text;
    void fill() { Runnable r = () -> { text = source(); }; r.run(); }
    static void run() { Main a = new Main(); Main b = new Main(); a.fill();
        sink(a.text); // found
        sink(b.text);
    } }""",
    "what no way leads back is not returned": """
class Main { static String pick(String t, int x) { if (x > 0) { return t; } return "x"; }
    static String never(String t) { int x = -1; if (x > 0) { return t; } return "x"; }
    static void run(int n) {
        sink(pick(source(), n)); // found
        sink(never(source()));
    } }""",
    "an entry's key is not its value": """
class Main { static void run() { Map<String, String> map = new HashMap<>(); map.put("a", source());
        for (Iterator<Map.Entry<String, String>> it = map.entrySet().iterator(); it.hasNext();) {
            Map.Entry<String, String> entry = it.next();
            sink(entry.getKey());
            sink(entry.getValue()); // found
        }
        map.entrySet().forEach(entry -> {
            sink(entry.getKey());
            sink(entry.getValue()); // found
        });
        map.entrySet().stream().filter(entry -> entry != null).map(entry -> entry.getKey()).forEach(key -> sink(key));
    } }""",
    "numbers are counted up and down": """
class Main { static void run() { int x = 2; x++; int y = 9; y -= 2; String text = source();
        if (x == 2) {
            sink(text);
        }
        if (x + y == 10) {
            sink(text); // found
        }
    } }""",
    "what a library looks up is not what it is asked for": """
class Main { static void run(other.Cache cache, other.Client client, other.Codec codec) { String key = source();
        sink(cache.getIfPresent(key));
        sink(client.getForObject("http://shop/" + key, String.class));
        sink(client.findByName(key));
        sink(client.getResourcePath(key)); // found
        sink(client.getMessage("greeting", key)); // found
        sink(codec.decode(key)); // found
        sink(other.Names.getFor(key)); // found
        cache.getIfPresent("a");
    } }""",
}


FILES = {f"p{n}/Main.java": f"package p{n}; {HEADER}{code}{BOX}" for n, code in enumerate(PROGRAMS.values())}
"""Each program is a package of its own."""


@pytest.fixture(scope="module")
def found(flows):
    return flows(MODEL, FILES)


@pytest.mark.parametrize("file", FILES, ids=PROGRAMS)
def test_taint_flows_where_the_language_lets_it(found, marked, file):
    assert found[file] == marked(FILES[file])
