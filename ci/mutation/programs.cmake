# The program that runs unit tests and laws against mutants, of the objects of the tests. Included by the mutated core's
# CMakeLists.txt (ci/mutation/build.py) when every other target is there.
find_package(GTest REQUIRED)
get_property(targets DIRECTORY ${CMAKE_SOURCE_DIR}/tests PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER targets INCLUDE REGEX "^core_.*_test$")
# The core first: what its mutated headers define inline counts, not what the tests made of the same headers.
add_executable(mutation_server $<TARGET_OBJECTS:packcheck_core> ${CMAKE_CURRENT_LIST_DIR}/server.cc)
foreach(test IN LISTS targets)
  target_sources(mutation_server PRIVATE $<TARGET_OBJECTS:${test}>)
endforeach()
target_link_libraries(mutation_server PRIVATE packcheck_core_test_support packcheck_engines packcheck_reference
  GTest::gmock GTest::gtest)
