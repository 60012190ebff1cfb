// Known answers of the rules of graphs, as JSON and as bytes, and of networks (known_answers.h).
#include <array>
#include <vector>

#include "core/graph/audit_graph.h"
#include "core/graph/json_export.h"
#include "core/graph/json_import.h"
#include "core/graph/ysgp.h"
#include "core/precision/import.h"
#include "core/precision/network_text.h"
#include "core/precision/run.h"
#include "core/precision/stablehlo.h"
#include "tests/core/known_answers.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

void add(Digest& digest, const GraphErrors& errors) {
  digest.add(errors.total());
  for (const Error& error : errors.kept()) digest.add(error);
  digest.add(errors.as_one());
}

constexpr std::array<std::string_view, 5> kGraphs{
    R"({"nodes":[{"id":0,"shape":[1],"op":"exp","inputs":[1]},{"id":1,"shape":[1],"op":"leaf","data":[1.0]}]})",
    R"({"nodes":[{"id":0,"shape":[2,2],"op":"leaf","data":[[1.0,-0.0],[9.75177e-319,1.5e+300]],"scalar":-0.0},)"
    R"({"id":1,"shape":[],"op":"custom \"x\"\n\u00e9","scalar_bits":"0x7ff0000000000001","param2":0.1,"indices":[],)"
    R"("inputs":[0,0]},{"id":2,"shape":[3],"op":"addScalar","scalar":18446744073709551616,"param2":-12,)"
    R"("indices":[1,-2,2147483647],"inputs":[1]}]})",
    R"( { "nodes" : [ {"op":"l\u0065af","inputs":[],"data_bits":["0x8000000000000000","0x4059000000000000"],)"
    R"("shape":[2],"scalar_bits":"0x4014000000000000","scalar":5,"id":0} , {"id":1,"shape":[2],"op":"leaf","data":)"
    R"([-0,1E2]},{"id":2,"shape":[2],"op":"add","inputs":[0,1],"param2_bits":"0x7ff8000000000000"} ] } )",
    R"({"nodes":[{"id":0,"shape":[1],"op":"leaf","data":[1.0]},{"id":1,"shape":[1],"op":"relu","inputs":[null]},)"
    R"({"id":2,"shape":[1],"op":"exp","inputs":[3]},{"id":3,"shape":[1],"op":"exp","inputs":[2]},)"
    R"({"id":4,"shape":[1],"op":"softmaxCrossEntropy","scalar":NaN,"param2":Infinity,"inputs":[0]}]})",
    R"({"nodes":[{"id":0,"shape":[1],"op":"leaf","data":[1.5]},{"id":1,"shape":[2],"op":"relu","data":[1,2],)"
    R"("inputs":[0]},{"id":1,"id":1,"shape":[1],"op":"cat","indices":[],"scalar":1,"scalar":2,"inputs":[0,0,0]}]})"};

/// A graph with everything an exporter has to decide about.
Graph rich_graph() {
  Graph graph;
  const auto node = [&](std::string op, std::vector<std::uint32_t> inputs) -> GraphNode& {
    GraphNode& n = graph.nodes.emplace_back();
    n.id = static_cast<std::uint32_t>(graph.nodes.size() - 1);
    n.op = std::move(op);
    n.shape.push_back(2);
    for (const std::uint32_t input : inputs) n.inputs.push_back(input);
    return n;
  };
  node("leaf", {}).data = {0x3FF0000000000000U, 0x8000000000000000U};
  node("leaf", {}).data = {0x7FF0000000000000U, 0x7FF8000000000001U};
  node("add", {0, 1}).scalar = 0x8000000000000000U;
  node("relu", {kMissingInput}).param2 = 0x7FF8000000000000U;
  GraphNode& last = node("softmaxCrossEntropy", {2, 0});
  last.scalar = 0xFFF0000000000000U;
  last.param2 = 0x0000000000030201U;
  last.indices = std::vector<std::int32_t>{};
  last.shape.push_back(5);
  node("conv2d", {0, 1}).shape.push_back(9);
  node("maxpool2d", {6}).shape.push_back(4);
  node("cat", {4, 3}).indices = std::vector<std::int32_t>{1, -1};
  return graph;
}

