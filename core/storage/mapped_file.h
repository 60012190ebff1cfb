// core/storage/mapped_file.h: file-backed buffers by mapping the file read-only.
//
// The one input and output of the core. A mapping lives as long as a view of it. Proved by
// tests/core/tensor_storage_test.cc with real files.
#pragma once

#include "core/storage/buffer.h"

namespace packcheck {

/// Maps the pages that hold the bytes asked for, and gives a view of the bytes, not a copy. Refuses a file that
/// cannot be opened or mapped, what is no regular file, and a region that ends past the file's end (a page past it
/// would be a fault, not a zero). A file that is cut off while it is mapped is the caller's to prevent.
class MappedFileResolver final : public BufferResolver {
 public:
  Result<ByteView> read(const FileBacked& file, std::uint64_t offset, std::uint64_t size) override;
};

}  // namespace packcheck
