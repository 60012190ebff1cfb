// core/graph/short_list.h: a list of 32-bit integers that is nearly always short, as a node's shape and inputs.
//
// Up to four elements lie in the list itself, more in a block of memory of their own: a graph of 100,000 nodes has
// neither 200,000 blocks to ask for nor their room to fault in, which is what made its import cost more a node than
// that of 10,000 (bench/graph_bench.cc). Works as a std::vector where one is read, and turns into a std::span. Proved
// by tests/core/short_list_test.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

namespace packcheck {

class ShortList {
 public:
  using value_type = std::uint32_t;
  static constexpr std::size_t kInPlace = 4;

  ShortList() = default;
  ShortList(std::initializer_list<std::uint32_t> values) { assign({values.begin(), values.size()}); }
  /// Implicit, so that a vector or a span can be given where a list belongs.
  ShortList(std::span<const std::uint32_t> values) { assign(values); }
  ShortList(const ShortList& other) { assign(other); }
  ShortList(ShortList&& other) noexcept { take(other); }
  ShortList& operator=(const ShortList& other) {
    if (this != &other) assign(other);
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~ShortList() { release(); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint32_t* data() { return in_place() ? place_.few.data() : place_.many; }
  [[nodiscard]] const std::uint32_t* data() const { return in_place() ? place_.few.data() : place_.many; }
  [[nodiscard]] std::uint32_t* begin() { return data(); }
  [[nodiscard]] std::uint32_t* end() { return data() + size_; }
  [[nodiscard]] const std::uint32_t* begin() const { return data(); }
  [[nodiscard]] const std::uint32_t* end() const { return data() + size_; }
  [[nodiscard]] std::uint32_t back() const { return data()[size_ - 1]; }
  [[nodiscard]] std::uint32_t& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] const std::uint32_t& operator[](std::size_t i) const { return data()[i]; }

  void clear() { size_ = 0; }
  void push_back(std::uint32_t value) {
    if (size_ == capacity_) grow(std::size_t{2} * capacity_);
    data()[size_++] = value;
  }
  /// New elements are 0.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    if (size > size_) std::fill(data() + size_, data() + size, 0U);
    size_ = static_cast<std::uint32_t>(size);
  }

  friend bool operator==(const ShortList& one, const ShortList& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end());
  }

 private:
  [[nodiscard]] bool in_place() const { return capacity_ == kInPlace; }

  void assign(std::span<const std::uint32_t> values) {
    if (values.size() > capacity_) grow(values.size());
    std::copy(values.begin(), values.end(), data());
    size_ = static_cast<std::uint32_t>(values.size());
  }
  void grow(std::size_t capacity) {
    auto* const block = new std::uint32_t[capacity];
    std::copy(begin(), end(), block);
    release();
    place_.many = block;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  void release() {
    if (!in_place()) delete[] place_.many;
    capacity_ = kInPlace;
  }
  /// The list must have no block; `other` is empty afterwards.
  void take(ShortList& other) {
    place_ = other.place_;
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(kInPlace));
  }

  union Place {
    std::array<std::uint32_t, kInPlace> few;
    std::uint32_t* many;
  };
  Place place_{};
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInPlace;
};

}  // namespace packcheck
