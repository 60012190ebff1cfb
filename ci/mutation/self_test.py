#!/usr/bin/python3
"""Rewrites a small source, builds it once, and runs every mutant: each must do what its row says, and nothing else.

Usage: self_test.py COMPILER. Exit status 77 where the Python bindings of libclang are missing.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    from build import MutatedCore
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from rewrite import render

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = """#include <cstdio>
namespace packcheck {
enum class Kind { none = 3, some = 4 };
constexpr int kSize = 2 + 2;
static_assert(kSize == 4);
constexpr int twice(int a) { return a * 2; }
int table[kSize] = {twice(1), 0, 0, 0};
template <int N> struct Cells { int at[N]; };
struct Rule { int on = 1; };
constexpr Rule kRule{};
bool called(int& calls) { ++calls; return true; }
template <int N> int plus(int a) { return a + N; }
int f(int a, int b, int& calls) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += a;
  if (a < b && called(calls)) sum = sum - 1;
  switch (a) {
    case 7: return -1;
    default: break;
  }
  if constexpr (kSize > 100) return 0;
  const Cells<3> cells{{kRule.on, Rule{}.on}};
  sum = sum | (cells.at[0] ^ cells.at[1]);
  const unsigned char small{5};
  const double half = 0x1p-1;
  return plus<1>(sum) + small + static_cast<int>(half * 4.0) + (~a &
      0xF);
}
}
int main() {
  int calls = 0;
  const int value = packcheck::f(2, 5, calls);
  std::printf("%d %d %d", value, calls, packcheck::table[0]);
}
"""
ORIGINAL = "26 1 2"
# What a mutant prints that is known by hand.
KNOWN = {"`&&` becomes `||`": "26 0 2", "`~` becomes without it": "15 1 2", "`+=` becomes `-=`": "14 1 2",
         "`&` becomes `|`": "12 1 2", "`<` becomes `>=`, 2.": None}


def main():
    compiler = sys.argv[1]
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "core").mkdir()
        (folder / "core" / "sample.cc").write_text(SOURCE)
        core = MutatedCore(folder, folder / "build", lambda text: None)
        core.find(["core/sample.cc"])
        mutants = core.number()
        written = render(core.sources["core/sample.cc"], [s for s in core.sites["core/sample.cc"] if not s.bare]).decode()
        (folder / "mutated.cc").write_text(written)
        if written.count("\n") != SOURCE.count("\n"):
            failures.append("the lines have other numbers")
        for constant in ("none = 3", "kSize = 2 + 2", "kSize == 4", "template <int N>", "case 7:", "kSize > 100",
                         "++i)", "plus<1>", "Cells<3>"):
            if constant not in written:
                failures.append(f"'{constant}' was not left alone")
        subprocess.run([compiler, "-std=c++20", "-O1", "-w", "-Wno-narrowing", "-include", HERE / "mutants.h",
                        "mutated.cc", HERE / "mutants.cc", "-o", "mutated"], cwd=folder, check=True)

        def prints(mutant):
            ran = subprocess.run([folder / "mutated"], env={"PACKCHECK_MUTANT": str(mutant)}, capture_output=True,
                                 text=True, timeout=60)
            return ran.stdout

        if prints(0) != ORIGINAL:
            failures.append(f"without a mutant: {prints(0)}")
        same = []
        for mutant in mutants:
            printed = prints(mutant.id)
            expected = KNOWN.get(mutant.change)
            if expected is not None and printed != expected:
                failures.append(f"{mutant.key}: {printed}, expected {expected}")
            if printed == ORIGINAL:
                same.append(mutant.key)
        for change in (change for change, expected in KNOWN.items() if expected):
            if not any(m.change == change for m in mutants):
                failures.append(f"no mutant '{change}'")
        seen = folder / "seen"
        seen.write_bytes(bytes(len(mutants) + 2))
        subprocess.run([folder / "mutated"], env={"PACKCHECK_MUTANTS_SEEN": str(seen)}, capture_output=True)
        reached = sum(seen.read_bytes())
        if reached != len(mutants) - 5:
            failures.append(f"{reached} of {len(mutants)} are seen; only those of `twice`, `return -1`, `return 0` are not")
        if len(same) > len(mutants) // 3:
            failures.append(f"{len(same)} of {len(mutants)} mutants change nothing: {same}")
    print("\n".join(failures) or f"{len(mutants)} mutants do what they say")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
