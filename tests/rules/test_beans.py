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
