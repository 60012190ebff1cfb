# Laws, case types, engines and corpus; and the built command, run as people run it.
packcheck_test(NAME properties_test SHARDS 16
  SOURCES
    properties/fake_subject.cc
    properties/samples.cc
    properties/temporary_folder.cc
    properties/case_json_test.cc
    properties/case_type_test.cc
    properties/conversion_rules_test.cc
    properties/corpus_store_test.cc
    properties/distribution_test.cc
    properties/engines_test.cc
    properties/float_draws_test.cc
    properties/graph_faults_test.cc
    properties/near_name_test.cc
    properties/network_document_test.cc
    properties/mutators_test.cc
    properties/number_patterns_test.cc
    properties/operator_requests_test.cc
    properties/operations_test.cc
    properties/puzzles_test.cc
    properties/running_case_test.cc
    properties/source_test.cc
    properties/storage_laws_test.cc
    properties/tensor_document_test.cc
    properties/twins_test.cc
    properties/vectors_test.cc
    properties/verdicts_test.cc
  LIBRARIES packcheck_engines packcheck_reference nlohmann_json::nlohmann_json)

target_compile_definitions(properties_test PRIVATE PACKCHECK_SOURCE_DIRECTORY="${CMAKE_SOURCE_DIR}")

packcheck_test(NAME command_test
  SOURCES
    properties/temporary_folder.cc
    cli/command.cc
    cli/arguments_test.cc
    cli/ask_test.cc
    cli/audit_test.cc
    cli/bad_test_report_test.cc
    cli/corpus_command_test.cc
    cli/corpus_life_test.cc
    cli/expected_test.cc
    cli/explain_test.cc
    cli/history_test.cc
    cli/lists_test.cc
    cli/packed_losses_test.cc
    cli/programs_test.cc
    cli/readme_test.cc
    cli/report_merge_test.cc
    cli/sentinel_test.cc
    cli/sweep_test.cc
    cli/vacuous_law_test.cc
    cli/verify_test.cc
  LIBRARIES packcheck_cli packcheck_laws packcheck_reference nlohmann_json::nlohmann_json)
target_compile_definitions(command_test PRIVATE PACKCHECK_COMMAND="$<TARGET_FILE:packcheck>"
  PACKCHECK_SOURCE_DIRECTORY="${CMAKE_SOURCE_DIR}")
add_dependencies(command_test packcheck)
foreach(name nlohmann_json eigen rust-std half serde_json serde_json-roundtrip)
  if(TARGET packcheck_subject_${name})
    add_dependencies(command_test packcheck_subject_${name})
  endif()
endforeach()
