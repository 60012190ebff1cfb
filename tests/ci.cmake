# The scripts under ci/ that are programs of their own, tried on small things made for it.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(name check_build)
  add_test(NAME ci.${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/ci/${name}_test.py)
  set_tests_properties(ci.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()
