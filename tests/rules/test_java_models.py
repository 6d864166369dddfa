"""Where requests and messages come into Java programs, framework by framework, as the frameworks' guides show it."""

from pathlib import Path

import pytest

from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

MODEL = 'sink_argument("test", "flows.Flows.sink", "0").'
PROGRAMS = {
    "Micronaut: variables of the path and the body": """
import io.micronaut.http.annotation.*;
@Controller("/hello") class Hello {
    @Get("/{name}") String hello(String name) {
        sink(name); // found
        return "";
    }
    @Post("/save") String save(@Body String text, @Header("X-Id") String id) {
        sink(text); // found
        sink(id); // found
        return "";
    }
    String own(String name) { sink(name); return ""; }
}""",
    "Vert.x: handlers of routes": """
import io.vertx.core.*;
import io.vertx.ext.web.*;
class Main extends AbstractVerticle {
    void start() {
        Router router = Router.router(vertx);
        router.get("/users/:id").handler(context -> {
            sink(context.pathParam("id")); // found
            sink(context.request().getParam("name")); // found
            sink(context.get("user"));
        });
        router.post("/users").handler(this::add);
    }
    void add(RoutingContext context) {
        sink(context.body().asString()); // found
    }
}""",
    "Javalin: handlers get a context": """
import io.javalin.Javalin;
class Main {
    static void main() {
        Javalin app = Javalin.create().start(7000);
        app.get("/hello/{name}", ctx -> {
            sink(ctx.pathParam("name")); // found
            sink(ctx.attribute("user"));
        });
        app.post("/hello", ctx -> sink(ctx.body())); // found
    }
}""",
    "Spark: routes are static methods": """
import static spark.Spark.*;
class Main {
    static void main() {
        get("/hello/:name", (request, response) -> {
            sink(request.params(":name")); // found
            sink(request.headers("X")); // found
            sink(request.port());
            return "";
        });
    }
}""",
    "Helidon: rules of a service": """
import io.helidon.webserver.http.*;
class Service implements HttpService {
    public void routing(HttpRules rules) {
        rules.get("/{name}", this::greet).put("/greeting", this::update);
    }
    void greet(ServerRequest request, ServerResponse response) {
        sink(request.path().pathParameters().get("name")); // found
    }
    void update(ServerRequest request, ServerResponse response) {
        sink(request.content().as(String.class)); // found
    }
}""",
    "Kafka, RabbitMQ and JMS: listeners": """
import jakarta.jms.*;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.kafka.annotation.KafkaListener;
class Listeners implements MessageListener {
    @KafkaListener(topics = "orders") void order(String text) {
        sink(text); // found
    }
    @RabbitListener(queues = "orders") void other(String text) {
        sink(text); // found
    }
    public void onMessage(Message message) {
        sink(((TextMessage) message).getText()); // found
    }
    void own(String text) { sink(text); }
}""",
    "AWS Lambda: the first parameter": """
import com.amazonaws.services.lambda.runtime.*;
import java.util.Map;
class Handler implements RequestHandler<Map<String, String>, String> {
    public String handleRequest(Map<String, String> event, Context context) {
        sink(event.get("name")); // found
        sink(context.getFunctionName());
        return "";
    }
}""",
    "GraphQL: arguments of queries": """
import graphql.schema.*;
import org.springframework.graphql.data.method.annotation.*;
class Books {
    @QueryMapping String book(@Argument String id) {
        sink(id); // found
        return "";
    }
    DataFetcher<String> fetcher() {
        return new DataFetcher<String>() {
            public String get(DataFetchingEnvironment environment) {
                sink(environment.getArgument("id")); // found
                return "";
            }
        };
    }
}""",
    "Spring's WebSocket handlers: the second parameter": """
import org.springframework.web.socket.*;
import org.springframework.web.socket.handler.TextWebSocketHandler;
class Chat extends TextWebSocketHandler {
    protected void handleTextMessage(WebSocketSession session, TextMessage message) {
        sink(message.getPayload()); // found
        sink(session.getId());
    }
}""",
    "Quarkus: parameters of RESTEasy Reactive": """
import org.jboss.resteasy.reactive.*;
class Resource {
    String hello(@RestQuery String name, @RestForm String text, @RestHeader String agent, String own) {
        sink(name); // found
        sink(text); // found
        sink(agent); // found
        sink(own);
        return "";
    }
}""",
}
HEADER = "import static flows.Flows.*;"
FILES = {f"p{n}/Main.java": f"package p{n};\n{HEADER}\n{code}\n" for n, code in enumerate(PROGRAMS.values())}
"""Each program is a package of its own."""


