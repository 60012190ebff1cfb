#include "subjects/process/in_process_subject.h"

#include <utility>

#include "core/format/format.h"
#include "subjects/process/library.h"
#include "subjects/process/native_calls.h"

namespace packcheck {
namespace {

class InProcessSubject final : public Subject {
 public:
  explicit InProcessSubject(Library library) : table_(library.table), calls_(table_) {
    info_ = std::move(library.info);
  }

  Reply call(const Request& request) override { return calls_.perform(request); }

  Reply call_in_place(const RequestView& request) override {
    if (request.operation == Operation::convert && request.arguments.size() == 4 && table_.convert != nullptr)
      if (std::optional<Reply> reply = convert(request.arguments)) return std::move(*reply);
    return Subject::call_in_place(request);
  }

 private:
  /// Nothing where the library does not answer: NativeCalls then says why.
  std::optional<Reply> convert(std::span<const std::string_view> a) const {
    const std::optional<Format> from = format_named(a[0]);
    const std::optional<Format> to = format_named(a[1]);
    if (!from || !to) return std::nullopt;
    const std::string from_name(a[0]);
    const std::string to_name(a[1]);
    const std::string mode(a[2]);
    const std::size_t count = a[3].size() / spec(*from).bytes();
    Reply reply;
    std::string& out = reply.parts.emplace_back(count * spec(*to).bytes(), '\0');
    packcheck_error error{};
    const int code = table_.convert(from_name.c_str(), to_name.c_str(), mode.c_str(),
                                    reinterpret_cast<const std::uint8_t*>(a[3].data()), a[3].size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), out.size(), count, &error);
    if (code != PACKCHECK_OK) return std::nullopt;
    return reply;
  }

  const packcheck_subject table_;
  NativeCalls calls_;
};

}  // namespace

Result<std::unique_ptr<Subject>> open_in_process_subject(const std::string& path) {
  Result<Library> library = load_library(path);
  if (!library) return tl::unexpected(library.error());
  return std::make_unique<InProcessSubject>(std::move(*library));
}

}  // namespace packcheck
