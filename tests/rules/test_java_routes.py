"""Java: parameters that routes, annotations and types restrict to plain texts, and names of temporary files."""

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
    @GET @javax.ws.rs.Path("{id : [a-z0-9\\\\-]+}/attach/{name}")
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
        java.nio.file.Path q = Files.createTempFile(Paths.get(text), "x", "y");
        Files.newInputStream(q).close(); // harmful
        java.io.File f = java.io.File.createTempFile(text, "x");
        new FileInputStream(f).close(); // harmless
        java.nio.file.Path p = Files.createTempFile("x", text);
        Files.newInputStream(p).close(); // harmless
        return "";
    }
}
"""
TYPED = """\
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.*;

class Project {
    private UUID uuid;
    private long id;
    private String name;
    public int size;
    public UUID getUuid() { return uuid; }
    public long getId() { return id; }
    public long otherId() { return this.id; }
    public String getName() { return name; }
}
@RestController class Projects {
    private JdbcTemplate jdbc;
    @PostMapping("/a") String add(@RequestBody Project project) {
        jdbc.execute("x " + project.getUuid()); // harmless
        jdbc.execute("x " + project.getId()); // harmless
        jdbc.execute("x " + project.otherId()); // harmless
        jdbc.execute("x " + project.size); // harmless
        jdbc.execute("x " + project.getName()); // harmful
        return "";
    }
}
"""
UPLOADS = """\
import java.io.*;
import java.nio.file.*;
import javax.ws.rs.*;
import com.google.common.collect.Lists;
import org.glassfish.jersey.media.multipart.*;

class Uploads {
    @POST
    public String add(@QueryParam("size") String size, @QueryParam("uuid") @ValidUuid String uuid,
            @QueryParam("id") @NotNull String id, @FormDataParam("file") FormDataBodyPart part) throws IOException {
        if (size != null && !Lists.newArrayList("web", "thumb").contains(size)) {
            throw new IOException();
        }
        new FileInputStream("/srv/" + size).close(); // harmless
        new FileInputStream("/srv/" + uuid).close(); // harmless
        new FileInputStream("/srv/" + id).close(); // harmful
        Files.copy(part.getValueAs(InputStream.class), Paths.get("/srv/upload")); // harmless
        Files.copy(part.getValueAs(InputStream.class), Paths.get(part.getName())); // harmful
        return "";
    }
}
"""
PROGRAMS = {"Uploads.java": UPLOADS, "Stored.java": JAVA, "Projects.java": TYPED}
LINES = marked_lines(PROGRAMS)


@pytest.fixture(scope="module")
def reported():
    return lines_with_findings(PROGRAMS)


@pytest.mark.parametrize(("name", "number", "mark", "line"), LINES, ids=lambda value: str(value)[:40])
def test_what_has_a_form(name, number, mark, line, reported):
    assert ((name, number) in reported) == (mark == "harmful"), line


PARCELS = """\
import org.slf4j.*;
import org.springframework.web.bind.annotation.*;

@RestController
class Parcels {
    private static final Logger log = LoggerFactory.getLogger(Parcels.class);
    @GetMapping("/parcels/{number}")
    public void show(@PathVariable String number, @RequestParam String place) {
        log.info("parcel {}", number);
        log.info("at {}", place);
    }
}
"""
SECURITY = """\
import org.springframework.security.config.annotation.web.builders.HttpSecurity;

class Security { void configure(HttpSecurity security) throws Exception { security.csrf(); } }
"""


def test_spring_security_refuses_line_breaks_in_paths():
    assert lines_with_findings({"Parcels.java": PARCELS}, "log-injection") == {
        ("Parcels.java", 9),
        ("Parcels.java", 10),
    }
    secured = {"Parcels.java": PARCELS, "Security.java": SECURITY}
    assert lines_with_findings(secured, "log-injection") == {("Parcels.java", 10)}
