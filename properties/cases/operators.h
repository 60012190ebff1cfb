// properties/cases/operators.h: requests about operators of a graph as cases.
#pragma once

#include "properties/case.h"
#include "subjects/operator_calls.h"

namespace packcheck {

/// A question about a shape, of type ShapeRequest. Variant: the rule, "conv2d:java". Most are sound; some have one
/// number, axis or shape changed; some hold a number that no tensor has.
extern const CaseType& shape_cases;

/// A node to run, of type NodeRequest. Variant "conv2d:f32". Small numbers, so that nothing overflows; only operators
/// that compute nothing get NaN and infinities.
extern const CaseType& node_cases;

/// A size, an attribute or a count that arithmetic goes wrong with.
inline constexpr std::int64_t kHostileNumbers[] = {0,          -1,          2147483647,   2147483648, 4294967295,
                                                   4294967296, 3037000500,  INT64_MAX,    INT64_MIN,  46341,
                                                   65536,      -2147483648, INT64_MAX - 1};

class MemberReader;
/// The member "shapes" of both types. For their .cc files alone.
void read_shapes(MemberReader& members, const std::string& place, std::vector<Dimensions>& shapes);

}  // namespace packcheck
