"""Java and pages of it in several files: imported constants, classes in expressions, services by their class."""

import pytest
from marked_lines import lines_with_findings, marked_lines

TYPES = {
    "shop/util/Types.java": 'package shop.util;\n\npublic interface Types {\n    String TABLE = "text/csv";\n'
    '    String PAGE = "text/html";\n}\n',
    "shop/Export.java": """package shop;

import static shop.util.Types.PAGE;
import static shop.util.Types.TABLE;

import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

public class Export extends HttpServlet {
    void table(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType(TABLE);
        response.getWriter().println(request.getParameter("name")); // harmless
    }

    void page(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType(PAGE);
        response.getWriter().println(request.getParameter("name")); // harmful
    }
}
""",
}
PAGES = {
    "src/shop/util/Texts.java": """package shop.util;

public class Texts {
    public static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\\"", "&quot;");
    }

    public static String shown(String text) {
        return text;
    }
}
""",
    "web/group.jsp": """<%@ page import="shop.util.Texts" %>
<input name="group" value="${Texts.escaped(param.group)}"><%-- // harmless
--%><input name="group" value="${Texts.shown(param.group)}"><%-- // harmful
--%>
""",
}
SERVICES = {
    "shop/Services.java": """package shop;

import java.util.HashMap;
import java.util.Map;

public class Services {
    private static final Map<Class<?>, Object> ALL = new HashMap<>();

    public static <T> T find(Class<T> type) {
        return type.cast(ALL.get(type));
    }
}
""",
    "shop/Links.java": "package shop;\n\npublic interface Links {\n    String to(String page);\n"
    "    String raw(String page);\n}\n",
    "shop/PageLinks.java": """package shop;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

public class PageLinks implements Links {
    public String to(String page) {
        return "/pages/" + URLEncoder.encode(page, StandardCharsets.UTF_8);
    }

    public String raw(String page) {
        return page;
    }
}
""",
    "shop/Show.java": """package shop;

import java.io.IOException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

public class Show {
    void show(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String page = request.getParameter("page");
        response.sendRedirect(Services.find(Links.class).to(page)); // harmless
        response.sendRedirect(Services.find(Links.class).raw(page)); // harmful
    }
}
""",
}
PROGRAMS = TYPES | PAGES | SERVICES
CASES = [pytest.param(*line, id=f"{line[0]} {line[1]}") for line in marked_lines(PROGRAMS)]


@pytest.fixture(scope="module")
def reported():
    return lines_with_findings(PROGRAMS)


@pytest.mark.parametrize(("name", "number", "mark", "line"), CASES)
def test_lines_of_several_files(name, number, mark, line, reported):
    assert ((name, number) in reported) == (mark == "harmful"), line
