"""Finds what can be mutated in a C++ source, and writes the source with all mutants in it (mutants.h).

An expression stays alone where it must be a constant: static_assert, enumerators, constexpr and consteval variables,
case labels, the condition of `if constexpr`, template arguments; in the initializer of a namespace's variable, which is
one where it can be; and in a macro. The step of a for loop stays alone,
too: its mutants only run for ever. Lines keep their numbers.
"""
import re

from clang import cindex

Kind = cindex.CursorKind

BINARY = {"+": ["add", "-"], "-": ["subtract", "+"], "*": ["multiply", "/"], "/": ["divide", "*"],
          "%": ["remainder", "*"], "&": ["bit_and", "|"], "|": ["bit_or", "&"], "^": ["bit_xor", "|"],
          "<<": ["shift_left", ">>"], ">>": ["shift_right", "<<"], "==": ["equal", "!="], "!=": ["unequal", "=="],
          "<": ["less", "<=", ">="], "<=": ["less_equal", "<", ">"], ">": ["greater", ">=", "<="],
          ">=": ["greater_equal", ">", "<"]}
ASSIGN = {"+=": ["assign_add", "-="], "-=": ["assign_subtract", "+="], "*=": ["assign_multiply", "/="],
          "/=": ["assign_divide", "*="], "&=": ["assign_and", "|="], "|=": ["assign_or", "&="],
          "^=": ["assign_xor", "|="], "<<=": ["assign_shift_left", ">>="], ">>=": ["assign_shift_right", "<<="]}
UNARY = {"-": "negate", "~": "complement", "!": "opposite"}
NUMBER = re.compile(r"(0[xX][0-9a-fA-F']+(\.[0-9a-fA-F']*)?([pP][-+]?\d+)?|[0-9']+(\.[0-9']*)?([eE][-+]?\d+)?)"
                    r"[uUlLfFzZ]*$")
ALONE = {Kind.STATIC_ASSERT, Kind.ENUM_DECL, Kind.TYPE_ALIAS_DECL, Kind.DECL_REF_EXPR, Kind.TEMPLATE_REF,
         Kind.TYPE_REF, Kind.ALIGNED_ATTR}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.FUNCTION_TEMPLATE, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR,
             Kind.CONVERSION_FUNCTION}
ARITHMETIC = {getattr(cindex.TypeKind, name) for name in
              ("BOOL CHAR_U UCHAR CHAR16 CHAR32 USHORT UINT ULONG ULONGLONG UINT128 CHAR_S SCHAR WCHAR SHORT INT "
               "LONG LONGLONG INT128 FLOAT DOUBLE LONGDOUBLE ENUM").split()}


class Site:
    """One place: its range in the source, and what it may become there."""

    def __init__(self, start, end, parts, function, original, changes, constant):
        self.start, self.end = start, end
        self.constant = constant  # in a constexpr function or a member's initializer: may be a constant
        self.parts = parts  # ranges of the operands
        self.function, self.original, self.changes = function, original, changes
        self.first_id = 0


def is_arithmetic(cursor):
    return cursor.type.get_canonical().kind in ARITHMETIC


def is_comparable(cursor):
    return is_arithmetic(cursor) or cursor.type.get_canonical().kind == cindex.TypeKind.POINTER


