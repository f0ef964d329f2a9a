#!/usr/bin/env python3
"""Each rule of tidy.py catches what it is for: a small clean repository passes, and every way to spoil it is found."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import cpp  # noqa: E402
from tidy import Tidy  # noqa: E402

TABLE = "## To build and run\n"
LISTED = ("libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libdeflate-dev zlib1g-dev libzstd-dev liblzma-dev libabsl-dev "
          "libsqlite3-dev libssl-dev libboost-dev libhwloc-dev libgtest-dev librapidcheck-dev libbenchmark-dev "
          "libgrpc++-dev protobuf-compiler-grpc libopenblas-dev liblapacke-dev ocl-icd-opencl-dev g++").split()
CLEAN = {
    "docs/dependencies.md": TABLE + "".join(f"| {package} | 1 | MIT | its job |\n" for package in LISTED),
    "src/base/CMakeLists.txt": "rota_room(base)\n",
    "src/model/CMakeLists.txt": "rota_room(model USES base)\n",
    "src/policy/CMakeLists.txt": "rota_room(policy USES model)\n",
    "src/log/CMakeLists.txt": "rota_room(log USES model LINKS deflate)\n",
    "src/report/CMakeLists.txt": "rota_room(report USES model)\n",
    "src/base/time.h": "// Time.\n#pragma once\n#include <chrono>\n",
    "src/model/job.h": '// A job.\n#pragma once\n#include "base/time.h"\nint utilization(int a, int b);\n',
    "src/policy/order.cc": '#include <map>\n#include "base/time.h"\n#include "model/job.h"\nint f() { return 1; }\n',
    "src/log/swf.cc": '#include <libdeflate.h>\n#include <unistd.h>\n#include "model/job.h"\n',
    "src/model/job_test.cc": "#include <gtest/gtest.h>\nTEST(Job, Is) {}\n",
    "README.md": "A text about 10 jobs.\n",
}


def findings(changes):
    """What tidy finds in the clean repository after some files were put in (None: taken away)."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        for path, content in (CLEAN | changes).items():
            if content is None:
                continue
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Tidy(folder).run()


def header(body):
    return "// What it is.\n#pragma once\n" + body


def lines(count):
    return "  ;\n" * count


