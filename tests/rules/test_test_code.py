"""Test code is known by its path, as test runners know it and as projects lay it out."""

import pytest

TESTS = """
conftest.py test_app.py app_test.py tests.py shop/tests.py shop/tests/helper.py testing/tool.py test_app/helper.py
tools/test-app.py app_test.go pkg/testdata/a.go pkg/testutil/a.go
store_mock.go mock_store.go store/mocks/a.go user_fixtures.go fixtures/b.go testcert.go testutils.go e2etest_service.go
app.test.js app.test.tsx app.spec.ts app.e2e-spec.ts app-test.mjs test.js test-app.cjs app.test-d.ts page.cy.ts
valid.test.data.ts shop.spec.fixtures.js
src/__tests__/app.jsx src/__mocks__/fs.js src/__tests_dts__/a.ts cypress/support/commands.js e2e/login.ts
src/test/java/p/A.java src/integrationTest/java/p/B.java src/testFixtures/java/p/C.java javatests/p/D.java
src/inttest/java/p/F.java src/it-tests/java/p/G.java
test/sample/src/main/java/p/E.java
config/mock/database.ts src/mocks/a.js shop.mock.ts page.stories.tsx
cypress.config.ts playwright.config.mjs karma.conf.js vitest.unit.config.ts
ci/integration_tests/app.py pkg/browser-tests/a.js shop-compatibility-test/src/app.py unit_test/a.py
locustfile.py locustfile_2.py
list_test.c list_unittest.c tests/unit/list.c t/unit/app.py t/basic.c
""".split()
PROGRAM = """
app.py attest.py latest.py contest.py testament.py protests/app.py src/latest/a.py
app.go testable.go testimonials.go tester_list.go contest/a.go mocking.go mockery/a.go smock/a.go fixture_store/a.go
mocking/a.js mock.config.ts stories.js
contests/app.py speed_test/app.py protests-unit/app.py config.js cypress.js app.config.ts
spec.js specs.js inspect.js latest.data.ts latest.js attest-app.js app.spectrum.js playground/app.ts
src/main/java/p/test/A.java src/main/java/p/testing/B.java src/main/java/p/Test.java src/java/p/ContextTest0.java
test-list.c latest.c src/latest/java/p/A.java src/contest/java/p/B.java
""".split()
IN_TESTS = ".decl in_tests(file: symbol)\nin_tests(f) :- test_module(m), module(m, _, _, f).\n"


@pytest.fixture
def in_tests(rows):
    """Return the paths of the files, given with their texts, that are test code."""

    def found(files):
        return {path for (path,) in rows("in_tests", files, IN_TESTS) if not path.endswith("/")}

    return found


def test_examples_beside_a_program_are_no_part_of_it(in_tests):
    beside = {"examples/a.py", "go/examples/b.go", "examples/c/src/main/java/p/C.java", "samples/d.c", "demo/e.js"}
    beside |= {"contrib/loadtesting/k.py", "load-tests/l.js", "benchmarks/m.py", "stress_test/n.c", "perf-tests/o.ts"}
    beside |= {"testsuite/v.py", "shoptestsuite/code/w.c", "pkg/shop-test-suite/x.js"}
    beside |= {"docs/code/f.c", "doc/tutorial/code/g.go", "samples/h/src/main/java/p/H.java"}
    program = {"shop/app.py", "docs/conf.py", "org/p/examples/D.java", "src/main/java/p/docs/E.java"}
    program |= {"org/p/demo/F.java", "loader/tested.py", "stress/q.py", "benchmarking/r.js", "org/p/benchmark/S.java"}
    program |= {"suites/app.py", "contest/suite.py", "org/p/testsuite/Y.java"}
    program |= {"download_tester/t.py", "performance/u.ts"}
    assert in_tests(dict.fromkeys(beside | program, "")) == beside


def test_programs_in_c_that_try_out_a_part_of_another(rows, in_tests):
    own = "int main(void) { return 0; }\n"
    files = {"lib/test-list.c": own, "t_list.c": own}
    others = {"list.c": "", "test-page.c": "int page(void) { return 1; }\n", "testparm.c": own, "t.c": own}
    assert in_tests(files | others) == set(files)
    assert not rows("in_tests", files, IN_TESTS)