void graphs_all(const GraphRules& rules, bool all, Digest& digest) {
  static const Graph rich = rich_graph();
  static const std::vector<std::uint8_t> binary = write_ysgp(rich);
  const std::string_view others = all ? "0-\"x],} \\" : "0";
  const std::size_t step = all ? 1 : 7;
  for (const GraphDialect& dialect : all_graph_dialects()) {
    for (const std::string_view text : kGraphs)
      for_each_edit(text, step, others, [&](std::string_view edited) {
        const GraphResult<Graph> graph = import_json(edited, dialect, rules);
        if (!graph) return add(digest, graph.error());
        digest.add(std::span<const std::uint8_t>(write_ysgp(*graph)));
        const GraphResult<std::string> written = export_json(*graph, dialect, rules);
        written ? digest.add(*written) : add(digest, written.error());
      });
    for (std::size_t n = 2; n <= rich.nodes.size(); ++n) {
      Graph part{{rich.nodes.begin(), rich.nodes.begin() + static_cast<std::ptrdiff_t>(n)}};
      const GraphResult<std::string> written = export_json(part, dialect, rules);
      written ? digest.add(*written) : add(digest, written.error());
      part.nodes[1].data = std::vector<std::uint64_t>{1, 2};
      part.nodes.erase(part.nodes.begin() + static_cast<std::ptrdiff_t>(n / 2));
      const GraphResult<std::string> shorter = export_json(part, dialect, rules);
      shorter ? digest.add(*shorter) : add(digest, shorter.error());
    }
    const std::string_view bytes(reinterpret_cast<const char*>(binary.data()), binary.size());
    for_each_edit(bytes, step, std::string_view("\0\1\x7F\xFF", 4), [&](std::string_view edited) {
      const std::span<const std::uint8_t> input(reinterpret_cast<const std::uint8_t*>(edited.data()), edited.size());
      const GraphResult<Graph> graph = read_ysgp(input, dialect, rules);
      graph ? digest.add(std::span<const std::uint8_t>(write_ysgp(*graph))) : add(digest, graph.error());
    });
  }
}

TEST(KnownAnswers, OfEveryRuleOfGraphsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 19> kKnown{{
      {"as they are", 0x6D73F31B2C449074},       {"six digits", 0xAE7187202B689290},
      {"bare data", 0x994F5C493B844995},         {"null data", 0x283DD560E6EE244F},
      {"missing dropped", 0x1DC06E6F218E0B54},   {"missing null", 0xD239735336F8B2EB},
      {"infinity dropped", 0x6521898A63B70990},  {"negative zero", 0xB2E1B27F29A918F6},
      {"last wins", 0x298B900356B3EE57},         {"from double", 0x630056EF298EBC33},
      {"labels dropped", 0xD9EBA80F12CEDA16},    {"shape of input", 0x12D141B855D3AAEC},
      {"empty dropped", 0xF602740618C02CF4},     {"flags swapped", 0x02C5EB3D9DA6D8E9},
      {"forward accepted", 0x87426137FE7B4DC0},  {"data accepted", 0x742A3235A889AFEF},
      {"scalars when free", 0xD74E6747F2A931C5}, {"comma is a point", 0xDBE7009BFE96FAAA},
      {"absent zero", 0xCBA0EF3E059ED7B8},
  }};
  using Rules = GraphRules;
  static constexpr std::array<ChangedRule<Rules>, 18> kChanges{{
      {"six digits", [](Rules& r) { r.numbers.digits = Digits::six; }},
      {"bare data", [](Rules& r) { r.data = NonFinitePrinting::bare; }},
      {"null data", [](Rules& r) { r.data = NonFinitePrinting::null; }},
      {"missing dropped", [](Rules& r) { r.missing_input = MissingInputRule::drop; }},
      {"missing null", [](Rules& r) { r.missing_input = MissingInputRule::write_null; }},
      {"infinity dropped", [](Rules& r) { r.infinity = InfinityRule::dropped; }},
      {"negative zero", [](Rules& r) { r.negative_zero = NegativeZeroRule::becomes_integer_zero; }},
      {"last wins", [](Rules& r) { r.duplicate_key = DuplicateKeyRule::last_wins; }},
      {"from double", [](Rules& r) { r.integers = IntegerReading::cast_from_double; }},
      {"labels dropped", [](Rules& r) { r.labels = LabelsRule::dropped; }},
      {"shape of input", [](Rules& r) { r.shape = ShapeExport::of_first_input; }},
      {"empty dropped", [](Rules& r) { r.empty_indices = EmptyIndices::dropped; }},
      {"flags swapped", [](Rules& r) { r.flags = FlagReading::scalar_and_param2_swapped; }},
      {"forward accepted", [](Rules& r) { r.forward_reference = ForwardReference::accept; }},
      {"data accepted", [](Rules& r) { r.data_of_operator = DataOfOperator::accept; }},
      {"scalars when free", [](Rules& r) { r.param2 = Param2Place::scalars_when_free; }},
      {"comma is a point", [](Rules& r) { r.comma = CommaReading::is_a_point; }},
      {"absent zero", [](Rules& r) { r.absent = AbsentScalar::zero; }},
  }};
  expect_known<Rules>(kChanges, kKnown, graphs_all);
}

