"""Reads C++ just well enough to measure it: which functions there are, how long, with how many parameters.

The reading is by braces, on text whose comments, literals and preprocessor lines have been blanked. It knows the layout
that clang-format gives, not the language; what it takes for a function is one, and it misses few (the self-test shows).
"""
import re
from dataclasses import dataclass

TOKENS = re.compile(
    r"""
      (?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)
    | (?P<raw>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<char>(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+')
    | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\\n|\\.)*)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?P<kind>["<])(?P<path>[^">\n]+)[">]', re.MULTILINE)
TYPE_OR_NAMESPACE = re.compile(r"^(inline\s+)?(namespace|class|struct|union|enum|extern\s*$|export\b)\b|^extern\s*$")
NOT_A_NAME = {"decltype", "alignas", "requires", "noexcept", "explicit", "__attribute__", "sizeof", "throw"}
NOT_DECLARATIONS = re.compile(r"^(using|typedef|static_assert|return|goto|extern\s+template)\b")
NAME_AND_PARENTHESIS = re.compile(r"(operator\s*\(\s*\)|operator\s*[^\s\w(]+|operator\s+[\w:]+|~?\w+)\s*\(")


@dataclass
class Function:
    name: str
    line: int        # of its opening brace, or of its end where it is only declared; from 1
    length: int      # lines of its body, braces included; 0: only declared
    parameters: int


@dataclass
class Class:
    name: str
    line: int       # of its opening brace
    record: bool    # a struct
    methods: int    # public, but for constructors, destructor and operators; overloads count as one
    fields: int     # of its own, static ones left out


def blanked(text):
    """The text with comments, literals and preprocessor lines as spaces: same length, same lines."""
    return TOKENS.sub(lambda token: re.sub(r"[^\n]", " ", token.group()), text)


def without_comments(text):
    """As blanked(), but only comments go."""
    def keep(token):
        return re.sub(r"[^\n]", " ", token.group()) if token.group("comment") else token.group()
    return TOKENS.sub(keep, text)


def comments(text):
    """(line, words) of every comment."""
    for token in TOKENS.finditer(text):
        if token.group("comment"):
            yield text.count("\n", 0, token.start()) + 1, token.group().lstrip("/* ")


def includes(text):
    """(line, is it in angle brackets, path) of every #include."""
    for match in INCLUDE.finditer(without_comments(text)):
        yield text.count("\n", 0, match.start()) + 1, match.group("kind") == "<", match.group("path")


def _flat(head):
    """A declaration's text without attributes, access specifiers and template arguments."""
    head = re.sub(r"\[\[.*?\]\]", " ", head, flags=re.DOTALL)
    head = re.sub(r"\b(public|private|protected)\s*:(?!:)", " ", head)
    head = head.replace("->", "  ").replace("::", "__")
    while True:
        shorter = re.sub(r"<[^<>;{}]*>", " ", head)
        if shorter == head:
            return re.sub(r"^\s*(template|requires)\b\s*", "", head.strip()).strip()
        head = shorter


def _closing(text, opening):
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def _signature(head):
    """(name, number of parameters, what follows them) of a function's head, or None where it is no function's."""
    flat = _flat(head)
    if NOT_DECLARATIONS.match(flat):
        return None
    at = 0
    while match := NAME_AND_PARENTHESIS.search(flat, at):
        opening = match.end() - 1
        close = _closing(flat, opening)
        name = match.group(1)
        if name in NOT_A_NAME:
            at = close + 1
            continue
        if re.search(r"(?<![=!<>])=(?!=)", flat[: match.start()]):
            return None
        return name.replace("__", "::"), _count(flat[opening + 1 : close]), flat[close + 1 :]
    return None


def _count(parameters):
    if parameters.strip() in ("", "void"):
        return 0
    depth, count = 0, 1
    for character in parameters:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        count += character == "," and depth == 0
    return count


def _kind(head):
    """What a brace after this text opens: a 'scope' with declarations in it, a 'function', or 'other'."""
    if head.count("(") > head.count(")"):
        return "other"  # inside a parameter list: a default argument
    flat = _flat(head)
    if TYPE_OR_NAMESPACE.match(flat):
        return "scope"
    signature = _signature(head)
    if signature is None:
        return "scope" if not flat else "other"
    rest = signature[2].replace("__", "").strip()
    if re.match(r"^(noexcept\s*(\(.*?\))?\s*)?:", rest) and re.search(r"[\w>]$", head.strip()):
        return "other"  # a member's braces in a constructor's list
    return "function"


CLASS = re.compile(r"^(?:class|struct)\s+(?:alignas\s*\([^)]*\)\s*)?(?P<name>\w+)")
ACCESS = re.compile(r"\b(public|private|protected)\s*:(?!:)")
NO_FIELD = re.compile(r"^(using|typedef|friend|static|static_assert|enum|class|struct|union|template|return)\b|^$")


class _Open:
    """A class whose closing brace has not come yet."""

    def __init__(self, name, line, is_struct):
        self.found, self.public, self.names = Class(name, line, is_struct, 0, 0), is_struct, set()

    def access(self, head):
        for label in ACCESS.findall(head):
            self.public = label == "public"

    def declared(self, head, signature):
        self.access(head)
        flat = _flat(head)
        if signature:
            name = signature[0]
            named = not name.startswith(("operator", "~")) and name != self.found.name
            if self.public and named and not flat.startswith("friend"):
                self.names.add(name)
            self.found.methods = len(self.names)
        elif not NO_FIELD.match(flat):
            self.found.fields += _count(re.sub(r"=[^,]*", "", re.sub(r"\{[^{}]*\}", " ", flat)))


class _Scan:
    """One pass over blanked text; functions are found where declarations stand, not inside other functions."""

    def __init__(self, code):
        self.code = code
        self.functions = []
        self.classes = []
        self.open = []  # (kind, place of the brace, head)
        self.inside = []  # for each scope that is open: its class, or None
        self.start = 0  # of the current declaration

    def run(self):
        for match in re.finditer(r"[{};]", self.code):
            {"{": self.opened, "}": self.closed, ";": self.ended}[match.group()](match.start())
        return self.functions

    def declares(self):
        return not self.open or self.open[-1][0] == "scope"

    def member(self, head, signature):
        if self.inside and self.inside[-1]:
            self.inside[-1].declared(head, signature)

    def line(self, place):
        return self.code.count("\n", 0, place) + 1

    def opened(self, at):
        head = self.code[self.start : at]
        kind = _kind(head) if self.declares() else "other"
        self.open.append((kind, at, head))
        if kind == "scope":
            if self.inside and self.inside[-1]:
                self.inside[-1].access(head)
            named = CLASS.match(_flat(head))
            self.inside.append(_Open(named["name"], self.line(at), "struct" in named[0]) if named else None)
            self.start = at + 1

    def closed(self, at):
        if not self.open:
            return
        kind, opening, head = self.open.pop()
        if kind == "function":
            name, parameters, _ = _signature(head)
            length = self.code.count("\n", opening, at) + 1
            self.functions.append(Function(name, self.line(opening), length, parameters))
            self.member(head, (name,))
        if kind == "scope" and (ended := self.inside.pop()):
            self.classes.append(ended.found)
        if kind != "other":
            self.start = at + 1

    def ended(self, at):
        if not self.declares():
            return
        head = self.code[self.start : at]
        if head.count("(") > head.count(")"):
            return
        self.start = at + 1
        signature = _signature(head)
        self.member(head, signature)
        if signature:
            self.functions.append(Function(signature[0], self.line(at), 0, signature[1]))


def classes(text):
    """Every class with a body, outside functions."""
    scan = _Scan(blanked(text))
    scan.run()
    return scan.classes


def functions(text):
    """Every function that the text defines or declares, outside other functions."""
    return _Scan(blanked(text)).run()
