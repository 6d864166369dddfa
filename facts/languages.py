"""The languages that have an extractor. Adding one touches its own folder and a line here."""

import importlib
import re
from dataclasses import dataclass

from facts.file_facts import FileFacts
from facts.module_layout import Layout


@dataclass(frozen=True)
class Language:
    """A language: its name, the file suffixes that tell it, and the distribution that holds its parser, if it has one.

    The module `facts.NAME.extract`, or the `module` that is given, makes the facts: `extract(data)`. The package of the
    family has `module_layout.layout(imports)`, which gives a `facts.module_layout.Layout`: a scan whose files are known
    needs no more of a language.
    `dialect_of` names the language whose files import this one's and the other way round: they are laid out together,
    by its package. `makes` says what a template makes: pages, components, queries, or nothing, where it only names
    code. `reader` names the language whose libraries read its files, where that is no matter of its family.
    """

    name: str
    suffixes: tuple[str, ...]
    parser: str
    dialect_of: str = ""
    module: str = ""
    makes: str = "pages"
    reader: str = ""

    @property
    def package(self) -> str:
        return self.module or f"facts.{self.name}"

    @property
    def extractor(self) -> str:
        return self.module or f"facts.{self.name}.extract"

    @property
    def is_template(self) -> bool:
        """Return True if its files are templates of pages, with code in them."""
        return bool(self.module) and self.makes == "pages"

    @property
    def holds(self) -> frozenset[str]:
        """The languages of the scripts that stand in its files."""
        if self.makes == "components":
            return frozenset({"javascript", "typescript"})
        return frozenset({"javascript"}) if self.is_template else frozenset()

    @property
    def family(self) -> str:
        """The language that this one is laid out with."""
        return self.dialect_of or self.name

    @property
    def read_by(self) -> str:
        """The language whose libraries read its files."""
        return self.reader or self.family


TEMPLATES = "facts.template"
MAPPERS = ("mapper.xml", "mappers.xml", "dao.xml", "sqlmap.xml")
BEANS = tuple(f"{name}.xml" for name in ("mvc", "servlet", "context", "spring", "beans", "spring-web", "spring-config"))
INTERFACES = tuple(
    f"{name}.{suffix}"
    for name in ("openapi", "openapi2", "openapi3", "swagger", "api", "spec")
    for suffix in ("yaml", "yml", "json")
)
LANGUAGES = {
    language.name: language
    for language in (
        Language("python", (".py", ".pyw", ".pyi"), "tree-sitter-python"),
        Language("java", (".java",), "tree-sitter-java"),
        Language("c", (".c", ".h"), "tree-sitter-c"),
        Language("javascript", (".js", ".jsx", ".mjs", ".cjs"), "tree-sitter-javascript"),
        Language("typescript", (".ts", ".mts", ".cts"), "tree-sitter-typescript", "javascript"),
        Language("tsx", (".tsx",), "tree-sitter-typescript", "javascript"),
        Language("go", (".go",), "tree-sitter-go"),
        Language("html", (".html", ".htm", ".xhtml", ".tmpl", ".tpl"), "", module="facts.template"),
        Language("jinja", (".j2", ".jinja", ".jinja2", ".njk", ".swig"), "", "html", "facts.template.jinja"),
        Language("handlebars", (".hbs", ".handlebars", ".mustache"), "", "html", "facts.template.handlebars"),
        Language("gotemplate", (".gohtml", ".gotmpl", ".gtpl"), "", "html", "facts.template.go"),
        Language("freemarker", (".ftl", ".ftlh"), "", "html", "facts.template.freemarker"),
        Language("velocity", (".vm", ".vtl"), "", "html", "facts.template.velocity"),
        Language("mako", (".mako", ".mak"), "", "html", "facts.template.mako"),
        Language("pug", (".pug", ".jade"), "", "html", "facts.template.pug"),
        Language("jsp", (".jsp", ".jspf", ".tag"), "tree-sitter-java", "java", "facts.template.jsp"),
        Language("mybatis", MAPPERS, "", "html", "facts.template.mybatis", makes="queries", reader="java"),
        Language("beans", BEANS, "", "html", "facts.template.beans", makes="", reader="java"),
        Language("openapi", INTERFACES, "", "html", "facts.template.openapi", makes=""),
        Language("ejs", (".ejs",), "tree-sitter-javascript", "javascript", "facts.template.ejs"),
        Language("vue", (".vue",), "tree-sitter-typescript", "javascript", "facts.page.vue", makes="components"),
        Language(
            "svelte", (".svelte",), "tree-sitter-typescript", "javascript", "facts.page.svelte", makes="components"
        ),
    )
}


_OBJECTIVE_C = re.compile(rb"^(?:@(?:interface|class|protocol|implementation|import)\b|#import\b)", re.MULTILINE)
_CPP = re.compile(
    rb"^[ \t]*(?:namespace(?:\s+[\w:]+)?\s*\{|template\s*<|class[ \t]+[\w \t:<>,]+\n?[ \t]*\{"
    rb"|(?:public|private|protected)\s*:)",
    re.MULTILINE,
)


def language_of(path: str) -> str | None:
    """Return the language of a file by its name, None if no extractor reads it."""
    return next((name for name, language in LANGUAGES.items() if path.lower().endswith(language.suffixes)), None)


_SCRIPT_NAME = re.compile(r"(?![0-9a-f-]{16,}$)[a-z0-9_][A-Za-z0-9_-]*")
_INTERPRETER = re.compile(
    rb"#!\s*(?:/\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*)?(?:\S*/)?(?:(python)[\d.]*|(node|nodejs|deno|bun))(?=\s|$)"
)


_FIRST_LINE_BYTES = 256
"""Linux reads no more of a first line for the name of an interpreter."""


def may_be_script(path: str) -> bool:
    """Return True if a file's first line says its language: it has no suffix, and no name of a text or a digest."""
    return _SCRIPT_NAME.fullmatch(path.rpartition("/")[2]) is not None


def language_of_script(data: bytes) -> str | None:
    """Return the language of the interpreter that a script's first line names, None if no extractor reads it."""
    if not data.startswith(b"#!"):
        return None
    found = _INTERPRETER.match(data[:_FIRST_LINE_BYTES].partition(b"\n")[0])
    return None if found is None else "python" if found[1] else "javascript"


def extract(data: bytes, language: str) -> FileFacts:
    """Return the facts of one file: a function of its bytes.

    Raises KeyError for a language that has no extractor.
    """
    found = LANGUAGES[language]
    if found.is_template and found.module != TEMPLATES:
        return importlib.import_module(TEMPLATES).extract_as(found.module.removeprefix(TEMPLATES + "."), data)
    return importlib.import_module(found.extractor).extract(data)


def module_layout(language: str, imports: dict[str, list[tuple[int, str]]]) -> Layout:
    """Return names and import targets of the modules of a language, from their paths and what they import."""
    return importlib.import_module(LANGUAGES[language].package + ".module_layout").layout(imports)


def other_content(data: bytes, language: str) -> str | None:
    """Return what a file holds that has the suffix of a language and is not written in it, None if it is."""
    if language == "html" and not importlib.import_module(TEMPLATES).has_code(data):
        return "HTML without code"
    if language == "c" and _OBJECTIVE_C.search(data):
        return "Objective-C"
    if language == "c" and _CPP.search(data):
        settled = importlib.import_module("facts.c.conditionals").settled(data)
        return "C++" if _CPP.search(settled) else None
    return None
