"""Values flow from the call that renders a template to the places in it that print."""

import re
from pathlib import Path

import pytest

from analyzer.extraction.collect_facts import silent
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

FLASK = """from flask import Flask, render_template, request

app = Flask(__name__)


@app.route("/shop")
def shop():
    context = {{"shops": [{{"name": request.args["name"]}}], "title": "Shops"}}
    return render_template({})
"""
FORM = """from flask import Flask, render_template, request
from wtforms import Form, StringField

app = Flask(__name__)


class Shop(Form):
    name = StringField("Name")


@app.route("/shop")
def shop():
    shops = [Shop(name="a"), Shop(name="b")]
    return render_template("shop.html", form=Shop(request.form), shops=shops, order=request.args["order"])
"""
DJANGO_FORM = """from django import forms
from django.shortcuts import render


class NoteForm(forms.Form):
    title = forms.CharField()


def note(request):
    form = NoteForm(request.POST)
    form.is_valid()
    context = {"form": form, "title": form.cleaned_data["title"]}
    return render(request, "note.html", context)
"""
WRITTEN_FORM = """{% from "macros.html" import editor, raw %}
{{ form|safe }}{{ form.as_p()|safe }}{{ form.title|safe }}{{ form['title']|safe }}
{{ form.title.label_tag()|safe }}{{ form.title.errors|safe }}{{ form.hidden_fields()|join|safe }}
{% for field in form.visible_fields() %}
{{ field|safe }}{{ field.help_text|safe }}
{{ field.value()|safe }} <!-- found -->
{% endfor %}
{{ form.title.value()|safe }} <!-- found -->
{{ form.cleaned_data.title|safe }} <!-- found -->
{{ form.data.title|safe }} <!-- found -->
{{ title|safe }} <!-- found -->
{{ editor(form.title) }}{{ raw(form.title) }}{{ raw(title) }}
"""
FORM_MACROS = """{% macro editor(field) %}{{ field|safe }}{{ shown(field) }}{% endmacro %}
{% macro shown(field) %}{{ field|safe }}{% endmacro %}
{% macro raw(text) %}
{{ text|safe }} <!-- found -->
{% endmacro %}
"""
LIST = """<h1>{{ title|safe }}</h1>
{% for shop in shops %}
{{ shop.name|safe }} <!-- found -->
{{ shop.name }} {{ shop.number|safe }}
{{ shop.name|e|safe }} {{ shop.name|length|safe }}
<p title={{ shop.name }}> <!-- found -->
{% include "parts/shop.html" %}
{% endfor %}
"""
PART = "{{ shop['name']|safe }} <!-- found -->\n{{ shops|length }}\n"
DJANGO = """from django.shortcuts import render
from django.template import loader


def shop(request):
    return render(request, "shop.html", {"name": request.GET["name"], "other": 1})


def other(request):
    return loader.get_template("other.html").render({"name": request.GET["name"]}, request)
"""
JINJA = """from flask import request
from jinja2 import Environment, FileSystemLoader

raw = Environment(loader=FileSystemLoader("templates"))
escaping = Environment(loader=FileSystemLoader("templates"), autoescape=True)


def show():
    template = raw.get_template("raw.html")
    escaping.get_template("escaping.html").render(name=request.args["name"])
    return template.render(name=request.args["name"])
"""
PAIRS = """from flask import Flask, render_template, request

app = Flask(__name__)


@app.route("/")
def show():
    name = request.args["name"]
    return render_template("pairs.html", pairs=[("a", name)], names=[name], nested=[(1, ("a", name))])
"""
STARLETTE = """from fastapi import FastAPI, Request
from fastapi.templating import Jinja2Templates

app = FastAPI()
templates = Jinja2Templates(directory="templates")


@app.get("/")
def read(request: Request, name: str):
    return templates.TemplateResponse(request=request, name="shop.html", context={"name": name})
"""
EXPRESS = """const express = require("express");
const app = express();
app.get("/", (req, res) => {
  const shop = { name: req.query.name, number: 1 };
  res.render("shop", { shop, names: [req.query.name], title: "Shop" });
});
"""
EJS = """<h1><%- title %></h1>
<p><%- shop.name %></p> <!-- found -->
<p><%= shop.name %></p>
<p><%- locals.shop.name %></p> <!-- found -->
<p class=<%= shop.name %>></p> <!-- found -->
<% names.forEach(function (name) { %>
  <li><%- name %></li> <!-- found -->
<% }) %>
<% for (const name of names) { %>
  <li><%- name %></li> <!-- found -->
<% } %>
<%- include("parts/name", { name: shop.name }) %>
"""
EXPRESS_PUG = EXPRESS.replace('"shop"', '"shop.pug"')
PUG = """h1!= title
p!= shop.name //- <!-- found -->
p= shop.name
p #{shop.name} !{shop.number}
each name in names
  li!= name //- <!-- found -->
"""
EXPRESS_HBS = EXPRESS.replace('"shop"', '"shop.hbs"')
HANDLEBARS = """<h1>{{{title}}}</h1>
{{#with shop}}{{{name}}}{{/with}} <!-- found -->
{{shop.name}}
{{#each names}}
{{{this}}} <!-- found -->
{{/each}}
"""
GO = """package shop

import (
	"net/http"
	"text/template"
	html "html/template"
)

var page = template.Must(template.ParseFiles("views/page.tmpl"))

type Data struct {
	Name  string
	Items []string
}

func show(w http.ResponseWriter, r *http.Request) {
	page.Execute(w, Data{Name: r.FormValue("name"), Items: []string{r.FormValue("item")}})
	t, _ := template.ParseFiles("views/map.tmpl", "views/part.tmpl")
	t.Execute(w, map[string]string{"Name": r.FormValue("name"), "Other": "x"})
	t.ExecuteTemplate(w, "part.tmpl", r.FormValue("x"))
	h, _ := html.ParseFiles("views/html.tmpl")
	h.Execute(w, Data{Name: r.FormValue("name")})
}
"""
SPRING = """import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.ModelAndView;

@Controller
class Shops {
    @GetMapping("/shop")
    String shop(@RequestParam String name, Model model) {
        model.addAttribute("name", name);
        model.addAttribute("other", 1);
        return "shops/shop";
    }

    @GetMapping("/other")
    ModelAndView other(@RequestParam String name) {
        ModelAndView view = new ModelAndView("shops/other");
        view.addObject("name", name);
        return view;
    }
}
"""
THYMELEAF = """<p th:utext="${name}"></p> <!-- found -->
<p th:text="${name}" th:utext="${other}"></p>
<p>[[${name}]]</p>
<p>[(${name})]</p> <!-- found -->
"""
FORM_PAGES = """package shop;
import freemarker.template.Configuration;
import java.util.HashMap;
import java.util.Map;
import javax.servlet.http.HttpSession;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.servlet.ModelAndView;

@Controller
class Orders {
    private Configuration configuration;
    private Map<String, Object> drafts;

    @PostMapping("/jsp")
    ModelAndView save(@ModelAttribute("order") Order order) {
        return new ModelAndView("order", "order", order);
    }

    @PostMapping("/thymeleaf")
    String show(@ModelAttribute("order") Order order, Model model) {
        model.addAttribute("order", order);
        model.addAttribute("orders", order.getItems());
        return "shown";
    }

    @GetMapping("/fresh/{kind}")
    ModelAndView fresh(@PathVariable String kind) {
        Order order;
        if (kind.equals("wide")) {
            order = new Order();
        } else {
            order = null;
        }
        return new ModelAndView("order", "order", order);
    }

    @PostMapping("/two")
    String two(@ModelAttribute("order") Order order, Model model) {
        model.addAttribute("part", order);
        return "two";
    }

    @PostMapping("/other")
    String other(@ModelAttribute("order") Item item, Model model) {
        model.addAttribute("part", item);
        return "two";
    }

    @PostMapping("/kept")
    String kept(@ModelAttribute("order") Item item, @ModelAttribute("order") Order order, Model model,
            HttpSession session) {
        session.setAttribute("kept", item);
        model.addAttribute("kept", order);
        return "kept";
    }

    @PostMapping("/draft")
    String draft(@ModelAttribute("order") Order order, Model model, String key) {
        model.addAttribute("draft", order);
        model.addAttribute("draft", drafts.get(key));
        return "draft";
    }

    @PostMapping("/map")
    void map(@ModelAttribute("order") Order order, java.io.Writer out) throws Exception {
        Map<String, Object> data = new HashMap<>();
        data.put("order", order);
        configuration.getTemplate("mapped.ftl").process(data, out);
    }
}
"""
FORM_BEANS = """package shop;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import lombok.Data;

class Order extends Numbered {
    private long userId;
    private String name;
    private Item item;
    private List<Item> items;
    private List<Long> amounts;
    private Level level;
    private Extra extra;
    private LocalDate day;
    private Box box;
    private Line line;
    private Part part;

    public Part getPart() { return part; }
    public long getUserId() { return userId; }
    public String getName() { return name; }
    public Item getItem() { return item; }
    public List<Item> getItems() { return items; }
    public List<Long> getAmounts() { return amounts; }
    public Level getLevel() { return level; }
    public Extra getExtra() { return extra; }
    public LocalDate getDay() { return day; }
    public Box getBox() { return box; }
    public Line getLine() { return line; }
    public boolean isOpen() { return userId > 0; }
    public Object getShown() { return name; }
}

class Numbered {
    private Integer version;
    public Integer getVersion() { return version; }
}

@Data
class Item {
    private Long id;
    private String label;
    private String userId;
}

class Extra extends HashMap<String, String> {
    private int size;
    public int getSize() { return size; }
}

class Box {
    private int text;
    public String getText() { return "" + text; }
}

record Line(int number, String text) {}

class Part {
    private int status;
}

class Shown extends Part {
    private String text;
    public String getStatus() { return text; }
}

enum Level { LOW, HIGH }
"""
BEAN_JSP = """<a href="/users/${order.userId}">${order.item.id} ${order.version} ${order.open} ${order.level}</a>
<p>${order.name}</p> <!-- found -->
<p>${order.shown}</p> <!-- found -->
<p>${order.extra.size}</p> <!-- found -->
<p>${order.box.text}</p> <!-- found -->
<p>${order.getUserId()} ${order.day} ${order.line.number()}</p>
<p>${order.getName()}</p> <!-- found -->
<p>${order.line.text()}</p> <!-- found -->
<p>${order.missing}</p> <!-- found -->
<p>${order.part.status}</p> <!-- found -->
<c:forEach var="item" items="${order.items}">
<p>${item.id}</p>
<p>${item.label}</p> <!-- found -->
</c:forEach>
<p>${order.items[0].id} ${order.amounts[0]}</p>
<p>${order.items[0].label}</p> <!-- found -->
"""
BEAN_THYMELEAF = """<p th:utext="${order.userId}"></p>
<p th:utext="${order.name}"></p> <!-- found -->
<p th:each="i : ${orders}"><b th:utext="${i.id}"></b>
<b th:utext="${i.label}"></b></p> <!-- found -->
<form th:object="${order}"><b th:utext="*{item.id}"></b>
<b th:utext="*{item.label}"></b></form> <!-- found -->
"""
SERVLET = """import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

public class Shop extends HttpServlet {
    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        request.setAttribute("name", request.getParameter("name"));
        request.getRequestDispatcher("/WEB-INF/shop.jsp").forward(request, response);
    }
}
"""
JSP = """<%@ page import="java.util.List" %>
<%! String twice(String text) { return text + text; } %>
<p>${name}</p> <!-- found -->
<p><c:out value="${name}"/></p>
<p>${fn:escapeXml(name)}</p>
<% String q = request.getParameter("q");
   if (q != null) { %>
<p><%= q %></p> <!-- found -->
<p><%= twice(q) %></p> <!-- found -->
<p><%= q.length() %></p>
<% } %>
<p>${param.q}</p> <!-- found -->
"""
FREEMARKER = """import freemarker.template.Configuration;
import freemarker.template.Template;
import java.util.HashMap;
import java.util.Map;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

class Shop {
    void show(Configuration configuration, HttpServletRequest request, HttpServletResponse response) throws Exception {
        Template template = configuration.getTemplate("shop.ftl");
        Map<String, Object> data = new HashMap<>();
        data.put("name", request.getParameter("name"));
        template.process(data, response.getWriter());
    }
}
"""
FREEMARKER_FORMAT = """import freemarker.core.*;
import freemarker.template.Configuration;

class Pages {{
    void prepare(Configuration configuration) {{
        configuration.setOutputFormat(freemarker.core.{}.INSTANCE);
    }}
}}
"""
FREEMARKER_SETTINGS = """import java.util.Properties;
import org.springframework.web.servlet.view.freemarker.FreeMarkerConfigurer;

class Pages {{
    FreeMarkerConfigurer configurer() {{
        Properties settings = new Properties();
        settings.setProperty("output_format", "{}");
        FreeMarkerConfigurer made = new FreeMarkerConfigurer();
        made.setFreemarkerSettings(settings);
        return made;
    }}
}}
"""
VELOCITY_HANDLER = """import java.util.Properties;
import org.springframework.web.servlet.view.velocity.VelocityConfigurer;

class Pages {{
    VelocityConfigurer configurer() {{
        Properties settings = new Properties();
        settings.put("eventhandler.referenceinsertion.class", "org.apache.velocity.app.event.implement.{}");
        settings.put("eventhandler.escape.html.{}", "^((?!_).)+$");
        VelocityConfigurer made = new VelocityConfigurer();
        made.setVelocityProperties(settings);
        return made;
    }}
}}
"""
OWN_HANDLER = """import org.apache.velocity.app.event.EventCartridge;
import org.apache.velocity.app.event.ReferenceInsertionEventHandler;
import org.springframework.web.util.HtmlUtils;

class Escaper implements ReferenceInsertionEventHandler {{
    public Object referenceInsert(String reference, Object value) {{
        return {};
    }}
}}
"""
MAKO = """from flask import request
from mako.lookup import TemplateLookup

lookup = TemplateLookup(directories=["templates"])


def show():
    return lookup.get_template("shop.mako").render(name=request.args["name"])
"""
MAKO_NAMES = """from flask import Flask, request
from mako.lookup import TemplateLookup

app = Flask(__name__)
lookup = TemplateLookup(directories=["templates"])


@app.route("/shop")
def shop():
    return lookup.get_template("shop.mako").render(title="Shop", **request.args)
"""
OWN_NAMES = """<%!
    from shops.pages import link, site as shop
    import shops.texts as texts
    currency = "EUR"
%>
<% import json %>
${title} ${link("orders")} ${shop} ${currency}
${texts.greeting} ${json.dumps(3)} ${amount(3)}
${name} <!-- found -->
${name.title()} <!-- found -->
"""
MAPPER = """package shop;

import java.util.List;
import java.util.Map;
import org.apache.ibatis.annotations.Param;

public interface OrderMapper {
    List<Order> sorted(@Param("shop") int shop, @Param("by") String column);
    List<Order> named(String name);
    List<Order> numbered(Long number);
    List<Order> matching(Query query);
    List<Order> chosen(Map<String, Object> choice);
    List<Order> listed(@Param("query") Query query, @Param("ids") List<String> ids);
    List<Order> joined(@Param("text") String text);
    List<Order> unused(@Param("by") String column);
}
"""
ORDERS = """package shop;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.ibatis.session.SqlSession;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

class Query {
    private String owner;
    private String city;
    public void setOwner(String owner) { this.owner = owner; }
    public String getOwner() { return owner; }
    public void setCity(String city) { this.city = city; }
    public String getCity() { return city; }
}

@RestController
class Orders {
    private OrderMapper mapper;
    private SqlSession session;

    @GetMapping("/a")
    public Object orders(@RequestParam String by, @RequestParam String name, @RequestParam Long number,
                         @RequestParam List<String> ids) {
        Query query = new Query();
        query.setOwner(name);
        query.setCity("Rome");
        Map<String, Object> choice = new HashMap<>();
        choice.put("state", name);
        choice.put("kind", "new");
        mapper.numbered(number);
        mapper.sorted(1, by);
        mapper.named(name);
        mapper.matching(query);
        mapper.chosen(choice);
        mapper.listed(query, ids);
        mapper.joined(name);
        session.selectList("shop.OrderMapper.bySession", name);
        session.selectList("other.OrderMapper.bySession", name);
        return "";
    }
}
"""
STATEMENTS = """<mapper namespace="shop.OrderMapper">
<sql id="tail">order by ${by} <!-- found -->
</sql>
<select id="sorted">select * from orders where shop = ${shop}
  <if test="by != null"><include refid="tail"/></if></select>
<select id="named">select * from orders where name = '${value}' <!-- found -->
  and owner = #{owner}</select>
<select id="numbered">select * from orders where number = ${number}</select>
<select id="matching">select * from orders where city = '${city}'
  and owner = '${owner}' <!-- found -->
</select>
<select id="chosen">select * from orders where kind = '${kind}'
  and state = '${state}' <!-- found -->
</select>
<select id="listed">select * from orders where city = ${query.city} and owner = ${query.owner} <!-- found -->
  <foreach collection="ids" item="id" open="and id in (" separator="," close=")">
    ${id} <!-- found -->
  </foreach></select>
<select id="joined"><bind name="like" value="'%' + text + '%'"/>
  select * from orders where name like '${like}' <!-- found -->
  or name like #{like}</select>
<select id="unused">select * from orders order by ${by}</select>
<delete id="bySession">delete from orders where name = '${name}' <!-- found -->
</delete>
</mapper>
"""
AIOHTTP = """import aiohttp_jinja2
from aiohttp import web


@aiohttp_jinja2.template("shop.html")
async def shop(request):
    shop = {"name": request.query["name"]}
    if not shop["name"]:
        return {"name": "none"}
    return {"shop": shop, "other": request.query["other"], "fixed": 1}


@aiohttp_jinja2.template("other.html")
async def other(request):
    return {"name": "other"}
"""
PYRAMID = """from pyramid.view import view_config


@view_config(route_name="shop", renderer="templates/shop.mako")
def shop(request):
    found = {}
    found["name"] = request.params["name"]
    return found
"""
RAW = "{{ name|safe }} <!-- found -->\n"

