package shop.store;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.*;
import java.util.*;
import java.util.function.Function;
import static java.util.stream.Collectors.toList;

/** A store of items by name, loaded from a file. */
@Component("store")
public abstract class Store<T extends Comparable<T> & Named> extends Base<T> implements Iterable<T>, AutoCloseable {
    private static final Map<String, Integer> LIMITS = new HashMap<>();
    protected final List<? super T> items = new ArrayList<T>();
    private int[] counts = new int[10], sizes[] = {{1, 2}, {3}};
    private volatile boolean open;

    static {
        LIMITS.put("small", 10);
        for (String name : new String[] {"a", "b"}) {
            LIMITS.merge(name, 1, Integer::sum);
        }
    }

    {
        open = true;
    }

    protected Store(String path, T... first) throws IOException {
        super(path);
        this.counts[0] += first.length;
        items.addAll(Arrays.asList(first));
    }

    Store() throws IOException {
        this("default");
    }

    abstract T make(@NonNull String line, int number) throws ParseException;

    synchronized List<T> load(Path path, Function<String, ? extends T> parse) throws IOException {
        int number = 0;
        List<T> found = new LinkedList<>();
        try (BufferedReader reader = Files.newBufferedReader(path); Lock lock = lock()) {
            String line;
            while ((line = reader.readLine()) != null) {
                number++;
                if (line.isBlank() || line.startsWith("#") && !line.startsWith("#!")) continue;
                T item = parse != null ? parse.apply(line) : make(line, number);
                found.add(item);
                counts[number % counts.length]++;
            }
        } catch (ParseException | IllegalStateException e) {
            throw new IOException("line " + number, e);
        } finally {
            open &= number > 0;
        }
        return found.stream().filter(x -> x != null).sorted((a, b) -> {
            int order = a.compareTo(b);
            return order != 0 ? order : Integer.compare(a.hashCode(), b.hashCode());
        }).map(Function.identity()).collect(toList());
    }

    @Override
    public Iterator<T> iterator() {
        final int end = items.size();
        return new Iterator<T>() {
            private int next = 0;

            @Override public boolean hasNext() { return next < end; }

            @SuppressWarnings("unchecked")
            public T next() {
                synchronized (Store.this) {
                    return (T) Store.this.items.get(next++);
                }
            }
        };
    }

    static String describe(Object value) {
        outer:
        for (int i = 0, j = 10; i < j; i++, --j) {
            do {
                if (i == 3) continue outer;
                if (j == 7) break outer;
            } while (i > j);
        }
        if (!(value instanceof Shape shape)) {
            return String.valueOf(value);
        }
        String text = switch (shape) {
            case Circle(double r) when r > 1e3 -> "large";
            case @SuppressWarnings("unused") Circle c -> { String s = "r=" + c.r(); yield s; }
            case Square(var side, _) -> """
                square
                  of "%s"
                """.formatted(side);
            default -> throw new IllegalArgumentException();
        };
        switch (text.length()) {
            case 0: case 1: return "";
            case 2: text += '\u0041';
            default: text = text.trim();
        }
        assert text != null : "no text";
        return text;
    }

    sealed interface Shape permits Circle, Square {}
    record Circle(double r) implements Shape {
        Circle { if (r < 0) throw new IllegalArgumentException("r"); }
    }
    record Square(double side, String name) implements Shape {
        static final double UNIT = 0x1.0p0;
        double area() { return side * side; }
    }

    record Nothing() {}
    static int count(String @NonNull ... names) { return names.length; }

    enum Level implements Named {
        LOW(1), @Deprecated HIGH(2) { @Override int weight() { return super.weight() * 0b10; } };
        private final int rank;
        Level(int rank) { this.rank = rank; }
        int weight() { return rank << 2 >>> 1 ^ ~3; }
    }

    @interface Component { String value() default ""; Class<?>[] types() default {int[].class, String.class}; }

    class Cursor {
        int at;
        void step() { class Step implements Runnable { public void run() { at += Store.this.counts[at]; } } new Step().run(); }
    }
}