# What is wrong, the file that is so, what the finding says. Words that the rules ban are put together here.
SPOILED = [
    ("an include upwards", "src/base/up.h", header('#include "model/job.h"\n'), "includes from 'model'"),
    ("an include of a room not used", "src/log/x.cc", '#include "policy/order.h"\n', "includes from 'policy'"),
    ("an include between adapters", "src/report/x.cc", '#include "log/swf.h"\n', "includes from 'log'"),
    ("a class of many methods", "src/base/x.h", header("class X {\n public:\n" + "".join(f"  int m{i}();\n" for i in range(26)) + "};\n"),
     "X has 26 public methods"),
    ("a class of many fields", "src/base/x.h", header("class X {\n" + "".join(f"  int a{i} = 0, b{i}{{1}};\n" for i in range(11)) + "};\n"),
     "X has 22 fields"),
    ("a use upwards", "src/base/CMakeLists.txt", "rota_room(base USES model)\n", "not below it"),
    ("a use of the same layer", "src/report/CMakeLists.txt", "rota_room(report USES log)\n", "not below it"),
    ("a room that no layer has", "src/attic/CMakeLists.txt", "rota_room(attic)\n", "has no layer"),
    ("a file in such a room", "src/attic/x.cc", "int x;\n", "is no room"),
    ("an include by a neighbour's name", "src/model/x.cc", '#include "job.h"\n', "not a path from src/"),
    ("an include through ..", "src/model/x.cc", '#include "../base/time.h"\n', "not a path from src/"),
    ("a library in the wrong room", "src/policy/x.cc", "#include <toml++/toml.h>\n", "only"),
    ("a library in a header", "src/trace/x.h", header("#include <libdeflate.h>\n"), "only"),
    ("a library that nobody owns", "src/log/x.cc", "#include <spdlog/spdlog.h>\n", "no owner"),
    ("a test's header in the product", "src/model/x.cc", '#include "tests/x.h"\n', "from its tests"),
    ("threads in a policy", "src/policy/x.cc", "#include <thread>\n", "one thread"),
    ("a lock in the model", "src/model/x.cc", "#include <mutex>\n", "one thread"),
    ("output in the model", "src/model/x.cc", "#include <iostream>\n", "neither read nor write"),
    ("a system call in the model", "src/model/x.cc", "#include <sys/mman.h>\n", "neither read nor write"),
    ("an unordered map in a plan", "src/plan/x.cc", "#include <unordered_map>\n", "unordered"),
    ("std's distributions", "src/log/x.cc", "#include <random>\n", "base/random.h"),
    ("a clock in a policy", "src/policy/x.cc", "auto t = std::chrono::steady_clock::now();\n", "only a Loop knows"),
    ("a seed from the machine", "src/log/x.cc", "std::random_device d;\n", "seeded"),
    ("a vague type", "src/model/x.cc", "class JobManager {};\n", "could hold anything"),
    ("a vague function", "src/model/x.cc", "int parse_helper();\n", "could hold anything"),
    ("a vague file", "src/model/" + "comm" + "on.h", header(""), "says what is in it"),
    ("a test that sleeps", "src/model/x_test.cc", "void f() { std::this_thread::sleep_for(s); }\n", "waits for"),
    ("a header that opens a namespace", "src/model/x.h", header("using namespace std;\n"), "alone"),
    ("a header without #pragma once", "src/model/x.h", "// What it is.\n", "#pragma once"),
    ("a header that does not say what it is", "src/model/x.h", "#pragma once\n", "says what it is"),
    ("a machine's path", "README.md", "See /ho" + "me/alice/rota.\n", "one machine"),
    ("a number for a reason", "src/model/x.cc", "// iss" + "ue 12\n", "say what is meant"),
    ("a registry", "README.md", "From pypi." + "org.\n", "machine's business"),
    ("an address", "README.md", "At 10.0" + ".0.1.\n", "machine's business"),
    ("a published trace", "examples/KTH-SP2-rebuilt" + ".swf.gz", b"\x1f\x8b\0", "never committed"),
    ("what a machine made", "src/model/job.o", b"\0", "not source"),
    ("comments about nobody", "src/model/x.cc", "// It is nobody's.\n" * 30, "name the thing"),
    ("a comment that is no sentence", "src/model/x.cc", "// O" + "f a job that waits.\n", "a comment is a sentence"),
    ("a long file", "src/model/x.cc", "//\n" * 501, "two ideas"),
    ("a long function", "src/model/x.cc", "int f() {\n" + lines(70) + "}\n", "f has 72 lines"),
    ("a long method", "src/model/x.cc", "struct S {\n  int f() const {\n" + lines(70) + "  }\n};\n", "f has 72 lines"),
    ("many parameters", "src/model/x.cc", "void f(int a, int b, int c, int d, int e, int g) {}\n", "6 parameters"),
    ("many parameters declared", "src/model/x.h", header("void f(int, int, int, int, int, int);\n"), "6 parameters"),
    ("a huge file", "examples/x.txt", "x" * 1_000_001, "1000001 bytes"),
    ("a package without a job", "docs/dependencies.md", TABLE + "| zlib1g-dev | 1 | Zlib | |\n", "its job"),
    ("a package listed twice", "docs/dependencies.md", CLEAN["docs/dependencies.md"] * 2, "already"),
    ("a package that is not listed", "docs/dependencies.md", "", "is not listed"),
]