TAGS = """package shop.tags;

import java.io.StringWriter;
import javax.servlet.jsp.JspException;
import javax.servlet.jsp.tagext.BodyTagSupport;
import javax.servlet.jsp.tagext.SimpleTagSupport;
import javax.servlet.jsp.tagext.TagSupport;

class MarkupTag extends BodyTagSupport {
    public int doAfterBody() throws JspException {
        String text = getBodyContent().getString();
        getBodyContent().clearBody();
        getPreviousOut().write(Markup.render(text.trim()));
        return SKIP_BODY;
    }
}

class BoxTag extends BodyTagSupport {
    public int doEndTag() throws JspException {
        pageContext.getOut().print("<div>" + bodyContent.getString().trim() + "</div>");
        return EVAL_PAGE;
    }
}

class CopyTag extends BodyTagSupport {
    public int doAfterBody() throws JspException {
        bodyContent.writeOut(bodyContent.getEnclosingWriter());
        return SKIP_BODY;
    }
}

class BuiltTag extends BodyTagSupport {
    public int doEndTag() throws JspException {
        String text = getBodyContent().getString();
        StringBuilder page = new StringBuilder();
        page.append("<p>");
        page.append(text);
        pageContext.getOut().print(page.toString());
        return EVAL_PAGE;
    }
}

class Checked extends TagSupport {
    public int doStartTag() throws JspException {
        return EVAL_BODY_INCLUDE;
    }
}

class PlainTag extends SimpleTagSupport {
    public void doTag() throws JspException {
        getJspBody().invoke(null);
    }
}

class ParamTag extends BodyTagSupport {
    public int doEndTag() throws JspException {
        keep(getBodyContent().getString());
        return EVAL_PAGE;
    }
}

class HelpedTag extends BodyTagSupport {
    public int doEndTag() throws JspException {
        show(boxed(getBodyContent().getString()));
        return EVAL_PAGE;
    }

    private String boxed(String text) {
        return "<p>" + text;
    }

    private void show(String text) throws JspException {
        pageContext.getOut().print(text);
    }
}

class QuotedTag extends SimpleTagSupport {
    public void doTag() throws JspException {
        StringWriter writer = new StringWriter();
        getJspBody().invoke(writer);
        getJspContext().getOut().print(Markup.quote(writer.toString()));
    }
}

class KeptTag extends SimpleTagSupport {
    public void doTag() throws JspException {
        StringWriter writer = new StringWriter();
        getJspBody().invoke(writer);
        String text = writer.toString();
        getJspContext().getOut().print("<b>" + text);
    }
}
"""
TAGGED_JSP = """<shop:markup><%= request.getParameter("text") %></shop:markup>
<shop:markup>a</shop:markup><%= request.getParameter("text") %> <!-- found -->
<shop:markup/><%= request.getParameter("text") %> <!-- found -->
<shop:markup><c:if test="${param.shown}">${param.text}</c:if></shop:markup>
<shop:Box>${param.text}</shop:Box> <!-- found -->
<shop:copy>${param.text}</shop:copy> <!-- found -->
<shop:built>${param.text}</shop:built> <!-- found -->
<shop:checked>${param.text}</shop:checked> <!-- found -->
<shop:plain>${param.text}</shop:plain> <!-- found -->
<shop:quoted>${param.text}</shop:quoted>
<shop:helped>${param.text}</shop:helped> <!-- found -->
<shop:param>${param.text}</shop:param>
<fmt:param>${param.text}</fmt:param> <!-- found -->
<shop:kept>${param.text}</shop:kept> <!-- found -->
<other:box2>${param.text}</other:box2> <!-- found -->
<esapi:encodeForHTML>${param.text}</esapi:encodeForHTML>
<esapi:hint>${param.text}</esapi:hint> <!-- found -->
"""