constexpr std::array<std::string_view, 5> kNetworks{
    "network f32 2\ninput 3f812345 40023456 3e912347 bf800003\ndense 1 bf16 relu\nweights bf16 3f81 3f83\nbias bf16 "
    "3c01\nstage head f16\nstage low bf16\nactivation hard_tanh\nend\ndense 2 - -\nweights f16 3c01 "
    "b823\nend\nupstream "
    "3f812345 40434567 bf891234 3e000001\n",
    "network f16 3\ninput 3c05 4207 bc01\ndense 4 f32 leaky_relu\nweights seed 7\nactivation hard_tanh\nstage a.b-c "
    "bf16\ndense 2 f32 -\nweights seed 18446744073709551615\nbias f32 3f800007 bf800001\nend\nupstream 3c03 c001\n",
    "network bf16 1\ninput 3f83 7f80 ff81\nstage s f32\ndense 2 - hard_tanh\nweights f32 3f800001 c0490fdb\nend\n"
    "activation leaky_relu\nupstream 3f81 bf83 0001 3f85 4001 4043\n",
    "network f32 1\ninput 3f812345\ndense 1 bf16 -\nweights f32 3f812345\nbias f32 3f834567\ndense 1 - "
    "leaky_relu\nweights "
    "f32 bf812345\nupstream 3f812345\n",
    "network f32 1\ninput 3f812345\nstage a f32\ndense 1 f32 -\nweights f32 3f812345\nstage b f16\nend\nend\ndense 1 "
    "f16 "
    "-\nweights f16 3c03\nupstream 3f812345\n"};

void add_runs(Digest& digest, const Graph& graph, std::span<const std::uint64_t> upstream,
              const PrecisionRules& rules) {
  for (const AutogradPhase phase : {AutogradPhase::boundary_stops, AutogradPhase::boundary_casts}) {
    const Result<std::vector<NodeRun>> runs = run_typed(graph, upstream, phase, rules);
    if (!runs) {
      digest.add(runs.error());
      continue;
    }
    for (const NodeRun& run : *runs) {
      digest.add(run.op);
      digest.add(std::uint64_t{run.claims_gradient});
      for (const std::uint64_t value : run.values) digest.add(value);
      if (run.gradient)
        for (const std::uint64_t value : *run.gradient) digest.add(value);
    }
  }
}

