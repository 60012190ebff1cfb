// Laws of tensor files. The oracle is properties/oracles/file_oracle.h.
#include <charconv>
#include <set>

#include "properties/cases/cases.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/oracles/file_oracle.h"

namespace packcheck {
namespace {

using oracle::FileAnswer;
using oracle::Soundness;

/// A listing, or the part of it that people read.
std::string shown(std::string_view listing) {
  constexpr std::size_t kMost = 2000;
  std::string text(listing.substr(0, kMost));
  if (listing.size() > kMost) text += "…";
  return text;
}

std::string input_of(const FileCase& c) {
  std::string text(file_kind_name(c.kind));
  text.append(" file of ").append(std::to_string(c.bytes.size())).append(" bytes");
  return text;
}

std::string place_of(const FileCase& c, std::string_view reason) {
  std::string place(file_kind_name(c.kind));
  if (!reason.empty()) place.append(" ").append(reason);
  return place;
}

Verdict check_total(Subject& subject, const FileCase& c) {
  const Answer<std::string> answer = call_read_tensors(subject, file_kind_name(c.kind), c.bytes);
  if (answer.outcome != Outcome::refused)
    if (auto verdict = unanswered(answer, file_kind_name(c.kind), input_of(c))) return *verdict;
  Judge judge;
  judge.add_checked(1);
  return std::move(judge).verdict();
}

Verdict check_sound(Subject& subject, const FileCase& c) {
  const FileAnswer expected = oracle::read_file(file_kind_name(c.kind), c.bytes);
  if (expected.soundness != Soundness::sound && expected.soundness != Soundness::choice)
    return not_applicable("no sound file: " + expected.reason);
  const std::string place = place_of(c, expected.reason);
  const Answer<std::string> actual = call_read_tensors(subject, file_kind_name(c.kind), c.bytes);
  const bool may_refuse = expected.soundness == Soundness::choice && actual.outcome == Outcome::refused;
  if (!may_refuse)
    if (auto verdict = unanswered(actual, place, input_of(c))) return *verdict;
  Judge judge;
  judge.add_checked(1);
  if (!may_refuse && oracle::sorted_listing(actual.value) != oracle::sorted_listing(expected.listing))
    judge.broken({place, input_of(c), shown(expected.listing), shown(actual.value),
                  "The reader does not say what the file says."});
  return std::move(judge).verdict();
}

Verdict check_unsound(Subject& subject, const FileCase& c) {
  const FileAnswer expected = oracle::read_file(file_kind_name(c.kind), c.bytes);
  if (expected.soundness != Soundness::unsound) return not_applicable("no unsound file");
  const Answer<std::string> actual = call_read_tensors(subject, file_kind_name(c.kind), c.bytes);
  Judge judge;
  judge.add_checked(1);
  if (actual.outcome == Outcome::refused) return std::move(judge).verdict();
  const std::string place = place_of(c, expected.reason);
  if (!actual.ok()) return *unanswered(actual, place, input_of(c));
  judge.broken({place, input_of(c), "a refusal: " + expected.reason, shown(actual.value),
                "What a loader does with this file is anybody's guess."});
  return std::move(judge).verdict();
}

/// The listing of what is to be written, up to the data.
std::string_view lines_of(const std::string& contents) {
  return std::string_view(contents).substr(0, contents.find("\ndata\n") + 1);
}

Verdict check_written(Subject& subject, const FileCase& c) {
  const FileAnswer given = oracle::read_file(file_kind_name(c.kind), c.bytes);
  if (given.soundness != Soundness::sound) return not_applicable("no sound file to write");
  const Answer<Bytes> file = call_write_tensors(subject, file_kind_name(c.kind), given.contents);
  if (auto verdict = unanswered(file, place_of(c, {}), shown(lines_of(given.contents)))) return *verdict;
  Judge judge;
  judge.add_checked(1);
  const FileAnswer written = oracle::read_file(file_kind_name(c.kind), file.value);
  if (written.soundness != Soundness::sound)
    judge.broken({place_of(c, written.reason), shown(lines_of(given.contents)), "a sound file",
                  std::to_string(file.value.size()) + " bytes that are not: " + written.reason,
                  "Other readers refuse this file."});
  else if (written.contents != given.contents &&
           oracle::sorted_contents(written.contents) != oracle::sorted_contents(given.contents))
    judge.broken({place_of(c, "other contents"), shown(lines_of(given.contents)), shown(lines_of(given.contents)),
                  shown(lines_of(written.contents)), "The file says something else, or has other data."});
  return std::move(judge).verdict();
}

Verdict check_read_back(Subject& subject, const FileCase& c) {
  const FileAnswer given = oracle::read_file(file_kind_name(c.kind), c.bytes);
  if (given.soundness != Soundness::sound) return not_applicable("no sound file to write");
  const std::string input = shown(lines_of(given.contents));
  const Answer<Bytes> file = call_write_tensors(subject, file_kind_name(c.kind), given.contents);
  if (auto verdict = unanswered(file, place_of(c, {}), input)) return *verdict;
  const Answer<std::string> listing = call_read_tensors(subject, file_kind_name(c.kind), file.value);
  if (auto verdict = unanswered(listing, place_of(c, "read back"), input)) return *verdict;
  Judge judge;
  judge.add_checked(1);
  if (oracle::contents_of(listing.value, file.value) != oracle::sorted_contents(given.contents))
    judge.broken({place_of(c, "read back"), input, input, shown(listing.value),
                  "The subject's own reader gets other names, types, shapes, metadata or data."});
  return std::move(judge).verdict();
}

}  // namespace

std::vector<Law> file_laws() {
  const auto reading = variants_of(Operation::read_tensors);
  const auto writing = variants_of(Operation::write_tensors);
  return {
      make_law<FileCase>("file.reading_is_total", "Reading any bytes as a tensor file gives a listing or a refusal.",
                         {Operation::read_tensors}, file_cases, reading, check_total),
      make_law<FileCase>("file.sound_files_are_read_as_they_say",
                         "A sound tensor file is read, with the names, types, shapes, places and metadata it says.",
                         {Operation::read_tensors}, file_cases, reading, check_sound),
      make_law<FileCase>("file.unsound_files_are_refused",
                         "A tensor file that contradicts itself or its format is refused.", {Operation::read_tensors},
                         file_cases, reading, check_unsound),
      make_law<FileCase>("file.what_is_written_is_sound_and_complete",
                         "A written tensor file is sound, and says and holds what was to be written.",
                         {Operation::write_tensors}, file_cases, writing, check_written),
      make_law<FileCase>("file.what_is_written_is_read_back",
                         "The subject reads back from its own file what it wrote, data included.",
                         {Operation::read_tensors, Operation::write_tensors}, file_cases,
                         variants_of(Operation::read_tensors, Operation::write_tensors), check_read_back)};
}

}  // namespace packcheck