PROGRAMS = {
    "bodies of tags": {"shop/tags/Tags.java": TAGS, "web/shop.jsp": TAGGED_JSP},
    "keywords": {"app.py": FLASK.format('"shop.html", name=request.args["n"]'), "templates/shop.html": RAW},
    "unpacked": {
        "app.py": FLASK.format('"list.html", **context'),
        "templates/list.html": LIST,
        "templates/parts/shop.html": PART,
    },
    "beginnings of addresses": {
        "app.py": FLASK.format('"shop.html", name=request.args["n"], own="/shops/" + request.args["n"]'),
        "templates/shop.html": '<a href="{{ name }}">a</a> <!-- found -->\n<a href="/shops/{{ name }}">b</a>\n'
        '<iframe src="{{ name }}"></iframe> <!-- found -->\n<img src="{{ name }}">\n<a href="{{ own }}">c</a>\n'
        '<a href="{{ url_for(name) }}">d</a>\n<form action="{{ name }}"></form> <!-- found -->\n{{ name }}',
    },
    "beginnings of addresses in EJS": {
        "app.js": """const app = require("express")();
app.get("/", (req, res) => {
  const own = req.query.to.startsWith("https://shop.example/") ? req.query.to : "/";
  res.render("page", { to: req.query.to, own, id: Number(req.query.id) });
});
""",
        "views/page.ejs": '<a href="<%= to %>">a</a> <!-- found -->\n<a href="<%= own %>">b</a>\n'
        '<a href="<%= id %>">c</a><a href="?to=<%= to %>">d</a><link href="<%= to %>">',
    },
    "extended": {
        "app.py": FLASK.format('"page.html", name=request.args["n"]'),
        "templates/page.html": "{% extends 'base.html' %}{% block a %}{% endblock %}",
        "templates/base.html": RAW,
    },
    "macros": {
        "app.py": FLASK.format('"page.html", name=request.args["n"]'),
        "templates/page.html": "{% import 'macros.html' as m %}{{ m.f(name) }}"
        "{% from 'macros.html' import g %}{{ g(1) }}",
        "templates/macros.html": "{% macro f(x) %}\n{{ x|safe }} <!-- found -->\n{% endmacro %}\n"
        "{% macro g(y) %}\n{{ y|safe }}\n{% endmacro %}",
    },
    "the nearest of one name": {
        "bad/app.py": FLASK.format('"shop.html", name=request.args["n"]'),
        "bad/templates/shop.html": RAW,
        "good/templates/shop.html": "{{ name|safe }}",
    },
    "files that Flask does not escape in": {
        "app.py": FLASK.format('"shop.txt.j2", name=request.args["n"]'),
        "templates/shop.txt.j2": "{{ name }} <!-- found -->\n{{ name|e }}",
    },
    "Django": {
        "views.py": DJANGO,
        "templates/shop.html": RAW + "{{ name }}{{ other|safe }}{% autoescape off %}\n{{ name }} <!-- found -->",
        "templates/other.html": RAW,
    },
    "Jinja2": {
        "app.py": JINJA,
        "templates/raw.html": "{{ name }} <!-- found -->\n{{ name|e }}",
        "templates/escaping.html": "{{ name }}\n" + RAW,
    },
    "Starlette": {"app.py": STARLETTE, "templates/shop.html": RAW + "{{ name }}"},
    "Express": {
        "app.js": EXPRESS,
        "views/shop.ejs": EJS,
        "views/parts/name.ejs": "<b><%- name %></b> <!-- found -->",
        "views/other.ejs": "<%- shop.name %>",
    },
    "Express with Pug": {"app.js": EXPRESS_PUG, "views/shop.pug": PUG},
    "Express with Handlebars": {"app.js": EXPRESS_HBS, "views/shop.hbs": HANDLEBARS},
    "Go": {
        "app.go": GO,
        "views/page.tmpl": "{{.Name}} <!-- found -->\n{{.Name | html}}{{range .Items}}\n{{.}} <!-- found -->\n{{end}}",
        "views/map.tmpl": "{{.Name}} <!-- found -->\n{{.Other}}{{with .Other}}{{.}}{{end}}",
        "views/part.tmpl": "{{.}} <!-- found -->",
        "views/html.tmpl": "<p title={{.Name}}>{{.Name}}</p>",
    },
    "Spring with Thymeleaf": {
        "Shops.java": SPRING,
        "templates/shops/shop.html": THYMELEAF,
        "templates/shops/other.html": '<p th:utext="${name}"></p> <!-- found -->',
    },
    "pages that include others with parameters": {
        "web/WEB-INF/list.jsp": '<c:import url="cell.jsp"><c:param name="id" value="${item.id}"/></c:import>\n'
        '<jsp:include page="title.jsp"><jsp:param name="text" value="${param.text}"/></jsp:include>',
        "web/WEB-INF/one.jsp": '<c:import url="cell.jsp"><c:param name="id" value="7"/>'
        '<c:param name="size" value="10"/></c:import>\n'
        '<c:import url="/box.jsp"><c:param name="a" value="1"/></c:import>',
        "web/WEB-INF/cell.jsp": '<i id="${param.id}"></i>\n<b>${param.size}</b> <!-- found -->\n'
        '<i>${param.size + 1} ${param.size * 2}</i>\n<shop:link to="${param.size}"/>',
        "web/WEB-INF/title.jsp": "<h1>${param.text}</h1> <!-- found -->",
        "web/WEB-INF/alone.jsp": "<h1>${param.text}</h1> <!-- found -->",
        "web/box.jsp": "<h1>${param.a}</h1> <!-- found -->",
    },
    "servlets with JSP": {"Shop.java": SERVLET, "web/WEB-INF/shop.jsp": JSP},
    "Spring with JSP": {
        "Shops.java": SPRING,
        "web/WEB-INF/shops/shop.jsp": '<% String name = (String) request.getAttribute("name"); %>\n'
        '<p><%= name %></p> <!-- found -->\n<p><%= request.getAttribute("other") %></p>\n'
        '<p><%= request.getAttribute("name") %></p> <!-- found -->\n'
        '<p><%= pageContext.findAttribute("name") %></p> <!-- found -->\n'
        '<p><c:out value="${name}"/></p>\n<p>${fn:escapeXml(name)}</p>',
        "web/WEB-INF/shops/none.jsp": '<p><%= request.getAttribute("name") %></p>',
    },
    "properties of beans, by their types": {
        "shop/Orders.java": FORM_PAGES,
        "shop/Order.java": FORM_BEANS,
        "web/WEB-INF/order.jsp": BEAN_JSP,
        "templates/shown.html": BEAN_THYMELEAF,
        "templates/mapped.ftl": "${order.userId}\n${order.name} <!-- found -->",
    },
    "properties of what may be of several classes, or of one that is not known": {
        "shop/Orders.java": FORM_PAGES,
        "shop/Order.java": FORM_BEANS,
        "web/WEB-INF/two.jsp": "${part.userId} <!-- found -->",
        "web/WEB-INF/draft.jsp": "${draft.userId} <!-- found -->",
        "web/WEB-INF/kept.jsp": "${kept.userId} <!-- found -->",
    },
    "FreeMarker": {
        "Shop.java": FREEMARKER,
        "templates/shop.ftl": "${name} <!-- found -->\n${name?html} ${name?length}",
    },
    "FreeMarker with a format that escapes": {
        "Shop.java": FREEMARKER,
        "Pages.java": FREEMARKER_FORMAT.format("HTMLOutputFormat"),
        "templates/shop.ftl": "${name}\n${name?no_esc} <!-- found -->",
    },
    "FreeMarker with settings that escape": {
        "Shop.java": FREEMARKER,
        "Pages.java": FREEMARKER_SETTINGS.format("HTMLOutputFormat"),
        "templates/shop.ftl": "${name}\n${name?no_esc} <!-- found -->",
    },
    "FreeMarker with settings and a format of plain text": {
        "Shop.java": FREEMARKER,
        "Pages.java": FREEMARKER_SETTINGS.format("PlainTextOutputFormat"),
        "More.java": FREEMARKER_FORMAT.format("PlainTextOutputFormat"),
        "templates/shop.ftl": "${name} <!-- found -->",
    },
    "Velocity": {
        "Shops.java": SPRING,
        "templates/shops/shop.vm": "$name <!-- found -->\n$esc.html($name) $other\n#set($x = $name)$x <!-- found -->",
        "templates/shops/other.vm": "",
    },
    "Velocity with references that are escaped": {
        "Shops.java": SPRING,
        "Pages.java": VELOCITY_HANDLER.format("EscapeHtmlReference", "other"),
        "templates/shops/shop.vm": "$name\n#set($x_html = $name)$x_html",
        "templates/shops/other.vm": "",
    },
    "Velocity with references of a form that are escaped": {
        "Shops.java": SPRING,
        "Pages.java": VELOCITY_HANDLER.format("EscapeHtmlReference", "match"),
        "templates/shops/shop.vm": "$name\n#set($_name = $name)$!{_name} <!-- found -->\n$_name.trim() <!-- found -->",
        "templates/shops/other.vm": "",
    },
    "Velocity with a handler that escapes SQL": {
        "Shops.java": SPRING,
        "Pages.java": VELOCITY_HANDLER.format("EscapeSqlReference", "match"),
        "templates/shops/shop.vm": "$name <!-- found -->",
        "templates/shops/other.vm": "",
    },
    "Velocity with a handler of the program": {
        "Shops.java": SPRING,
        "Pages.java": OWN_HANDLER.format("HtmlUtils.htmlEscape(value.toString())"),
        "templates/shops/shop.vm": "$name",
        "templates/shops/other.vm": "",
    },
    "Velocity with a handler of the program that changes nothing": {
        "Shops.java": SPRING,
        "Pages.java": OWN_HANDLER.format("value.toString()"),
        "templates/shops/shop.vm": "$name <!-- found -->",
        "templates/shops/other.vm": "",
    },
    "macros of Velocity": {
        "Shops.java": SPRING,
        "templates/shops/shop.vm": "#macro(own $a $b)$a <!-- found -->\n$b#end\n#own($name, 'x')\n#shared('y' $name)",
        "templates/shops/other.vm": "",
        "templates/macros.vm": "#macro(shared $a $b)$a\n$b <!-- found -->\n#end\n#macro(unused $a)$a#end",
    },
    "names of Mako's templates": {"app.py": MAKO_NAMES, "templates/shop.mako": OWN_NAMES},
    "Mako": {"app.py": MAKO, "templates/shop.mako": "${name} <!-- found -->\n${name | h}\n${name | n} <!-- found -->"},
    "what a handler of aiohttp returns": {
        "app.py": AIOHTTP,
        "templates/shop.html": "{{ shop.name|safe }} <!-- found -->\n{{ other|safe }} <!-- found -->\n{{ other }}\n"
        "{{ fixed|safe }}{{ missing|safe }}",
        "templates/other.html": "{{ name|safe }}",
    },
    "what a view of Pyramid returns": {
        "app.py": PYRAMID,
        "templates/shop.mako": "${name}\n${name | h}\n${name | n} <!-- found -->",
    },
    "filters and forms": {
        "app.py": FORM,
        "templates/shop.html": "{% macro field(f) %}{{ f(**kwargs)|safe }}{% endmacro %}{{ field(form.name) }}\n"
        "{% for shop in shops|sort(attribute=order) %}{{ shop.name|safe }}{% endfor %}\n"
        "{{ form.name(class='wide')|safe }}\n{{ form.name.data|safe }} <!-- found -->\n{{ order|safe }} <!-- found -->",
    },
    "a form that Django writes": {
        "views.py": DJANGO_FORM,
        "jinja2/note.html": WRITTEN_FORM,
        "jinja2/macros.html": FORM_MACROS,
    },
    "names in parentheses": {
        "app.py": PAIRS,
        "templates/pairs.html": "{% for (a, b) in pairs %}{{ a|safe }}\n{{ b|safe }} <!-- found -->\n{% endfor %}\n"
        "{% for (a) in names %}{{ a|safe }} <!-- found -->\n{% endfor %}\n"
        "{% for n, (c, d) in nested %}{{ n|safe }} {{ c|safe }}\n{{ d|safe }} <!-- found -->\n{% endfor %}",
    },
    "names that other engines give": {
        "page.hbs": "{{#header}}{{{title}}}{{/header}} {{{param}}} {{{cookie}}}\n<a href='{{header.link}}'>",
        "page.jinja2": "{{ header.title|safe }}{{ param.q|safe }}",
        "page.ejs": "<%- header.title %><%- cookie.name %>",
        "page.ftl": "${header.title}${param.q}",
        "page.html": "<p th:utext='${param.q}'></p> <!-- found -->\n<p th:utext='${header.title}'></p>",
        "page.jsp": "${header.title} <!-- found -->\n${param.q} <!-- found -->\n${cookie.name}",
    },
    "a request in a template": {"page.html": "{{ request.args.a|safe }} <!-- found -->\n{{ request.args.a }}"},
}