void networks_all(const PrecisionRules& rules, bool all, Digest& digest) {
  const auto add_text = [&](const Result<std::string>& text) { text ? digest.add(*text) : digest.add(text.error()); };
  for (const std::string_view text : kNetworks)
    for_each_edit(text, all ? 1 : 9, all ? "0 -f\n" : "0", [&](std::string_view edited) {
      const Result<DescribedNetwork> network = read_network(edited, rules);
      if (!network) return digest.add(network.error());
      for (const PrecisionBoundary& boundary : network->network.boundaries) {
        digest.add(boundary.name);
        digest.add(boundary.bytes_copied());
      }
      const Result<Graph> graph = lower(network->network, network->input);
      if (!graph) return digest.add(graph.error());
      add_runs(digest, *graph, widened(network->network.dtype, network->upstream), rules);
      add_text(export_stablehlo(*graph, rules));
      const Result<std::string> json = export_typed_json(*graph, rules);
      add_text(json);
      if (json) add_text(import_typed_json(*json, rules));
    });
  // Edits of the exported graph.
  const DescribedNetwork first = read_network(kNetworks[0]).value();
  const std::string json = export_typed_json(lower(first.network, first.input).value()).value();
  for_each_edit(json, all ? 2 : 13, "0-", [&](std::string_view edited) { add_text(import_typed_json(edited, rules)); });
}

TEST(KnownAnswers, OfEveryRuleOfNetworksAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 18> kKnown{{
      {"as they are", 0x912804014AD75C0D},
      {"retags", 0x76AA7F0CF8456129},
      {"cast missing", 0xD5787F556A9835E4},
      {"dtype dropped", 0x2EF31C0D4C9B0432},
      {"gradient passes", 0xE531335FF1A21229},
      {"claimed through", 0xAC5EE01F7372052F},
      {"upstream retagged", 0x14A5757E5E483D29},
      {"end of stage", 0x403D6CF24E43EAD8},
      {"weights cast", 0xFFE8982901CF04BA},
      {"equal converts", 0xD0491267F35EE4AA},
      {"bf16 truncated", 0x003BB5B2D44D61CD},
      {"scope leaks", 0xDF0D708155609D2F},
      {"first row", 0xC83AFFB14B55C5F3},
      {"activation dropped", 0x63E96A764F091D7E},
      {"leaky as relu", 0xD331162C78B480B1},
      {"import dropped", 0x03B2B365A33F90A0},
      {"import widened", 0xAF2BC92591F8D0F7},
      {"mixed cast", 0x9A7AB33D3B29CB51},
  }};
  using Rules = PrecisionRules;
  static constexpr std::array<ChangedRule<Rules>, 17> kChanges{{
      {"retags", [](Rules& r) { r.boundary = BoundaryRounding::retags; }},
      {"cast missing", [](Rules& r) { r.cast_out = CastOut::missing; }},
      {"dtype dropped", [](Rules& r) { r.exported = ExportedDtype::dropped; }},
      {"gradient passes", [](Rules& r) { r.stopped = StoppedGradient::passes; }},
      {"claimed through", [](Rules& r) { r.claimed = ClaimedGradient::through_boundaries; }},
      {"upstream retagged", [](Rules& r) { r.upstream = UpstreamCast::retags; }},
      {"end of stage", [](Rules& r) { r.rounding = StageRounding::end_of_stage; }},
      {"weights cast", [](Rules& r) { r.foreign_weights = ForeignWeights::cast; }},
      {"equal converts", [](Rules& r) { r.equal = EqualBoundary::converts; }},
      {"bf16 truncated", [](Rules& r) { r.bf16 = Bf16Rounding::truncated; }},
      {"scope leaks", [](Rules& r) { r.scope = StageScope::leaks; }},
      {"first row", [](Rules& r) { r.batch = BatchRows::first; }},
      {"activation dropped", [](Rules& r) { r.activation = ExportedActivation::dropped; }},
      {"leaky as relu", [](Rules& r) { r.activation = ExportedActivation::leaky_as_relu; }},
      {"import dropped", [](Rules& r) { r.imported = ImportedDtype::dropped; }},
      {"import widened", [](Rules& r) { r.imported_weights = ImportedWeights::widened; }},
      {"mixed cast", [](Rules& r) { r.mixed = MixedLeaves::cast; }},
  }};
  expect_known<Rules>(kChanges, kKnown, networks_all);
}

