// properties/case.h: one self-contained input of a law, its type erased.
//
// A case type is a struct, a generator and a lossless JSON form. All engines handle cases through
// this header, so a new case type needs no change anywhere else. Add one under properties/cases/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "properties/source.h"

namespace packcheck {

class CaseType;

/// A case of some type. Cheap to copy; never changed once made.
struct Case {
  const CaseType* type = nullptr;
  std::shared_ptr<const void> value;

  template <class T>
  [[nodiscard]] const T& as() const {
    return *static_cast<const T*>(value.get());
  }
};

/// Every input of a small domain: `total` inputs, of which one case holds a run.
struct Domain {
  std::uint64_t total = 0;
  std::uint64_t batch = 1;  ///< inputs per case; total is a multiple of it
  std::function<Case(std::uint64_t first, std::uint64_t count)> make;
  std::uint64_t weight = 1;  ///< how many small inputs one costs; a profile visits as many fewer
  bool exhaustive = true;    ///< false: designed inputs out of more than can be visited
};

class CaseType {
 public:
  explicit CaseType(std::string_view name) : name_(name) {}
  virtual ~CaseType() = default;
  CaseType(const CaseType&) = delete;
  CaseType& operator=(const CaseType&) = delete;

  /// Also the corpus family: corpus/<name>/{seed,regression,crashing}.
  [[nodiscard]] std::string_view name() const { return name_; }

  /// A case of one variant ("f32->f16", "q8_0:ggml"). The same choices give the same case.
  [[nodiscard]] virtual Case draw(Source& source, std::string_view variant) const = 0;
  /// The variant a case belongs to.
  [[nodiscard]] virtual std::string variant(const Case& c) const = 0;
  /// The whole case as one line of JSON; floats are hex bits.
  [[nodiscard]] virtual std::string to_json(const Case& c) const = 0;
  /// The inverse of to_json. Refuses missing or unknown members, wrong types and values outside their
  /// range, by name.
  [[nodiscard]] virtual Result<Case> from_json(std::string_view text) const = 0;

  /// Every input of the variant, where there are few enough to visit (up to 2^32); else, for some types,
  /// designed ones.
  [[nodiscard]] virtual std::optional<Domain> domain(std::string_view variant) const;
  /// Inputs of the variant's domain at which rules change: those that a profile visits in any case where the
  /// domain is too large for it. Nothing where the type has designed none.
  [[nodiscard]] virtual std::optional<Domain> patterns(std::string_view variant) const;
  /// In how many parts a profile's effort for one variant is cut: more than 1 where a table makes many
  /// variants from one rule, which share it.
  [[nodiscard]] virtual std::uint64_t sharers(std::string_view) const { return 1; }
  /// Simpler cases: with about half of the inputs each, or, of a single number, with a smaller one; may be empty.
  [[nodiscard]] virtual std::vector<Case> halves(const Case& c) const;
  /// Bytes of the numbers, blocks, text, file or arguments of a case; its names and shapes are not counted.
  [[nodiscard]] virtual std::size_t payload_bytes(const Case& c) const = 0;
  /// What a drawn case of the variant ought to have now and then, one in thirty at least: "a NaN", "a field outside its
  /// range". A law whose drawn cases never do is a bad test.
  [[nodiscard]] virtual std::vector<std::string_view> classes(std::string_view variant) const;
  /// Which of them a case has: bit i for the i-th.
  [[nodiscard]] virtual std::uint64_t classes_of(const Case& c) const;
  /// A case from a file in the family's wire format (JSON text, blocks); nothing if it has none.
  [[nodiscard]] virtual std::optional<Case> from_wire(std::span<const std::uint8_t> bytes,
                                                      std::string_view variant) const;
  /// The inverse: bytes from which from_wire() gives this very case; nothing if there are none.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> to_wire(const Case& c) const;

 private:
  /// Bytes that may be the case's; to_wire() tries them.
  [[nodiscard]] virtual std::optional<std::vector<std::uint8_t>> wire_bytes(const Case& c) const;
  std::string_view name_;
};

/// Every case type, by name.
[[nodiscard]] std::span<const CaseType* const> all_case_types();
[[nodiscard]] const CaseType* case_type_named(std::string_view name);

}  // namespace packcheck
