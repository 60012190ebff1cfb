// core/storage/storage_rules.h: the rules of this room as data. The defaults are right; every other choice is a bug
// of a real system, or one that was waiting to happen, and there for a faulty twin.
#pragma once

#include <cstdint>

#include "core/encoding/encoding.h"

namespace packcheck {

/// Where a view begins.
enum class ViewOffset : std::uint8_t {
  honoured,
  ignored,  ///< at the start of its buffer (SKaiNET's copyMaterialize)
  twice     ///< at twice its offset: applied by the copy, and claimed by it still
};
/// In which order a view's elements lie.
enum class ViewStrides : std::uint8_t { honoured, ignored };
/// What becomes of the logical dtype.
enum class DtypeTag : std::uint8_t {
  of_the_result,
  kept  ///< an f16 tag on f32 bytes
};
/// As what two-byte elements are read.
enum class HalfReading : std::uint8_t { declared, as_bf16 };
/// When the buffer is read.
enum class ReadTime : std::uint8_t { after_the_checks, before_the_checks };
/// What a change to the encoding that a tensor has does.
enum class EqualEncoding : std::uint8_t { same_object, encoded_again };
/// By which length a shape must divide into blocks.
enum class BlockingCheck : std::uint8_t { declared, last_dimension, volume };
/// What becomes of elements that fill no block.
enum class PartialBlock : std::uint8_t { refused, dropped };
/// What becomes of a value that the target does not have.
enum class Narrowing : std::uint8_t { refused, rounded };
/// How many rows an array in planes is taken to have.
enum class PlaneRows : std::uint8_t { of_the_shape, one };
/// Whether the loader rounds as the registry's quantizers do.
enum class LoaderRounding : std::uint8_t { registry, truncates };

struct StorageRules {
  ViewOffset offset = ViewOffset::honoured;
  ViewStrides strides = ViewStrides::honoured;
  DtypeTag tag = DtypeTag::of_the_result;
  HalfReading half = HalfReading::declared;
  CodeReading reading = CodeReading::declared;
  ReadTime read = ReadTime::after_the_checks;
  EqualEncoding equal = EqualEncoding::same_object;
  BlockingCheck blocking = BlockingCheck::declared;
  PartialBlock partial = PartialBlock::refused;
  Narrowing narrowing = Narrowing::refused;
  PlaneRows rows = PlaneRows::of_the_shape;
  LoaderRounding loader = LoaderRounding::registry;

  friend bool operator==(const StorageRules&, const StorageRules&) = default;
};

}  // namespace packcheck