class Finder:
    def __init__(self, path, arguments):
        with open(path, "rb") as file:
            self.source = file.read()
        index = cindex.Index.create()
        self.unit = index.parse(str(path), args=arguments)
        broken = [d for d in self.unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if broken:
            raise SystemExit(f"mutate-core: {path} does not compile with clang 14: {broken[0]}")
        self.path = str(path)
        self.sites = []
        self.constant = False

    def range_of(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def text(self, start, end):
        return self.source[start:end].decode()

    def find(self):
        for cursor in self.unit.cursor.get_children():
            start = cursor.extent.start
            if start.file is not None and start.file.name == self.path:
                self.visit(cursor)
        known = {}  # an initializer list is visited in two forms
        for site in self.sites:
            known.setdefault((site.start, site.end, site.function), site)
        return sorted(known.values(), key=lambda site: (site.start, -site.end))

    def visit(self, cursor):
        if cursor.kind in ALONE:
            return
        children = list(cursor.get_children())
        start, end = self.range_of(cursor)
        if cursor.kind == Kind.VAR_DECL:
            head = self.text(start, max(start, cursor.location.offset))
            if "constexpr" in head or "consteval" in head or "constinit" in head:
                return
            if cursor.semantic_parent.kind in (Kind.NAMESPACE, Kind.TRANSLATION_UNIT):
                return
        if cursor.kind == Kind.CASE_STMT:
            children = children[1:]
        if cursor.kind == Kind.IF_STMT and re.match(r"if\s+constexpr", self.text(start, end)):
            children = children[1:]
        if cursor.kind == Kind.FOR_STMT:
            children = self.without_step(children, start, end)
        outside = self.constant
        if cursor.kind in FUNCTIONS:
            self.constant = bool(re.search(r"\bconst(expr|eval)\b", self.text(start, max(start, cursor.location.offset))))
        if cursor.kind == Kind.FIELD_DECL:
            self.constant = True  # its initializer is part of constructors that may be constant
        self.add_site(cursor, children, start, end)
        for child in children:
            self.visit(child)
        self.constant = outside

    def without_step(self, children, start, end):
        """Of a for loop, all but what stands behind the second semicolon of its head."""
        depth, semicolons, second, close = 0, 0, end, end
        for token in self.unit.get_tokens(extent=self.extent(start, end)):
            depth += {"(": 1, ")": -1}.get(token.spelling, 0)
            if depth == 0 and token.spelling == ")":
                close = token.extent.start.offset
                break
            if depth == 1 and token.spelling == ";":
                semicolons += 1
                if semicolons == 2:
                    second = token.extent.start.offset
        return [c for c in children if not second < c.extent.start.offset < close]

    def extent(self, start, end):
        file = self.unit.get_file(self.path)
        return cindex.SourceRange.from_locations(cindex.SourceLocation.from_offset(self.unit, file, start),
                                                 cindex.SourceLocation.from_offset(self.unit, file, end))

    def add(self, start, end, parts, function, original, changes):
        self.sites.append(Site(start, end, parts, function, original, changes, self.constant))

    def add_site(self, cursor, children, start, end):
        ranges = [self.range_of(child) for child in children]
        if cursor.kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR) and len(ranges) == 2:
            self.add_binary(cursor, children, ranges, start, end)
        elif cursor.kind == Kind.UNARY_OPERATOR and len(ranges) == 1 and is_arithmetic(children[0]):
            sign = self.text(start, ranges[0][0]).strip()
            if sign in UNARY and ranges[0][1] == end:
                self.add(start, end, ranges, UNARY[sign], sign, ["without it"])
        elif cursor.kind in (Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL, Kind.CXX_BOOL_LITERAL_EXPR):
            text = self.text(start, end)
            if NUMBER.match(text):
                change = "doubled" if cursor.kind == Kind.FLOATING_LITERAL else "the next number"
                self.add(start, end, [(start, end)], "literal", text, [change])
            elif text in ("true", "false"):
                self.add(start, end, [(start, end)], "literal", text, ["the other"])

    def add_binary(self, cursor, children, ranges, start, end):
        (left_start, left_end), (right_start, right_end) = ranges
        if not start == left_start < left_end <= right_start < right_end == end:
            return  # out of a macro
        sign = re.sub(r"//[^\n]*|/\*.*?\*/", "", self.text(left_end, right_start)).strip()
        if sign in ("&&", "||") and all(is_comparable(c) for c in children):
            self.add(start, end, ranges, sign, sign, ["||" if sign == "&&" else "&&"])
            return
        table = ASSIGN if cursor.kind == Kind.COMPOUND_ASSIGNMENT_OPERATOR else BINARY
        if sign not in table:
            return
        allowed = is_comparable if sign in ("==", "!=", "<", "<=", ">", ">=") else is_arithmetic
        if not all(allowed(child) for child in children):
            return
        self.add(start, end, ranges, table[sign][0], sign, table[sign][1:])


def render(source, sites):
    """The source with a call of mutants.h at every site. `sites` is sorted, outer ones first."""
    position = 0

    def between(start, end):
        nonlocal position
        parts, at = [], start
        while position < len(sites) and sites[position].start < end:
            site = sites[position]
            position += 1
            parts.append(source[at:site.start])
            parts.append(call(site))
            at = site.end
        parts.append(source[at:end])
        return b"".join(parts)

    def call(site):
        number = str(site.first_id).encode() if site.constant else b"packcheck_mutants::id(%d)" % site.first_id
        if site.function == "literal":
            return b"packcheck_mutants::literal(" + number + b", " + source[site.start:site.end] + b")"
        operands = [between(start, end) for start, end in site.parts]
        if len(operands) == 1:
            return b"packcheck_mutants::" + site.function.encode() + b"(" + number + b", " + operands[0] + b")"
        gap = source[site.parts[0][1]:site.parts[1][0]].replace(site.original.encode(), b"", 1)
        if site.function in ("&&", "||"):  # De Morgan's law: the other operator, and as lazy
            active = b"packcheck_mutants::active(" + number + b")"
            return (b"static_cast<bool>(" + active + b" ^ ((" + active + b" ^ static_cast<bool>(" + operands[0] + b")) " +
                    site.function.encode() + gap + b" (" + active + b" ^ static_cast<bool>(" + operands[1] + b"))))")
        return (b"packcheck_mutants::" + site.function.encode() + b"(" + number + b", " + operands[0] + b"," + gap +
                operands[1] + b")")

    return between(0, len(source))
