#include "subjects/process/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "subjects/process/messages.h"

namespace packcheck {
namespace {

constexpr const char* kEntryPoint = "packcheck_subject_v1";

/// What the first version of the table ended with; later functions are appended.
constexpr std::size_t kFirstVersionSize =
    offsetof(packcheck_subject, affine_dequantize) + sizeof(packcheck_subject::affine_dequantize);

Result<packcheck_subject> find_table(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return refuse(std::string("cannot be loaded: ") + dlerror(), {}, "a shared library");
  void* const symbol = dlsym(library, kEntryPoint);
  if (symbol == nullptr) return refuse("no entry point", kEntryPoint, "an exported function of packcheck/subject.h");
  const auto entry = reinterpret_cast<const packcheck_subject* (*)()>(symbol);
  const packcheck_subject* const table = entry();
  if (table == nullptr) return refuse("returned NULL", kEntryPoint, "a table");
  if (table->struct_size < kFirstVersionSize)
    return refuse("struct_size is " + std::to_string(table->struct_size), kEntryPoint,
                  "sizeof(packcheck_subject), " + std::to_string(kFirstVersionSize) + " or more");
  packcheck_subject copy{};
  std::memcpy(&copy, table, std::min(table->struct_size, sizeof copy));
  return copy;
}

Result<void> add_declarations(const packcheck_subject& table, SubjectInfo& info) {
  if (table.declarations == nullptr) return refuse("declarations is NULL", kEntryPoint, "lines that end with NULL");
  for (const char* const* line = table.declarations; *line != nullptr; ++line)
    if (auto ok = add_declaration(info, *line); !ok) return tl::unexpected(ok.error());
  return {};
}

Result<void> check_functions(const packcheck_subject& table, const SubjectInfo& info) {
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    const auto operation = static_cast<Operation>(i);
    const std::string name(operation_name(operation));
    const bool function = has_function(table, operation);
    if (info.offers(operation) && !function) return refuse(name + " is declared but NULL", kEntryPoint, "its function");
    if (!info.offers(operation) && function)
      return refuse(name + " is not declared", kEntryPoint, "a declaration of each variant it has");
  }
  return {};
}

}  // namespace

bool has_function(const packcheck_subject& table, Operation operation) {
  switch (operation) {
    case Operation::convert: return table.convert != nullptr;
    case Operation::quantize: return table.quantize != nullptr;
    case Operation::dequantize: return table.dequantize != nullptr;
    case Operation::repack: return table.repack != nullptr;
    case Operation::print: return table.print != nullptr;
    case Operation::parse: return table.parse != nullptr;
    case Operation::pack: return table.pack != nullptr;
    case Operation::unpack: return table.unpack != nullptr;
    case Operation::affine_dequantize: return table.affine_dequantize != nullptr;
    case Operation::repack_tensor: return table.repack_tensor != nullptr;
    case Operation::requantize_tensor: return table.requantize_tensor != nullptr;
    case Operation::load_tensor: return table.load_tensor != nullptr;
    case Operation::read_tensors: return table.read_tensors != nullptr;
    case Operation::write_tensors: return table.write_tensors != nullptr;
    case Operation::import_graph: return table.import_graph != nullptr;
    case Operation::export_graph: return table.export_graph != nullptr;
    case Operation::infer_shape: return table.infer_shape != nullptr;
    case Operation::execute: return table.execute != nullptr;
    case Operation::execute_backward: return table.execute_backward != nullptr;
    case Operation::affine_matmul: return table.affine_matmul != nullptr;
    case Operation::affine_gate_up: return table.affine_gate_up != nullptr;
    case Operation::run_network: return table.run_network != nullptr;
    case Operation::export_network: return table.export_network != nullptr;
    case Operation::import_network: return table.import_network != nullptr;
  }
  return false;
}

Result<Library> load_library(const std::string& path) {
  const Result<packcheck_subject> table = find_table(path);
  if (!table) return tl::unexpected(table.error());
  const packcheck_subject& t = *table;
  if (t.name == nullptr || t.version == nullptr) return refuse("name or version is NULL", kEntryPoint, "both");
  Library library{*table, {t.name, t.version, {}}};
  if (auto ok = check_name_and_version(library.info.name, library.info.version); !ok) return tl::unexpected(ok.error());
  if (auto ok = add_declarations(t, library.info); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_functions(t, library.info); !ok) return tl::unexpected(ok.error());
  return library;
}

}  // namespace packcheck
