"""Beans that a Java program looks up by their class: what they give is known, as are their methods."""

from marked_lines import lines_with_findings

PROGRAM = """\
import org.springframework.context.ApplicationContext;
import org.springframework.stereotype.*;
import org.springframework.web.bind.annotation.*;

interface Preview { String show(String name); }
@Service("image") class Image implements Preview { public String show(String name) { return "image"; } }
@Service("text") class Text implements Preview { public String show(String name) { return "text"; } }
interface Named { String show(String name); }
@Service class Own implements Named { public String show(String name) { return name; } }

@Controller class Pages {
    private final ApplicationContext context;
    Pages(ApplicationContext context) { this.context = context; }
    private Preview preview(String type) { return context.getBean(type, Preview.class); }
    @GetMapping("/a") String fixed(@RequestParam String name) { return preview("image").show(name); }
    @GetMapping("/b") String own(@RequestParam String name) { return context.getBean(Named.class).show(name); }
}
"""


def test_beans_of_a_class_are_its_subclasses():
    assert lines_with_findings({"Pages.java": PROGRAM}) == {("Pages.java", 16)}


INJECTED = """\
import java.io.*;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.*;
import org.springframework.web.bind.annotation.*;

@Component class Paths {
    String fixed(String name) { return "/srv/a"; }
    String below(String name) { return "/srv/" + name; }
}
class Handler {
    private final Paths paths;
    Handler(Paths paths) { this.paths = paths; }
}
@RestController class Pages {
    @Autowired private Paths paths;
    @GetMapping("/a") void fixed(@RequestParam String name) throws IOException {
        new FileInputStream(paths.fixed(name)).close();
    }
    @GetMapping("/b") void below(@RequestParam String name) throws IOException {
        new FileInputStream(paths.below(name)).close();
    }
}
class Others {
    private Paths paths;
    void open(@RequestParam String name) throws IOException {
        new FileInputStream(paths.fixed(name)).close();
    }
}
"""


def test_a_field_that_a_framework_fills_has_an_object_of_its_class():
    """Though another class stores to a field of that name. Of `Others.paths` nothing is known."""
    assert lines_with_findings({"Pages.java": INJECTED}) == {("Pages.java", 20), ("Pages.java", 26)}
