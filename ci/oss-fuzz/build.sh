#!/bin/bash -eu
# ci/oss-fuzz/build.sh: every fuzz target with its dictionary, options and seeds into $OUT.
#
# Engine and sanitizer come from the environment alone: $CC $CXX $CFLAGS $CXXFLAGS $LIB_FUZZING_ENGINE. Reads $SRC/packcheck,
# builds in $WORK, writes to $OUT. `ci/check-build` runs it as OSS-Fuzz does and checks what comes out.

source=$SRC/packcheck
build=$WORK/packcheck

cmake --fresh -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DPACKCHECK_FUZZERS=ON -DPACKCHECK_TESTS=OFF \
  -DPACKCHECK_WARNINGS_ARE_ERRORS=OFF -DPACKCHECK_FUZZING_ENGINE="$LIB_FUZZING_ENGINE"
cmake --build "$build" --target packcheck_fuzz_targets -j "${PACKCHECK_BUILD_JOBS:-$(nproc)}"

while read -r target family; do
  thing=${target%_fuzzer}
  cp "$build/fuzz/$target" "$OUT/$target"
  if [ -f "$source/fuzz/$thing.dict" ]; then cp "$source/fuzz/$thing.dict" "$OUT/$target.dict"; fi
  if [ -f "$source/fuzz/$thing.options" ]; then
    cp "$source/fuzz/$thing.options" "$OUT/$target.options"
  else
    cp "$source/ci/oss-fuzz/default.options" "$OUT/$target.options"
  fi
  # Files in the wire format; the .json beside them are case files, which the gate replays. A family without those two folders
  # is its files.
  seeds=()
  if [ ! -d "$source/corpus/$family/seed" ] && [ ! -d "$source/corpus/$family/regression" ]; then
    for file in "$source/corpus/$family"/*; do
      if [ -f "$file" ]; then seeds+=("$file"); fi
    done
  fi
  for folder in seed regression; do
    for file in "$source/corpus/$family/$folder"/*; do
      if [ -f "$file" ] && [[ $file != *.json ]]; then seeds+=("$file"); fi
    done
  done
  for file in "$source/corpus/fuzz/$thing"/*; do  # what nights kept
    if [ -f "$file" ]; then seeds+=("$file"); fi
  done
  rm -f "$OUT/${target}_seed_corpus.zip"
  if [ "${#seeds[@]}" -gt 0 ]; then python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" "${seeds[@]}"; fi
done <"$build/fuzz/targets.txt"