TEST(KnownAnswers, OfTheGraphAuditAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0xA8CAF5B0F597B566},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    const std::string text =
        R"({"nodes":[{"id":0,"shape":[1,3,8,8],"op":"leaf"},{"id":1,"shape":[2,3,3,3],"op":"leaf"},)"
        R"({"id":2,"shape":[1,2,6,6],"op":"conv2d","scalar":9.7517E-319,"param2":3.24107E-319,"inputs":[0,1]},)"
        R"({"id":3,"shape":[1,2,3,3],"op":"maxpool2d","scalar":1.0,"inputs":[2]},)"
        R"({"id":4,"shape":[1,18],"op":"flatten","inputs":[3]},{"id":5,"shape":[10,18],"op":"leaf"},)"
        R"({"id":6,"shape":[1,10],"op":"linear","inputs":[4,5]},)"
        R"({"id":7,"shape":[],"op":"softmaxCrossEntropy","inputs":[6]}]})";
    std::string with_data = text;
    // Data of as many numbers as the shapes say.
    for (const auto& [shape, count] :
         {std::pair{"[1,3,8,8]", 192}, std::pair{"[2,3,3,3]", 54}, std::pair{"[10,18]", 180}}) {
      std::string data = std::string(shape) + ",\"op\":\"leaf\",\"data\":[0";
      for (int i = 1; i < count; ++i) data += ",0";
      const std::string before = std::string(shape) + ",\"op\":\"leaf\"";
      with_data.replace(with_data.find(before), before.size(), data + "]");
    }
    const auto add_warnings = [&](std::string_view graph) {
      const std::vector<GraphWarning> warnings = audit_graph(graph);
      digest.add(warnings.size());
      for (const GraphWarning& w : warnings) {
        digest.add(w.kind->name);
        digest.add(w.what);
        digest.add(w.where);
        digest.add(w.right);
      }
    };
    add_warnings(with_data);
    const auto with = [&](std::string_view from, std::string_view to) {
      std::string edited = with_data;
      edited.replace(edited.find(from), from.size(), to);
      add_warnings(edited);
    };
    for (const std::string_view op : {"conv2d", "maxpool2d", "linear", "flatten", "softmaxCrossEntropy"})
      for (const std::string_view other : {"avgpool2d", "relu", "conv2d", "linear", "add", "maxpool2d"})
        with(op, other);
    for (const std::string_view scalar :
         {"0.0", "-0.0", "2.0", "3.5", "1.2e-320", "1.2e-316", "4e-312", "1e-310", "2.2e-308"}) {
      with("9.7517E-319", scalar);
      with("3.24107E-319", scalar);
      with("\"scalar\":1.0", std::string("\"scalar\":").append(scalar));
    }
    for (const std::string_view shape : {"[1,2,6,6]", "[1,2,3,3]", "[1,18]", "[1,10]"})
      for (const std::string_view other : {"[1,3,8,8]", "[1,2,8,8]", "[1,2,4,4]", "[2,18]", "[1,9]", "[]", "[1,2,6,5]"})
        with(shape, other);
    for (const std::string_view part : {",\"scalar\":9.7517E-319", ",\"param2\":3.24107E-319", ",\"scalar\":1.0"})
      with(part, "");
    with("\"scalar\":1.0", "\"scalar_bits\":\"0x7ff0000000000000\"");
    with("\"scalar\":1.0", "\"scalar_bits\":\"0x0000000000020202\"");
    with("\"scalar\":1.0", "\"param2_bits\":\"0x0000000000020202\"");
    with("\"inputs\":[6]", "\"indices\":[3],\"inputs\":[6]");
    with("\"inputs\":[6]", "\"inputs\":[6,0]");
    with("[10,18],", "[18,10],");
    for (const char* const bits : {"0x0000000000000902", "0x0000000000000209", "0x0000000000010209",
                                   "0x0000000000010902", "0x0000000001020209", "0x0000000001020902"})
      with("\"scalar\":1.0", std::string("\"scalar_bits\":\"").append(bits).append("\""));
    for_each_edit(text, 1, "0", add_warnings);
    for (const std::string_view other : {"[]", "[] 1", "[1]", "1", "[[]]]", "{}", "null"}) add_warnings(other);
  });
}

}  // namespace
}  // namespace packcheck::test
