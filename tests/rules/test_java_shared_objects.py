"""Objects of Java under several names: in a session, in a list that is linked before it is filled, as two arguments."""

import re
from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

JAVA = """\
import java.io.*;
import java.util.*;
import javax.servlet.http.*;

class Names extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        PrintWriter out = response.getWriter();
        HttpSession session = request.getSession();
        session.setAttribute("name", request.getParameter("name"));
        Enumeration names = session.getAttributeNames();
        while (names.hasMoreElements()) {
            String name = (String) names.nextElement();
            out.println((String) session.getAttribute(name)); // harmful
        }
        out.println((String) getServletContext().getAttribute("title")); // harmless
        Enumeration other = getServletContext().getAttributeNames();
        out.println((String) getServletContext().getAttribute((String) other.nextElement())); // harmless
    }
}

class Node {
    private String text;
    private Node next;
    String getText() { return text; }
    void setText(String text) { this.text = text; }
    Node getNext() { return next; }
    void setNext(Node next) { this.next = next; }
}

class Nodes extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        PrintWriter out = response.getWriter();
        Node first = new Node();
        Node second = new Node();
        Node third = new Node();
        first.setText("a");
        first.setNext(second);
        second.setText("b");
        second.setNext(third);
        third.setText(request.getParameter("name"));
        out.println(first.getText()); // harmless
        out.println(first.getNext().getText()); // harmless
        out.println(first.getNext().getNext().getText()); // harmful
    }
}

class Arguments extends HttpServlet {
    static void fill(StringBuffer into, StringBuffer shown, String text, PrintWriter out) {
        into.append(text);
        out.println(shown.toString()); // harmful
    }

    static void fillOne(StringBuffer into, StringBuffer shown, String text, PrintWriter out) {
        into.append(text);
        out.println(shown.toString()); // harmless
    }

    static void link(Node into, Node shown, String text, PrintWriter out) {
        into.setText(text);
        out.println(shown.getText()); // harmful
    }

    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        PrintWriter out = response.getWriter();
        StringBuffer buffer = new StringBuffer("a");
        fill(buffer, buffer, request.getParameter("name"), out);
        fillOne(new StringBuffer("a"), new StringBuffer("b"), request.getParameter("name"), out);
        Node node = new Node();
        link(node, node, request.getParameter("name"), out);
    }
}
"""
MARK = re.compile(r"// (harmless|harmful)$")
LINES = [
    (number, mark[1], line.strip()) for number, line in enumerate(JAVA.splitlines(), 1) if (mark := MARK.search(line))
]


@pytest.fixture(scope="module")
def reported():
    tree = MemoryTree({"Objects.java": JAVA.encode()}, "objects")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("injection",)})).report
    return {finding.place.line for finding in report.findings}


@pytest.mark.parametrize(("number", "mark", "line"), LINES, ids=lambda value: str(value)[:40])
def test_what_one_object_holds_under_several_names(number, mark, line, reported):
    assert (number in reported) == (mark == "harmful"), line
