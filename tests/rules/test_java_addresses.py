"""Java: addresses and paths that builders, encoders and assertions of libraries and programs keep harmless."""

from marked_lines import lines_with_findings, marked_lines

NAMES = """\
package shop;

public interface Names { String START = "redirect:"; }
"""
PROGRAM = """\
import com.google.common.base.Preconditions;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import javax.servlet.http.*;
import org.apache.commons.codec.digest.DigestUtils;
import org.slf4j.*;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.util.Assert;
import org.springframework.web.bind.annotation.*;
import org.springframework.web.util.UriComponentsBuilder;
import static shop.Names.*;

interface Shop {
    enum Kind { EVENT, TICKET }
    enum Page {
        FIRST("first"), LAST("last");
        private final String file;
        Page(String file) { this.file = file; }
        String file() { return file; }
    }
}

class Texts {
    static String encode(byte[] bytes) {
        StringBuilder b = new StringBuilder();
        for (byte x : bytes) {
            char c = (char) x;
            if (c >= 'a' && c <= 'z' || c >= '0' && c <= '9') b.append(c);
            else b.append('%').append("0123456789ABCDEF".charAt(c >> 4));
        }
        return b.toString();
    }
    static String encodePath(byte[] bytes) {
        StringBuilder b = new StringBuilder();
        for (byte x : bytes) {
            char c = (char) x;
            if (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '/') b.append(c);
            else b.append('%').append("0123456789ABCDEF".charAt(c >> 4));
        }
        return b.toString();
    }
    private static final char[] LT = "&lt;".toCharArray();
    private static final char[] GT = "&gt;".toCharArray();
    static String escapeTags(String text) {
        StringBuilder b = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (c == '<') b.append(LT);
            else if (c == '>') b.append(GT);
            else b.append(c);
        }
        return b.toString();
    }
    static String leaveTags(String text) {
        StringBuilder b = new StringBuilder(text);
        b.append(LT);
        return b.toString();
    }
    static String letters(String text) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isLetterOrDigit(c)) b.append(c);
        }
        return b.toString();
    }
    static String marks(String text) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!Character.isLetterOrDigit(c)) b.append(c);
        }
        return b.toString();
    }
    static String percents(byte[] bytes) {
        StringBuilder b = new StringBuilder();
        for (byte x : bytes) {
            char c = (char) x;
            if (c >= '0' && c <= '9') b.append('%');
            b.append(c);
        }
        return b.toString();
    }
}

@Controller
class Imported {
    @GetMapping("/i")
    public String i(@PathVariable String event) {
        return START + "/event/" + event; // harmless
    }
}
@Controller
class Redirects {
    private static final String REDIRECT = "redirect:";
    @GetMapping("/a/{event}")
    public String a(@PathVariable String event) {
        UriComponentsBuilder address = UriComponentsBuilder.fromPath("/event/{event}");
        return REDIRECT + address.buildAndExpand(Map.of("event", event)); // harmless
    }
    @GetMapping("/b/{event}")
    public String b(@PathVariable Shop.Kind event, @PathVariable String name) {
        return "redirect:/" + event + "/" + name; // harmless
    }
    @GetMapping("/c/{event}")
    public String c(@PathVariable String event) {
        return "events/" + event; // harmful
    }
    @GetMapping("/d")
    public String d(@RequestParam String to) {
        return "redirect:" + to; // harmful
    }
}

@RestController
class Files1 {
    private final Path root = Paths.get("/srv");
    private static final Logger log = LoggerFactory.getLogger(Files1.class);
    private void check(Path path) {
        Path plain = path.normalize();
        Assert.isTrue(plain.startsWith(root.normalize()), "outside");
    }
    private void checkAll(Path path) {
        check(path);
    }
    private void look(Path path) {
        Assert.isTrue(Files.exists(path), "missing"); // harmful
    }
    @GetMapping("/a")
    public void a(@RequestParam String name) throws IOException {
        Path path = root.resolve(name);
        check(path);
        Files.newInputStream(path).close(); // harmless
    }
    @GetMapping("/b")
    public void b(@RequestParam String name) throws IOException {
        Path path = root.resolve(name);
        look(path);
        Files.newInputStream(path).close(); // harmful
    }
    @GetMapping("/b2")
    public void b2(@RequestParam String name) throws IOException {
        Path path = root.resolve(name);
        checkAll(path);
        Files.newInputStream(path).close(); // harmless
    }
    @GetMapping("/c")
    public void c(@RequestParam String name) throws IOException {
        Preconditions.checkArgument(!name.contains(".."), "outside");
        new FileInputStream("/srv/" + name).close(); // harmless
    }
    @GetMapping("/d")
    public void d(@RequestParam String name) throws IOException {
        Preconditions.checkArgument(name.length() > 2, "short");
        new FileInputStream("/srv/" + name).close(); // harmful
    }
    @GetMapping("/e/{page}")
    public void e(@PathVariable Shop.Page page, @PathVariable String other) throws IOException {
        new FileInputStream("/srv/" + page.file()).close(); // harmless
        new FileInputStream("/srv/" + other).close(); // harmful
    }
    @GetMapping("/f")
    void f(@RequestParam String name, HttpServletRequest request, HttpServletResponse response) throws Exception {
        new FileInputStream(Texts.encode(name.getBytes())).close(); // harmless
        new FileInputStream(Texts.encodePath(name.getBytes())).close(); // harmful
        new FileInputStream(Texts.percents(name.getBytes())).close(); // harmful
        response.sendRedirect(Texts.encode(name.getBytes())); // harmless
        response.sendRedirect(Texts.encodePath(name.getBytes())); // harmful
        response.sendRedirect(request.getRequestURI() + name); // harmless
        response.sendRedirect(request.getContextPath() + name); // harmful
        response.sendRedirect("tab=" + name); // harmless
        response.getWriter().println(Texts.escapeTags(name)); // harmless
        response.getWriter().println(Texts.leaveTags(name)); // harmful
        Locale locale = new Locale(name);
        response.getWriter().println(ResourceBundle.getBundle("texts", locale).getString("title")); // harmless
        response.getWriter().println(String.valueOf(locale)); // harmful
        new FileInputStream("/srv/" + Texts.letters(name)).close(); // harmless
        new FileInputStream("/srv/" + Texts.marks(name)).close(); // harmful
        new FileInputStream("/srv/" + DigestUtils.sha256Hex(name)).close(); // harmless
    }
    @GetMapping("/g")
    public void g(@RequestParam String name, Rows rows) {
        rows.findOne(name); // harmless
    }
}
interface Rows { Object findOne(String name); }
"""


def test_builders_encoders_and_assertions():
    lines = marked_lines({"Shop.java": PROGRAM})
    expected = {(name, number) for name, number, mark, _ in lines if mark == "harmful"}
    assert lines_with_findings({"Shop.java": PROGRAM, "shop/Names.java": NAMES}) == expected
