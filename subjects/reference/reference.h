// subjects/reference: the core as a subject, and its faulty twins.
//
// The reference offers every operation of the contract in every variant the core knows. Its rules
// are data; a faulty twin is the same code with one rule changed (twins.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/affine/affine.h"
#include "core/affine/matmul.h"
#include "core/encoding/encoding.h"
#include "core/file/tensor_file.h"
#include "core/format/convert.h"
#include "core/graph/exec.h"
#include "core/graph/graph.h"
#include "core/graph/shape_rules.h"
#include "core/params/layout.h"
#include "core/precision/network.h"
#include "core/storage/repack.h"
#include "core/storage/storage_rules.h"
#include "core/text/number_text.h"
#include "subjects/subject.h"

namespace packcheck {

/// Every choice the reference makes; the defaults are right.
struct ReferenceRules {
  ReferenceRules();

  void (*convert)(ConvertRules&) = nullptr;  ///< changes the rules that a call asks for
  std::vector<Encoding> encodings;           ///< copies of the registry's rows
  std::vector<Layout> pack_layouts;          ///< copies of the registry's rows
  std::vector<Layout> unpack_layouts;
  PackRules pack;
  UnpackRules unpack;
  PrintRules print;
  ParseRules parse;
  AffineRules affine;
  ProductRules product;
  GraphRules graph;
  PrecisionRules precision;
  RepackPath repack = RepackPath::direct;
  StorageRules storage;
  FileRules file;
  bool keeps_answers = false;  ///< a copy of every answer is kept for good: a leak
  ShapeRules shape;
  ExecRules exec;

  /// Whether the answers to `operation` in `variant` may be others than those of the right rules.
  [[nodiscard]] bool touch(Operation operation, std::string_view variant) const;
  [[nodiscard]] bool are_right() const;
};

/// The reference under `name`, with these rules, declaring what the correct reference declares: all of it where
/// the rules are right, one variant of each operation where answers are kept, else those that a changed rule may touch.
[[nodiscard]] std::unique_ptr<Subject> make_reference(std::string name = "reference", ReferenceRules rules = {});

}  // namespace packcheck