QUERIES = {
    "MyBatis": {
        "shop/OrderMapper.java": MAPPER,
        "shop/Orders.java": ORDERS,
        "mapper/OrderMapper.xml": STATEMENTS,
        "mapper/other/OrderMapper.xml": STATEMENTS.replace("shop.", "store.").replace("<!-- found -->", ""),
    }
}


@pytest.mark.parametrize("program", QUERIES)
def test_tainted_values_are_found_where_the_text_of_a_statement_has_them(program):
    check_marked(QUERIES[program], "sql-injection")


@pytest.mark.parametrize("program", PROGRAMS)
def test_tainted_values_are_found_where_a_template_prints_them_raw(program):
    check_marked(PROGRAMS[program], "cross-site-scripting")


LINKS = {
    "app.py": """from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme


def shop(request):
    back = request.GET["back"]
    own = request.GET["own"]
    if not url_has_allowed_host_and_scheme(own, None):
        own = "/"
    return render(request, "shop.html", {"back": back, "own": own, "path": request.path})
""",
    "templates/shop.html": """{% load i18n %}
<a href="{{ back }}">back</a> <!-- found -->
<a class="wide" href='{{ back }}'>back</a> <!-- found -->
<a href="{{ own }}">back</a>
<a href="{{ path }}">here</a>
<a href="/shops/{{ back }}">shop</a>
<a title="{{ back }}" href="{% url "shops" %}">{{ back }}</a>
<img src="{{ back }}">
<iframe src="{{ back }}"></iframe> <!-- found -->
""",
}
MACROS = {
    "app.py": """from flask import Flask, current_app, get_template_attribute, request

app = Flask(__name__)


@app.route("/escaped")
def escaped():
    return get_template_attribute("macros.html", "escaped")(request.args["name"])


@app.route("/raw")
def raw():
    show = get_template_attribute("macros.html", "raw")
    return show(request.args["name"])  # <!-- found -->


@app.route("/module")
def module():
    return current_app.jinja_env.get_template("macros.html").module.escaped(request.args["name"])
""",
    "templates/macros.html": """{% macro escaped(name) %}<b>{{ name }}</b>{% endmacro %}
{% macro raw(name) %}<b>{{ name|safe }}</b>{% endmacro %}
""",
}


