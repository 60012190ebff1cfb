# Subjects in another process, and the libraries and programs that misbehave for their tests.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# The interpreter itself where the command is a wrapper script around it.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)"
  OUTPUT_VARIABLE PACKCHECK_PYTHON OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(PACKCHECK_ROOT ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
set(PACKCHECK_MISBEHAVING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/misbehaving)

# "none" misbehaves in no way.
set(PACKCHECK_MISBEHAVIOURS
  none segfault abort exit_3 loop_for_ever eat_memory eat_memory_and_give_it_back large_leak slow_leak
  write_past write_before write_far_past write_past_message leave_unwritten text_unwritten size_unwritten
  message_without_nul unprintable_message garbage_code size_past_capacity rounding_mode flush_to_zero
  flush_to_zero_when_loaded write_input read_past_input write_standard_output large_table
  crash_in_constructor exit_in_constructor no_entry_point null_table small_table bad_name
  undeclared_function unknown_declaration declared_twice null_function
  read_before_refusing refuse_unread)
foreach(what IN LISTS PACKCHECK_MISBEHAVIOURS)
  add_library(misbehaving_${what} MODULE ${PACKCHECK_ROOT}/subjects/examples/misbehaving_subject.c)
  target_compile_definitions(misbehaving_${what} PRIVATE MISBEHAVE_${what})
  target_include_directories(misbehaving_${what} PRIVATE ${PACKCHECK_ROOT}/subjects/include)
  # As a stranger's library would be: without our sanitizers, which stop a program in their own way.
  target_compile_options(misbehaving_${what} PRIVATE -fno-sanitize=all)
  target_link_libraries(misbehaving_${what} PRIVATE m)
  set_target_properties(misbehaving_${what} PROPERTIES
    OUTPUT_NAME ${what} LIBRARY_OUTPUT_DIRECTORY ${PACKCHECK_MISBEHAVING_DIRECTORY})
endforeach()

packcheck_test(NAME packcheck_process_test
  SOURCES
    process/adapters_test.cc
    process/call_environment_test.cc
    process/frames_test.cc
    process/native_subject_test.cc
    process/program_subject_test.cc
    process/examples_test.cc
    process/in_process_test.cc
    process/protocol_document_test.cc
  LIBRARIES packcheck_process)
target_compile_definitions(packcheck_process_test PRIVATE
  PACKCHECK_MISBEHAVING_DIRECTORY="${PACKCHECK_MISBEHAVING_DIRECTORY}"
  PACKCHECK_SOURCE_DIRECTORY="${PACKCHECK_ROOT}"
  PACKCHECK_C_COMPILER="${CMAKE_C_COMPILER}"
  PACKCHECK_PYTHON="${PACKCHECK_PYTHON}"
  PACKCHECK_SUBJECTS_DIR="${CMAKE_BINARY_DIR}/subjects")
if(TARGET packcheck_subject_rust-std)
  add_dependencies(packcheck_process_test packcheck_subject_rust-std)
endif()
foreach(what IN LISTS PACKCHECK_MISBEHAVIOURS)
  add_dependencies(packcheck_process_test misbehaving_${what})
endforeach()