class Rules(unittest.TestCase):
    def test_a_clean_repository_has_no_findings(self):
        self.assertEqual(findings({}), [])

    def test_each_way_to_spoil_it_is_found_in_the_right_file(self):
        for what, path, content, expected in SPOILED:
            with self.subTest(what):
                found = findings({path: content})
                self.assertTrue(any(line.startswith(path + ":") and expected in line for line in found), found)

    def test_comments_and_literals_are_not_code(self):
        code = 'const char* s = "steady_clock"; // steady_clock\nauto r = R"(class FooManager {)";\n'
        self.assertEqual(findings({"src/policy/x.cc": code}), [])

    def test_a_file_named_as_the_exception_may_hold_what_others_may_not(self):
        code = header("#include <random>\nstd::mt19937 r;\n")
        self.assertEqual(findings({"src/study/CMakeLists.txt": "rota_room(study USES log)\n",
                                   "src/study/mersenne_stream.h": code}), [])
        self.assertEqual(len(findings({"src/log/mersenne_stream.h": code})), 2)

    def test_a_copy_of_a_shared_file_is_found_under_any_name(self):
        with tempfile.TemporaryDirectory() as shared:
            Path(shared, "golden").mkdir()
            Path(shared, "golden", "KTH.csv").write_text("1,2\n")
            os.environ["ROTA_SHARED"] = shared
            try:
                self.assertIn("shared/KTH.csv", "".join(findings({"examples/mine.csv": "1,2\n"})))
            finally:
                del os.environ["ROTA_SHARED"]


class Reader(unittest.TestCase):
    def read(self, text):
        return [(function.name, function.length, function.parameters) for function in cpp.functions(text)]

    def test_finds_functions_and_counts_their_lines_and_parameters(self):
        cases = {
            "int f() { return 1; }": [("f", 1, 0)],
            "namespace a::b {\nvoid f(int x,\n       int y) {\n  g(x, y, x, y, x, y);\n}\n}": [("f", 3, 2)],
            "template <class A, class B>\nstd::map<int, A> f(std::map<A, B> x, int y) {\n}": [("f", 2, 2)],
            "struct S {\n  S(int a) : a_{a}, b_(2) {\n  }\n  int a_{1};\n  int b_ = 3;\n};": [("S", 2, 1)],
            "struct S {\n public:\n  bool operator()(int a) const noexcept { return a; }\n};": [("operator()", 1, 1)],
            "bool operator<(const A& a, const A& b) { return a.x < b.x; }": [("operator<", 1, 2)],
            "auto f(const S& s = {}, int b = 2) -> std::vector<int> {\n}": [("f", 2, 2)],
            "[[nodiscard(\"x, y\")]] Result<int> f(std::function<void(int, int)> g);": [("f", 0, 1)],
            "constexpr auto kF = [](int x) {\n  return x;\n};\nint g(void) { return 0; }": [("g", 1, 0)],
            "const std::map<int, int> kMap{{1, 2}, {3, 4}};\nvoid f();": [("f", 0, 0)],
            "enum class E : int { a, b };\nvoid f() {\n  if (x) {\n  } else {\n  }\n}": [("f", 5, 0)],
            "TEST(Suite, name) {\n  EXPECT_EQ(1'000'000, f(\"}\", '}'));\n}": [("TEST", 3, 2)],
            "#define M(a) \\\n  do { \\\n  } while (0)\nvoid f() {}": [("f", 1, 0)],
            "extern \"C\" {\nint LLVMFuzzerTestOneInput(const uint8_t* d, size_t n) { return 0; }\n}":
                [("LLVMFuzzerTestOneInput", 1, 2)],
            "extern \"C\" int f(int a) {\n}": [("f", 2, 1)],
            "template <class T>\n  requires std::integral<T>\nT f(T a) { return a; }": [("f", 1, 1)],
            "struct S { S() = default; ~S(); S& operator=(const S&) = delete; };":
                [("S", 0, 0), ("~S", 0, 0), ("operator=", 0, 1)],
        }
        for text, expected in cases.items():
            with self.subTest(text):
                self.assertEqual(self.read(text), expected)


if __name__ == "__main__":
    unittest.main()