@pytest.mark.parametrize("program", [LINKS, MACROS], ids=["links", "macros"])
def test_addresses_of_links_and_macros_are_judged_by_what_they_print(program):
    check_marked(program, "cross-site-scripting")


def check_marked(files, rule):
    """Compare the lines at which a rule has findings with those that are marked."""
    tree = MemoryTree({name: code.encode() for name, code in files.items()}, "templates")
    request = ScanRequest(Path("."), None, {"rules": (rule,)})
    report = scan_tree(tree, request, silent).report
    assert not report.problems and not report.coverage.unparsed
    found = {(finding.place.file, finding.place.line) for finding in report.findings}
    marked = {
        (name, number)
        for name, code in files.items()
        for number, line in enumerate(code.splitlines(), 1)
        if re.search("<!-- found -->", line)
    }
    assert found == marked


def test_the_path_leads_from_the_request_to_the_place_that_prints():
    files = PROGRAMS["unpacked"]
    tree = MemoryTree({name: code.encode() for name, code in files.items()}, "templates")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("cross-site-scripting",)}), silent).report
    (finding,) = [finding for finding in report.findings if finding.place.file == "templates/parts/shop.html"]
    files_of_path = list(dict.fromkeys(step.place.file for step in finding.path))
    assert files_of_path == ["app.py", "templates/list.html", "templates/parts/shop.html"]


def test_the_path_to_a_page_leads_over_what_is_harmless_in_addresses_alone():
    code = """

def here(request):
    referrer = request.META.get("HTTP_REFERER", "/")
    return HttpResponse("<b>" + referrer + "</b>")
"""
    app = "from django.http import HttpResponse\n" + LINKS["app.py"] + code
    tree = MemoryTree({**{name: text.encode() for name, text in LINKS.items()}, "app.py": app.encode()}, "templates")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("cross-site-scripting",)}), silent).report
    (finding,) = [finding for finding in report.findings if finding.place.file == "app.py"]
    assert "request.META" in finding.message and finding.path
    assert all(other.path for other in report.findings)
