# Tests of the core and of the oracles the laws compare every subject with.
add_library(packcheck_core_test_support STATIC core/mpfr_reference.cc core/samples.cc)
target_link_libraries(packcheck_core_test_support PUBLIC packcheck_core packcheck_oracles mpfr gmp)

foreach(room IN ITEMS affine block_oracle bounds encoding environment format narrow_format narrowing_oracle params repack scale text)
  packcheck_test(NAME core_${room}_test SOURCES core/${room}_test.cc LIBRARIES packcheck_core_test_support)
endforeach()
