// Stored tensors: repack_tensor, requantize_tensor, load_tensor.
#include "core/storage/weight_form.h"
#include "subjects/reference/answers.h"
#include "subjects/tensor_document.h"

namespace packcheck {
namespace {

/// A file that is in memory, asked for through the counting resolver.
class DescribedFile final : public BufferResolver {
 public:
  explicit DescribedFile(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  Result<ByteView> read(const FileBacked& file, std::uint64_t offset, std::uint64_t size) override {
    return ByteView{std::span<const std::uint8_t>(bytes_).subspan(file.offset + offset, size), nullptr};
  }

 private:
  const std::vector<std::uint8_t>& bytes_;
};

BufferHandle handle_of(const DescribedTensor& t) {
  switch (t.handle) {
    case TensorHandle::owned: return owned(t.bytes);
    case TensorHandle::borrowed: return Borrowed{t.bytes};
    case TensorHandle::aliased:
      return Aliased{std::make_shared<const BufferHandle>(Borrowed{t.bytes}), t.region_offset, t.region_size};
    case TensorHandle::file: return FileBacked{"described file", t.region_offset, t.region_size};
    case TensorHandle::device: break;
  }
  // No host address: whoever reads it dies of it.
  return DeviceResident{"described device", std::uint64_t{1} << 63, t.region_size};
}

struct Question {
  DescribedTensor described;
  StoragePtr tensor;
  StorageEncoding target = StorageEncoding::dense(Format::f32);
};

Result<Question> question_of(Arguments a) {
  Result<DescribedTensor> described = read_tensor(a[0], a[1]);
  if (!described) return tl::unexpected(described.error());
  const Result<StorageEncoding> source = storage_encoding_named(described->source);
  const Result<StorageEncoding> target = storage_encoding_named(described->target);
  if (!source) return tl::unexpected(source.error());
  if (!target) return tl::unexpected(target.error());
  Question question{std::move(*described), nullptr, *target};
  const DescribedTensor& t = question.described;
  TensorStorage tensor;
  tensor.shape = t.shape;
  tensor.dtype = t.dtype;
  tensor.encoding = *source;
  tensor.byte_offset = t.offset;
  tensor.strides = t.strides;
  question.tensor = std::make_shared<const TensorStorage>(std::move(tensor));
  return question;
}

/// Puts the question with the buffer that it describes, which lies in the question.
template <class Change>
Reply answer_with(Arguments a, Change change) {
  const Result<Question> question = question_of(a);
  if (!question) return malformed(question.error().text());
  const DescribedTensor& t = question->described;
  TensorStorage with_buffer = *question->tensor;
  with_buffer.buffer = handle_of(t);
  const auto tensor = std::make_shared<const TensorStorage>(std::move(with_buffer));
  DescribedFile file(t.bytes);
  CountingResolver resolver(file);
  const Result<StoragePtr> changed = change(tensor, *question, t.resolver ? &resolver : nullptr);
  TensorAnswer answer;
  answer.reads = resolver.reads();
  if (!changed) {
    answer.message = changed.error().text();
  } else {
    answer.outcome = *changed == tensor ? TensorOutcome::same : TensorOutcome::converted;
    answer.dtype = (*changed)->dtype;
    if (*changed != tensor) answer.bytes = *std::get<Owned>((*changed)->buffer).bytes;
  }
  return answered(write_answer(answer));
}

}  // namespace

Reply answer_repack_tensor(const ReferenceRules& rules, Arguments a) {
  return answer_with(a, [&](const StoragePtr& tensor, const Question& question, BufferResolver* resolver) {
    return repack_to(tensor, question.target, resolver, rules.storage);
  });
}

Reply answer_requantize_tensor(const ReferenceRules& rules, Arguments a) {
  return answer_with(a, [&](const StoragePtr& tensor, const Question& question, BufferResolver* resolver) {
    return requantize_to(tensor, question.target, resolver, rules.storage);
  });
}

Reply answer_load_tensor(const ReferenceRules& rules, Arguments a) {
  return answer_with(
      a, [&](const StoragePtr& tensor, const Question& question, BufferResolver* resolver) -> Result<StoragePtr> {
        if (question.described.form == TensorForm::none)
          return refuse("no form", "load_tensor", "keep, dequantize or requantize");
        const auto request = static_cast<EncodingRequest>(static_cast<int>(question.described.form) - 1);
        return load_weight(*tensor, {request, question.target}, resolver, rules.storage);
      });
}

}  // namespace packcheck
