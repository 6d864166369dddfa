"""Beans that a Java program looks up by their class: what they give is known, as are their methods."""

import pytest
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


UPLOADS = """\
import java.io.*;
import org.springframework.web.bind.annotation.*;
import org.springframework.web.multipart.MultipartFile;

@RestController class Pictures {
    @PostMapping("/a") void keep(MultipartFile file, @RequestParam String name) throws IOException {
        file.transferTo(new File("/srv/" + file.getOriginalFilename()));
        file.transferTo(new File("/srv/" + name));
    }
}
"""
RESOLVER = "org.springframework.web.multipart.commons.CommonsMultipartResolver"
STANDARD = "org.springframework.web.multipart.support.StandardServletMultipartResolver"
CONFIGURATION = f"import {RESOLVER}; class Config {{ Object files() {{ return new CommonsMultipartResolver(); }} }}"
KEEPING = CONFIGURATION.replace("return", "var files =").replace("(); }", "(); files.setPreserveFilename(true); }")


@pytest.mark.parametrize(
    ("files", "is_kept"),
    [
        ({}, True),
        ({"spring-mvc.xml": f'<beans><bean id="files" class="{RESOLVER}"/></beans>'}, False),
        ({"spring-mvc.xml": f'<beans><!-- <bean class="{RESOLVER}"/> --></beans>'}, True),
        ({"spring-mvc.xml": f'<bean class="{RESOLVER}"><property name="preserveFilename" value="true"/></bean>'}, True),
        ({"spring-mvc.xml": f'<bean class="{STANDARD}"/>'}, True),
        ({"Config.java": CONFIGURATION}, False),
        ({"Config.java": CONFIGURATION.replace(RESOLVER, STANDARD)}, True),
        ({"Config.java": KEEPING}, True),
    ],
)
def test_a_resolver_decides_what_is_left_of_the_names_of_uploads(files, is_kept):
    found = lines_with_findings({"Pictures.java": UPLOADS, **files})
    assert found == {("Pictures.java", 8)} | ({("Pictures.java", 7)} if is_kept else set())


VIEWS = """\
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.*;

@Controller class Views {
    @GetMapping("/{name}") String show(@PathVariable String name) { return "user/" + name; }
    @GetMapping("/") String first(Model model) { model.addAttribute("a", 1); return "user/a"; }
}
"""


@pytest.mark.parametrize(
    ("files", "is_code"),
    [
        ({}, True),
        ({"user/a.ftl": "<#if a>${a?html}</#if>"}, False),
        ({"user/a.vm": "#set($a = 1) $a"}, False),
        ({"mail.ftl": "<#if a>${a?html}</#if>", "user/a.html": "<p>plain</p>"}, True),
        ({"mail.ftl": "<#if a>${a?html}</#if>", "user/a.html": '<p th:text="${a}"></p>'}, True),
    ],
)
def test_names_of_views_are_code_for_thymeleaf_alone(files, is_code):
    found = lines_with_findings({"Views.java": VIEWS, **files}, "template-injection")
    assert found == ({("Views.java", 6)} if is_code else set())
