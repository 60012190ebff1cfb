# Tests of the core and of the oracles the laws compare every subject with.
add_library(packcheck_core_test_support STATIC
  core/answers.cc core/error_meter.cc core/mpfr_reference.cc core/samples.cc)
target_link_libraries(packcheck_core_test_support PUBLIC packcheck_core packcheck_oracles mpfr gmp GTest::gtest)
# Beside the checkout; the environment's PACKCHECK_DATA names another folder.
target_compile_definitions(packcheck_core_test_support PUBLIC PACKCHECK_DATA="${CMAKE_SOURCE_DIR}/../shared/data")

foreach(room IN ITEMS
    affine
    affine_bounds
    affine_groups
    affine_matmul
    affine_matmul_bound
    affine_nan_trace
    affine_shapes
    audit
    audit_graph
    audit_statistics
    block_oracle
    bounds
    buffer_ends
    change_encoding
    conversion_table
    dialect
    dtype_convert
    edges
    encoding
    environment
    exec
    exec_bounds
    fast_path
    faulty_rules
    file
    file_text
    format
    graph_json
    graph_ysgp
    integer_format
    json_document
    known_audits
    known_files
    known_graphs
    known_numbers
    known_products
    known_shapes
    known_storage
    known_text
    layout_analysis
    limits
    microscaling
    mode
    narrow_format
    narrowing_oracle
    number_form
    params
    precision_acceptance
    precision_bound
    precision_builder
    precision_import
    precision_run
    precision_stablehlo
    repack
    scale
    shape_infer
    shape_window
    short_list
    skainet_blocks
    tensor_storage
    text)
  packcheck_test(NAME core_${room}_test SOURCES core/${room}_test.cc LIBRARIES packcheck_core_test_support)
endforeach()

# The same answers at every optimisation level: the core and the oracles once more, at -O0 and at -O3.
foreach(level IN ITEMS 0 3)
  add_executable(core_answers_O${level} core/answers_main.cc core/answers.cc core/samples.cc)
  foreach(library IN ITEMS packcheck_core packcheck_oracles)
    get_target_property(sources ${library} SOURCES)
    get_target_property(folder ${library} SOURCE_DIR)
    # Rooms that no answer comes from.
    list(FILTER sources EXCLUDE REGEX "^(audit|file|graph|precision|storage)/|(execute|file|gguf|network_text|precision|safetensors|shape|stablehlo|storage)_oracle|precision_(bound|steps)|network_graph_text|stablehlo_function")
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
      target_sources(core_answers_O${level} PRIVATE ${source})
    endforeach()
    get_target_property(libraries ${library} LINK_LIBRARIES)
    list(FILTER libraries EXCLUDE REGEX "^packcheck_(core|oracles)$")
    target_link_libraries(core_answers_O${level} PRIVATE ${libraries})
  endforeach()
  # GCC 12 warns of its own std::string in a precompiled header (its bugs 105329 and 105651).
  target_compile_options(core_answers_O${level} PRIVATE -O${level}
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow>)
  target_precompile_headers(core_answers_O${level} PRIVATE ${CMAKE_SOURCE_DIR}/core/precompiled.h)
endforeach()
add_test(NAME core_answers_are_the_same_at_O0_and_O3
  COMMAND ${CMAKE_COMMAND} -DONE=$<TARGET_FILE:core_answers_O0> -DOTHER=$<TARGET_FILE:core_answers_O3>
    -P ${CMAKE_CURRENT_SOURCE_DIR}/core/compare_answers.cmake)
set_tests_properties(core_answers_are_the_same_at_O0_and_O3 PROPERTIES COST 50)
