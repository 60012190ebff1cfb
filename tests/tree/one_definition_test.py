#!/usr/bin/env python3
"""Each type is defined once: two structs of one name in two files link in silence, and the destructor of one frees
the other (the one-definition rule, of which no compiler here warns). Looks at every header and source of the tree."""
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
FOLDERS = ("bench", "cli", "core", "fuzz", "properties", "subjects", "tests")
OPENS = re.compile(r"^(?:inline )?namespace\s*([\w:]*)\s*\{\s*$")
CLOSES = re.compile(r"^\}\s*// namespace")
DEFINES = re.compile(r"^(?:struct|class|union|enum class|enum struct|enum)\s+([\w:]+)[^;]*\{")


def definitions(path):
    """(line, qualified name) of every type at the level of a namespace that other files can see."""
    namespaces = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if opened := OPENS.match(line):
                namespaces.append(opened[1])
            elif CLOSES.match(line):
                namespaces.pop()
            elif (defined := DEFINES.match(line)) and "" not in namespaces:
                yield number, "::".join([*namespaces, defined[1]])


def repeated(root, folders=FOLDERS):
    """Lines that name each type that two files define. Programs that are never linked together may share names."""
    seen = {}
    for folder in folders:
        for place, _, files in os.walk(os.path.join(root, folder)):
            for name in sorted(files):
                if not name.endswith((".h", ".cc")):
                    continue
                path = os.path.join(place, name)
                for number, qualified in definitions(path):
                    seen.setdefault(qualified, []).append(f"{os.path.relpath(path, root)}:{number}")
    return [f"{name}: {', '.join(places)}" for name, places in sorted(seen.items()) if len(places) > 1]


class OneDefinition(unittest.TestCase):
    def test_of_every_type_in_the_tree(self):
        self.assertEqual(repeated(ROOT), [], "give one of them a name of its own, or an unnamed namespace")

    def test_two_of_one_name_are_told_and_hidden_ones_are_not(self):
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "core"))
            for name in ("one.h", "two.h"):
                with open(os.path.join(root, "core", name), "w", encoding="utf-8") as file:
                    file.write("namespace a::b {\nstruct Node {\n};\nnamespace {\nstruct Own {\n};\n}  // namespace\n"
                               "struct Declared;\n}  // namespace a::b\n")
            self.assertEqual(repeated(root, ["core"]), ["a::b::Node: core/one.h:2, core/two.h:2"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
