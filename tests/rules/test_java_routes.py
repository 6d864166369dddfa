"""Parameters that routes and annotations let through only in a form, and names of temporary files, in Java."""

import pytest
from marked_lines import lines_with_findings, marked_lines

JAVA = """\
import javax.ws.rs.*;
import java.io.*;
import java.nio.file.*;
import org.springframework.web.bind.annotation.*;
import javax.validation.constraints.Pattern;

@javax.ws.rs.Path("/files")
class Stored {
    @GET @javax.ws.rs.Path("{id: [a-z0-9\\\\-]+}/attach/{name}")
    public String a(@PathParam("id") String id, @PathParam("name") String name) throws IOException {
        new FileInputStream("/srv/" + id).close(); // harmless
        new FileInputStream("/srv/" + name).close(); // harmful
        return "";
    }
    @GET @javax.ws.rs.Path("image/{type: logo|background}")
    public String b(@PathParam("type") String type) throws IOException {
        new FileInputStream("/srv/" + type).close(); // harmless
        return "";
    }
    @GET @javax.ws.rs.Path("image/{type: .+}")
    public String c(@PathParam("type") String type, @QueryParam("id") String id) throws IOException {
        new FileInputStream("/srv/" + type).close(); // harmful
        new FileInputStream("/srv/" + id).close(); // harmful
        return "";
    }
    @GET @javax.ws.rs.Path("d")
    public String d(@QueryParam("a") @Pattern(regexp = "[a-z]+") String a,
            @QueryParam("b") @Pattern(regexp = ".*x") String b) throws IOException {
        new FileInputStream("/srv/" + a).close(); // harmless
        new FileInputStream("/srv/" + b).close(); // harmful
        return "";
    }
}
@RestController class Pages {
    @GetMapping("/a/{name:[a-z-]+}/{other}")
    public String a(@PathVariable String name, @PathVariable("other") String text) throws IOException {
        new FileInputStream("/srv/" + name).close(); // harmless
        new FileInputStream("/srv/" + text).close(); // harmful
        java.io.File f = java.io.File.createTempFile(text, "x");
        new FileInputStream(f).close(); // harmless
        java.nio.file.Path p = Files.createTempFile("x", text);
        Files.newInputStream(p).close(); // harmless
        java.nio.file.Path q = Files.createTempFile(Paths.get(text), "x", "y");
        Files.newInputStream(q).close(); // harmful
        return "";
    }
}
"""
PROGRAMS = {"Stored.java": JAVA}
LINES = marked_lines(PROGRAMS)


@pytest.fixture(scope="module")
def reported():
    return lines_with_findings(PROGRAMS)


@pytest.mark.parametrize(("name", "number", "mark", "line"), LINES, ids=lambda value: str(value)[:40])
def test_what_routes_let_through(name, number, mark, line, reported):
    assert ((name, number) in reported) == (mark == "harmful"), line