@pytest.fixture(scope="module")
def found(flows):
    return flows(MODEL, FILES)


@pytest.mark.parametrize("file", FILES, ids=PROGRAMS)
def test_what_comes_in_is_tainted(found, marked, file):
    assert found[file] == marked(FILES[file])


SIGNED = """
import io.jsonwebtoken.Jwts;
class Tokens {
    static final String KEY = "SecretKey0392456789012320394876234567830923";
    Object read(String token) { return Jwts.parser().setSigningKey(KEY).parseClaimsJws(token); }
}
"""


def test_a_call_of_several_names_is_told_of_once():
    tree = MemoryTree({"Tokens.java": SIGNED.encode()}, "tokens")
    findings = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("constant-signing-key",)})).report.findings
    assert [finding.place.line for finding in findings] == [5]


SHOWN = """
import org.slf4j.*;
import org.springframework.web.bind.annotation.*;
@RestController class Orders {
    private static final Logger log = LoggerFactory.getLogger(Orders.class);
    @GetMapping("/orders/{id}") Order show(@PathVariable String id, @RequestParam String shop) {
        log.info("order {}", id);
        log.info("shop {}", shop);
        return null;
    }
}
"""
SECURITY = """
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
class Security { void protect(HttpSecurity security) throws Exception { security.build(); } }
"""


@pytest.mark.parametrize(("files", "lines"), [({}, [7, 8]), ({"Security.java": SECURITY.encode()}, [8])])
def test_a_firewall_lets_no_line_break_into_an_address(files, lines):
    tree = MemoryTree({"Orders.java": SHOWN.encode(), **files}, "orders")
    findings = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("log-injection",)})).report.findings
    assert [finding.place.line for finding in findings] == lines


WORDS = """
import com.google.gson.*;
import org.springframework.web.bind.annotation.*;
@RestController class Words {
    @GetMapping("/words") String show(@RequestParam String word) {
        return new Gson().toJson(word);
    }
}
"""
PLAIN = """
import com.google.gson.*;
class Plain { Gson plain() { return new GsonBuilder().disableHtmlEscaping().create(); } }
"""


@pytest.mark.parametrize(("files", "lines"), [({}, []), ({"Plain.java": PLAIN.encode()}, [6])])
def test_gson_escapes_tags_unless_it_is_told_not_to(files, lines):
    tree = MemoryTree({"Words.java": WORDS.encode(), **files}, "words")
    findings = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("cross-site-scripting",)})).report.findings
    assert [finding.place.line for finding in findings] == lines


PATTERNS = """
import java.util.regex.Pattern;
class Patterns {
    static final Pattern GREEDY = Pattern.compile("([a-z]+)+@");
    static final Pattern LAZY = Pattern.compile("([a-z]+)+?@");
    static final Pattern REFERS_BACK = Pattern.compile("([a-z]+)+\\\\1@");
    static final Pattern COUNTED = Pattern.compile("([a-z]+){1,40}@");
    static final Pattern DEEP = Pattern.compile("(?:(?:[a-z]+)+)+@");
}
"""
LATER = "import java.util.List; class Later { List<String> names() { return List.of(); } }"
RECORD = "record Later(String name) {}"
EARLIER = "import java.util.*; class Earlier { List<String> names() { return Arrays.asList(); } }"


@pytest.mark.parametrize(
    ("other", "lines"), [(EARLIER, [4, 5, 6, 7, 8]), (LATER, [5, 6, 7, 8]), (RECORD, [5, 6, 7, 8])]
)
def test_java_remembers_where_greedy_loops_failed_since_9(other, lines):
    tree = MemoryTree({"Patterns.java": PATTERNS.encode(), "Other.java": other.encode()}, "patterns")
    findings = scan_tree(tree, ScanRequest(Path("."), None, {"rules": ("exponential-regex",)})).report.findings
    assert [finding.place.line for finding in findings] == lines
