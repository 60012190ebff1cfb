// The options of `ask` and `explain`.
#include "cli/arguments.h"
#include "core/format/dialect.h"

namespace packcheck {
namespace {

std::string dialect_list() {
  std::string names;
  for (const ConvertDialect& dialect : all_convert_dialects())
    names.append(names.empty() ? "" : ", ").append(dialect.name);
  return names;
}

void add_conversion(CLI::App* c, AskOptions& o) {
  c->add_option("--from", o.from, "source format");
  c->add_option("--to", o.to, "target format");
  c->add_option("--round", o.round,
                "nearest-even (the default), nearest-away, nearest-up, toward-zero, upward, downward, stochastic");
  c->add_option("--random-bits", o.random_bits, "of stochastic rounding: 64 bits in hex, rounds up if below the rest");
  c->add_flag("--saturate", o.saturate, "numbers past the largest, infinity too, become the largest");
  c->add_option("--integer", o.integer, "what no integer holds: saturate (the default), wrap, refuse, indefinite");
  c->add_option("--nan", o.nan, "quieted (the default), same, truncated, infinity, zero");
  c->add_option("--subnormal", o.subnormal, "kept (the default), flushed, truncated");
  c->add_option("--dialect", o.dialect, "the rules of a system: " + dialect_list());
}

}  // namespace

void add_limits(CLI::App* command, std::string& timeout, std::string& memory) {
  command->add_option("--call-timeout", timeout, "longest time for one call of a subject")->capture_default_str();
  command->add_option("--call-memory", memory, "most memory a subject may grow by")->capture_default_str();
}

void add_ask(CLI::App& app, AskOptions& o, std::function<int()>& run) {
  CLI::App* c = app.add_subcommand("ask", "One answer from a subject, in bits.");
  c->footer(
      "Examples:\n"
      "  packcheck ask convert --from f32 --to bf16 0x3F880001\n"
      "  packcheck ask convert --from f32 --to e4m3fn --saturate 0x44000000\n"
      "  packcheck ask convert --from f32 --to i8 --dialect skainet --integer wrap 0x43960000\n"
      "  packcheck ask repack --from f16 --to f32 0x7C01\n"
      "  packcheck ask quantize q8_0:ggml 0x41000000,0x3F800000,...   (a whole block of 32)\n"
      "  packcheck ask dequantize q4_0:ggml 00b000000000000000000000000000000000\n"
      "  packcheck ask print 0x0000000000030301\n"
      "  packcheck ask parse 9.7517E-319\n"
      "  packcheck ask pack conv2d kernel_h=3 kernel_w=3 stride=1\n"
      "  packcheck ask unpack conv2d 0x0000000000030301\n"
      "  packcheck ask repack_tensor 'dense(bf16)' 'target=dense(f32)' shape=1,2 bytes=803f0040\n"
      "  packcheck ask requantize_tensor 'dense(f32)' target=q8_0:ggml shape=1,32 from=weights.bin\n"
      "  packcheck ask load_tensor q8_0:ggml form=dequantize 'target=dense(f32)' handle=file from=block.bin\n"
      "  packcheck ask read_tensors gguf model.gguf\n"
      "  packcheck ask write_tensors safetensors 'tensor =w F32 2 0 8' bytes=0000803f00000040 out=w.safetensors\n"
      "  packcheck ask import_graph ysgp:lossless @graph.json\n"
      "  packcheck ask shape conv2d 1x3x224x224 64x3x7x7 --stride 2 --padding 3");
  c->add_option(
       "operation", o.operation,
       "convert repack quantize dequantize print parse pack unpack affine_dequantize import_graph export_graph "
       "repack_tensor requantize_tensor load_tensor read_tensors write_tensors shape execute execute_backward "
       "affine_matmul affine_gate_up run_network export_network import_network")
      ->required();
  c->add_option("arguments", o.arguments, "bits as hex, text, shapes, or NAME=VALUE; @FILE for the text of a file");
  add_conversion(c, o);
  for (const char* field : {"kernel", "stride", "padding", "dilation", "groups"})
    c->add_option_function<std::string>(
        std::string("--") + field,
        [&o, field](const std::string& value) {
          const std::size_t space = value.substr(0, 1) == " " ? 1 : 0;  // see words_of in main.cc
          o.fields.push_back(std::string(field) + "=" + value.substr(space));
        },
        "of a shape: VALUE, or HEIGHT,WIDTH");
  c->add_option("--subject", o.subject, kSubjectHelp)->capture_default_str();
  add_limits(c, o.call_timeout, o.call_memory);
  c->add_flag("--json", o.json, "print JSON: bits, text, error");
  c->callback([&run, &o] {
    for (std::string& argument : o.arguments)
      if (argument.size() > 1 && argument[0] == ' ' && argument[1] == '-') argument.erase(0, 1);
    run = [&o] { return run_ask(o); };
  });
}

void add_explain(CLI::App& app, ExplainOptions& o, std::function<int()>& run) {
  CLI::App* c = app.add_subcommand("explain", "What a value is as a double, as bits, as packed fields; who loses it.");
  c->footer("Example: packcheck explain 9.7517E-319 --op conv2d");
  c->add_option("value", o.value, "a JSON number, bits in hex, an integer, NaN, Infinity or -Infinity")->required();
  c->add_option("--op", o.op, "fields of this operator only: conv2d, or conv2d:gen3 (`packcheck layouts`)");
  c->add_flag("--json", o.json, "print JSON");
  c->callback([&run, &o] {
    if (o.value.size() > 1 && o.value[0] == ' ' && o.value[1] == '-') o.value.erase(0, 1);
    run = [&o] { return run_explain(o); };
  });
}

}  // namespace packcheck
