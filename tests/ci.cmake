# The scripts under ci/ that are programs of their own, tried on small things made for it.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(name check_build nightly)
  add_test(NAME ci.${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/ci/${name}_test.py)
endforeach()
# Without Node, or without what ci/install --fuzzing fetches, the exit code is 77.
add_test(NAME ci.workflows COMMAND sh -c "command -v node >/dev/null || exit 77; exec node ${CMAKE_CURRENT_LIST_DIR}/ci/workflows_test.mjs")
set_tests_properties(ci.check_build ci.nightly ci.workflows PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
# The longest run first, so that no core waits for them at the end.
set_tests_properties(ci.check_build ci.nightly PROPERTIES COST 100)
# No compiler here warns of two types of one name.
add_test(NAME tree.one_definition COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/tree/one_definition_test.py)
# Fuzz targets, here programs that replay files.
add_test(NAME fuzz.targets
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/fuzz/targets_test.py ${CMAKE_BINARY_DIR}/fuzz ${CMAKE_C_COMPILER})
set_tests_properties(fuzz.targets PROPERTIES TIMEOUT 300)
