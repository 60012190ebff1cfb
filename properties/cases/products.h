// properties/cases/products.h: requests for products with packed weights.
#pragma once

#include "properties/case.h"
#include "subjects/product_calls.h"

namespace packcheck {

/// The same kind of request three times: with one matrix, with gate and up, and with two of which mostly something does
/// not fit. Variant "affine4:f32", named for the bits of a code.
struct ProductCase {
  ProductRequest request;
};
extern const CaseType& product_cases;
extern const CaseType& gate_up_cases;
extern const CaseType& unsound_product_cases;

}  // namespace packcheck