def test_files_of_c_whose_functions_a_runner_of_tests_calls(in_tests):
    two = "void cttest_{0}_add(void) {{ }}\nvoid ctbench_{0}_add(int n) {{ }}\n"
    files = {
        "testheap.c": two.format("heap"),
        "src/heapTest.c": "static void testAdd(void) { }\nstatic void testTake(void) { }\n",
        "benchheap.c": "void bench_add(void) { }\nvoid bench_take(void) { }\n",
        "src/check_heap.c": "#include <cmocka.h>\nvoid add(void **state) { }\n",
        "src/try.c": '#include "CUnit/Basic.h"\n',
        "src/units.c": '#include "unity.h"\nvoid setUp(void) { }\n',
        "src/heap-tests.c": two.format("heap"),
    }
    others = {
        "heap.c": two.format("heap"),
        "testimonial.c": "void test_given(void) { }\nvoid show(void) { }\n",
        "latest.c": "int latest_get(void) { return 1; }\nint latest_put(void) { return 2; }\n",
        "attest.c": "int attest_verify(void) { return 1; }\nint attest_sign(void) { return 2; }\n",
        "selftest.c": "int self_test_memory(void) { return 1; }\nint self_test_flash(void) { return 2; }\n",
        "testbits.c": "int test_bit(int a, int n) { return a; }\nint test_flag(int a, int n) { return n; }\n",
        "launcher.c": "#include <unity/unity/unity.h>\nvoid show(void) { }\n",
        "filter.c": '#include "criterion/match.h"\nvoid show(void) { }\n',
        "testparm.c": "int main(void) { return 0; }\nint check_all(void) { return 1; }\n",
        "unit.c": '#include "unit.h"\n#include <greatest_hits.h>\n',
    }
    assert in_tests(files | others) == set(files)


def test_modules_that_import_a_library_of_load_tests(in_tests):
    files = {
        "users.py": "from locust import HttpUser\n",
        "load.py": "import locust\n",
        "k.js": 'import http from "k6/http";',
    }
    others = {
        "shop.py": "def f():\n    import locust\n",
        "app.js": 'import k from "k6-like";',
        "low.py": "import locusts\n",
    }
    assert in_tests(files | others) == set(files)


def test_modules_of_javascript_that_use_a_runner_of_tests(in_tests):
    files = {
        "a/pay.integration.ts": 'import { expect, it } from "bun:test";\nit("pays", () => {});\n',
        "b/mail.integration.js": 'describe("mail", () => { it("sends", () => {}); });\n',
        "c/app.js": 'const test = require("node:test");\n',
        "integration/login.js": 'import { expect } from "chai";\n',
        "integration/web/config.js": "export default {};\n",
    }
    others = {
        "a/shop.integration.ts": 'import { pay } from "./pay";\nexport const shop = pay;\n',
        "a/text.js": 'import { describe, it } from "./words";\ndescribe(it("shop"));\n',
        "a/words.js": "export function describe(text) { return text; }\nexport const it = String;\n",
        "a/run.js": 'export async function run() { const m = require("mocha"); return m; }\n',
        "integrations/shop.ts": "export const shop = 1;\n",
        "shop/integration/pay.ts": "export const pay = 1;\n",
        "reintegration/pay.ts": "export const pay = 2;\n",
    }
    assert in_tests(files | others) == set(files)


def test_directories_that_hold_tests_of_a_kind_or_of_a_tool(in_tests):
    files = {
        "playwright/shop.spec.js": "",
        "playwright/run.js": 'import { test } from "@playwright/test";\n',
        "playwright/helpers/tokens.ts": "export const key = 1;\n",
        "web/wdio/a.js": 'import { $ } from "@wdio/globals";\n',
        "web/wdio/pages/b.js": "export const page = 1;\n",
        "app/browser-flows/c.ts": "export const user = 1;\n",
        "app/playwright.config.ts": 'export default { testDir: "./browser-flows" };\n',
        "pages/d.py": "from playwright.sync_api import Page, expect\n",
        "pages/support.js": 'const cypress = require("cypress");\n',
    }
    others = {
        "app/browser.ts": "export const user = 1;\n",
        "browser-flows/e.ts": "export const user = 1;\n",
        "app/other.config.ts": 'export default { testDir: "../server" };\n',
        "app/pay.config.ts": 'export default { testDir: "pay" };\n',
        "app/pay/run.ts": "export const pay = 1;\n",
        "server/playwright/render.js": 'import { chromium } from "playwright";\n',
        "shop/integration/mail.ts": "export const mail = 1;\n",
        "shop/integration/slack.ts": "export const slack = 1;\n",
        "scrape/f.py": "from playwright.sync_api import sync_playwright\n",
    }
    beside = {"shop/integration/slack.spec.ts": 'import { Test } from "@nestjs/testing";\n'}
    assert in_tests(files | others | beside) == set(files | beside)


