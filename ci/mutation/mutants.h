// ci/mutation/mutants.h: what the rewritten sources of core/ call instead of an operator or a literal.
//
// Every mutant is in the program at once; the environment variable PACKCHECK_MUTANT chooses one by number when the
// program starts, none by default. PACKCHECK_MUTANTS_SEEN names a file in which the byte of every mutant that was
// evaluated becomes 1. In a constant expression the original always counts. Included by the compiler's -include.
#pragma once

namespace packcheck_mutants {

extern unsigned chosen;
extern unsigned char* seen;

/// A number that no compiler takes for a constant: outside of constexpr functions nothing is folded away.
[[gnu::always_inline]] inline unsigned id(unsigned number) { return number; }

[[gnu::always_inline]] constexpr bool active(unsigned id) {
  if (__builtin_is_constant_evaluated()) return false;
  if (__builtin_expect(seen != nullptr, 0)) seen[id] = 1;
  return __builtin_expect(chosen == id, 0);
}

// NAME(id, a, b): a OPERATOR b, and the mutant's OTHER.
#define PACKCHECK_MUTANT_BINARY(NAME, OPERATOR, OTHER)                                         \
  template <class A, class B>                                                                  \
  [[gnu::always_inline]] constexpr auto NAME(unsigned id, A a, B b) -> decltype(a OPERATOR b) { \
    if (active(id)) return a OTHER b;                                                          \
    return a OPERATOR b;                                                                       \
  }
PACKCHECK_MUTANT_BINARY(add, +, -)
PACKCHECK_MUTANT_BINARY(subtract, -, +)
PACKCHECK_MUTANT_BINARY(multiply, *, /)
PACKCHECK_MUTANT_BINARY(divide, /, *)
PACKCHECK_MUTANT_BINARY(remainder, %, *)
PACKCHECK_MUTANT_BINARY(bit_and, &, |)
PACKCHECK_MUTANT_BINARY(bit_or, |, &)
PACKCHECK_MUTANT_BINARY(bit_xor, ^, |)
PACKCHECK_MUTANT_BINARY(shift_left, <<, >>)
PACKCHECK_MUTANT_BINARY(shift_right, >>, <<)
PACKCHECK_MUTANT_BINARY(equal, ==, !=)
PACKCHECK_MUTANT_BINARY(unequal, !=, ==)

// A comparison has two mutants, id and id + 1: the end belongs to the other side; the other side.
#define PACKCHECK_MUTANT_ORDER(NAME, OPERATOR, OTHER, OPPOSITE)                   \
  template <class A, class B>                                                     \
  [[gnu::always_inline]] constexpr bool NAME(unsigned id, A a, B b) {             \
    if (active(id)) return a OTHER b;                                             \
    if (active(id + 1)) return a OPPOSITE b;                                      \
    return a OPERATOR b;                                                          \
  }
PACKCHECK_MUTANT_ORDER(less, <, <=, >=)
PACKCHECK_MUTANT_ORDER(less_equal, <=, <, >)
PACKCHECK_MUTANT_ORDER(greater, >, >=, <=)
PACKCHECK_MUTANT_ORDER(greater_equal, >=, >, <)

#define PACKCHECK_MUTANT_ASSIGN(NAME, OPERATOR, OTHER)                            \
  template <class A, class B>                                                     \
  [[gnu::always_inline]] constexpr A& NAME(unsigned id, A& a, B b) {              \
    if (active(id))                                                               \
      a OTHER b;                                                                  \
    else                                                                          \
      a OPERATOR b;                                                               \
    return a;                                                                     \
  }
PACKCHECK_MUTANT_ASSIGN(assign_add, +=, -=)
PACKCHECK_MUTANT_ASSIGN(assign_subtract, -=, +=)
PACKCHECK_MUTANT_ASSIGN(assign_multiply, *=, /=)
PACKCHECK_MUTANT_ASSIGN(assign_divide, /=, *=)
PACKCHECK_MUTANT_ASSIGN(assign_and, &=, |=)
PACKCHECK_MUTANT_ASSIGN(assign_or, |=, &=)
PACKCHECK_MUTANT_ASSIGN(assign_xor, ^=, |=)
PACKCHECK_MUTANT_ASSIGN(assign_shift_left, <<=, >>=)
PACKCHECK_MUTANT_ASSIGN(assign_shift_right, >>=, <<=)

template <class A>
[[gnu::always_inline]] constexpr auto negate(unsigned id, A a) -> decltype(-a) {
  if (active(id)) return +a;
  return -a;
}
template <class A>
[[gnu::always_inline]] constexpr auto complement(unsigned id, A a) -> decltype(~a) {
  if (active(id)) return +a;
  return ~a;
}
template <class A>
[[gnu::always_inline]] constexpr bool opposite(unsigned id, const A& a) {
  const bool value = static_cast<bool>(a);
  return active(id) ? value : !value;
}
/// A literal: the next number; of a floating literal twice as much; of a truth value the other one.
template <class A>
[[gnu::always_inline]] constexpr A literal(unsigned id, A a) {
  if (!active(id)) return a;
  if constexpr (static_cast<A>(0.5) != static_cast<A>(0))
    return a == static_cast<A>(0) ? static_cast<A>(1) : static_cast<A>(a + a);
  else
    return static_cast<A>(a + 1);
}
constexpr bool literal(unsigned id, bool a) { return active(id) ? !a : a; }

}  // namespace packcheck_mutants
