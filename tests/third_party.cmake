# Third-party subjects, opened as libraries. What this build left out, or what is absent on this
# machine, skips its tests with a message.
set(built_subjects "")
foreach(name eigen nlohmann_json rapidjson rapidjson-full simdjson jansson jsoncpp cjson
             ggml-base ggml-cpu-x64 ggml-cpu-best)
  if(TARGET packcheck_subject_${name})
    list(APPEND built_subjects ${name})
  endif()
endforeach()

set(sources third_party/loaded.cc third_party/table_test.cc third_party/eigen_test.cc third_party/f16c_test.cc
            third_party/json_test.cc
            third_party/ggml_test.cc third_party/ggml_blocks_test.cc core/samples.cc)
if(TARGET packcheck_subject_ggml-base)
  list(APPEND sources third_party/ggml_choice_test.cc ${CMAKE_SOURCE_DIR}/subjects/third_party/ggml_library.cc)
endif()
packcheck_test(NAME third_party_test SOURCES ${sources} LIBRARIES packcheck_hardware packcheck_subject packcheck_oracles ${CMAKE_DL_LIBS})
target_include_directories(third_party_test PRIVATE ${CMAKE_SOURCE_DIR}/subjects/include)
list(JOIN built_subjects "," built_names)
target_compile_definitions(third_party_test PRIVATE
  PACKCHECK_SUBJECTS_DIR="${CMAKE_BINARY_DIR}/subjects" PACKCHECK_BUILT_SUBJECTS="${built_names}"
  PACKCHECK_GGML_DEFAULT_DIR="${PACKCHECK_GGML_DEFAULT_DIR}")
foreach(name ${built_subjects})
  add_dependencies(third_party_test packcheck_subject_${name})
endforeach()