def test_what_a_fuzzer_calls_is_test_code(in_tests):
    files = {
        "a.c": "int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return data[0] != size; }\n",
        "B.java": "class B { public static void fuzzerTestOneInput(byte[] data) { B.of(data); } }\n",
        "c.py": "import atheris\n",
    }
    others = {"d.c": "int test_one_input(void) { return 0; }\n", "D.java": "class D { void fuzz() { } }\n"}
    assert in_tests(files | others) == set(files)


def test_examples_alone_are_a_program(in_tests):
    files = dict.fromkeys(("examples/a.py", "examples/b/c.py", "testsuite/d.c", "tests/test_app.py"), "")
    assert in_tests(files) == {"tests/test_app.py"}


def test_what_stands_in_for_another_service_is_test_code_beside_a_program(in_tests):
    stand_ins = {"mockserver/src/main/java/p/A.java", "dev/mock-api/app.py", "fake_server.py", "sso-mock/b.js"}
    stand_ins |= {".dredd/hooks/c.go", "pkg/fakes/d.go", "mail_fake/e.c"}
    stand_ins |= {"dev/src/mock-printer.server.ts", "tools/fake_mail_service.py", "scripts/mockPrinterServer.js"}
    program = {"shop/app.py", "src/main/java/p/mockserver/F.java", "org/p/fakes/G.java", "mock/h.py", "mocking/i.c"}
    program |= {"smock/j.py", "fakery/server.py", "mockery.server.ts", "mock_up.py", "server/fake_news.py"}
    program |= {"hammockServer.js", "src/MockingServer.ts"}
    assert in_tests(dict.fromkeys(stand_ins | program, "")) == stand_ins


def test_what_the_program_imports_is_a_part_of_it(in_tests):
    files = {"app.py": "import mock_server\nfrom fakes import users\n", "mock_server.py": "import fake_api\n"}
    files |= {"fakes/__init__.py": "", "fakes/users.py": "", "fake_api.py": "", "mail_mock/smtp.py": ""}
    files |= {"main.go": 'package main\nimport "m/mockserver"\nfunc main() { mockserver.F() }\n'}
    mocked = "package p.mocked;\nimport p.Shop;\nclass M {}\n"
    files |= {"mockserver/src/main/java/p/mocked/M.java": mocked}
    files |= {"core/src/main/java/p/Shop.java": "package p;\nimport p.book.*;\nclass Shop {}\n"}
    files |= {"mockserver/a.go": "package mockserver\nfunc F() {}\n", "fake-api/b.go": "package api\n"}
    assert in_tests(files) == {"mail_mock/smtp.py", "fake-api/b.go", "mockserver/src/main/java/p/mocked/M.java"}


def test_a_stand_in_alone_is_a_program(rows):
    files = dict.fromkeys(("mock_server/app.py", "setup.py", "docs/conf.py"), "")
    assert not rows("in_tests", files, IN_TESTS)
    assert not rows(
        "in_tests", dict.fromkeys(("mock-server/src/main/java/A.java", "mock-core/src/main/java/B.java"), ""), IN_TESTS
    )


@pytest.mark.slow
def test_files_of_tests_are_told_by_their_paths(rows):
    found = rows("in_tests", dict.fromkeys(TESTS + PROGRAM, ""), IN_TESTS)
    packages = {path for (path,) in found if path.endswith("/")}
    assert {path for (path,) in found} - packages == set(TESTS)


def test_go_files_that_make_assertions_are_tests(rows):
    made = 'package p\nimport "github.com/testcontainers/testcontainers-go"\nfunc f() { testcontainers.Run() }\n'
    star = 'package p\nimport . "github.com/onsi/gomega"\nfunc g() { Expect(1) }\n'
    other = 'package p\nimport "github.com/stretchr/objx"\nfunc h() { objx.New(1) }\n'
    found = rows("in_tests", {"p/db.go": made, "p/ask.go": star, "p/run.go": other}, IN_TESTS)
    assert {path for (path,) in found if not path.endswith("/")} == {"p/db.go", "p/ask.go"}
