# Subjects in Rust, each a program: the standard library, and from Debian's crate sources half, and serde_json once
# with its default features and once with float_roundtrip. rustc alone compiles them: no cargo, no network. What is
# missing is left out, with a message.
set(adapters ${CMAKE_SOURCE_DIR}/subjects/adapters/rust)
set(crates ${CMAKE_CURRENT_BINARY_DIR}/crates)
set(PACKCHECK_CRATES_DIR /usr/share/cargo/registry CACHE PATH "Where the sources of Rust crates are")

# packcheck_rust(output source DEPENDS file... ARGUMENTS argument...): one call of rustc.
function(packcheck_rust output source)
  cmake_parse_arguments(R "" "" "DEPENDS;ARGUMENTS" ${ARGN})
  get_filename_component(folder ${output} DIRECTORY)
  get_filename_component(name ${output} NAME)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${CMAKE_COMMAND} -E env PACKCHECK_RUST_VERSION=${rust_version} PACKCHECK_SERDE_JSON_VERSION=${serde_json_version}
            PACKCHECK_HALF_VERSION=${half_version}
            ${PACKCHECK_RUSTC} -C opt-level=1 -C strip=symbols ${R_ARGUMENTS} ${source} -o ${output}
    DEPENDS ${source} ${R_DEPENDS} VERBATIM COMMENT "Compiling ${name} with rustc")
endfunction()

# packcheck_rust_subject(name source ...): a program beside the libraries; the rest goes to packcheck_rust.
function(packcheck_rust_subject name source)
  set(program ${PACKCHECK_SUBJECTS_DIR}/${name})
  packcheck_rust(${program} ${adapters}/${source} ${ARGN} --edition 2021)
  add_custom_target(packcheck_subject_${name} ALL DEPENDS ${program})
  install(PROGRAMS ${program} DESTINATION ${CMAKE_INSTALL_LIBDIR}/packcheck/subjects)
endfunction()

# The newest version of a crate that is here, and its folder; empty if there is none.
function(packcheck_find_crate name)
  file(GLOB folders ${PACKCHECK_CRATES_DIR}/${name}-1.*)
  list(SORT folders COMPARE NATURAL)
  set(folder "")
  if(folders)
    list(GET folders -1 folder)
  endif()
  string(REGEX REPLACE ".*-" "" version "${folder}")
  set(${name}_folder "${folder}" PARENT_SCOPE)
  set(${name}_version "${version}" PARENT_SCOPE)
endfunction()

# packcheck_crate(name output ...): the library of a found crate; the rest goes to packcheck_rust.
function(packcheck_crate name output)
  file(STRINGS ${${name}_folder}/Cargo.toml edition REGEX "^edition = ")
  string(REGEX MATCH "20[0-9][0-9]" edition "${edition}")
  if(NOT edition)
    set(edition 2015)
  endif()
  packcheck_rust(${output} ${${name}_folder}/src/lib.rs ${ARGN}
                 --crate-name ${name} --crate-type rlib --edition ${edition} --cap-lints allow)
endfunction()

find_program(PACKCHECK_RUSTC rustc)
if(PACKCHECK_RUSTC)
  execute_process(COMMAND ${PACKCHECK_RUSTC} --version OUTPUT_VARIABLE rust_version ERROR_QUIET)
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" rust_version "${rust_version}")
endif()
if(NOT rust_version OR rust_version VERSION_LESS 1.63)
  message(STATUS "Subjects rust-std, half, serde_json and serde_json-roundtrip are left out: no rustc of 1.63 or newer "
                 "here (Debian: rustc)")
  return()
endif()

foreach(name half serde_json serde ryu itoa)
  packcheck_find_crate(${name})
endforeach()
packcheck_rust_subject(rust-std rust_std.rs DEPENDS ${adapters}/packcheck_adapter.rs ARGUMENTS)

if(half_folder)
  set(library ${crates}/libhalf.rlib)
  packcheck_crate(half ${library} ARGUMENTS)
  packcheck_rust_subject(half half.rs DEPENDS ${adapters}/packcheck_adapter.rs ${library}
                         ARGUMENTS --extern half=${library})
else()
  message(STATUS "Subject half is left out: no sources of half 1 in ${PACKCHECK_CRATES_DIR} "
                 "(Debian 12: librust-half-dev)")
endif()

# What the build scripts of serde_json and ryu would say to a rustc of 1.63 or newer; later versions ask for other things.
if(NOT serde_folder OR NOT ryu_folder OR NOT itoa_folder OR NOT serde_json_folder
   OR serde_json_version VERSION_LESS 1.0.60 OR NOT serde_json_version VERSION_LESS 1.0.118)
  message(STATUS "Subjects serde_json and serde_json-roundtrip are left out: no sources of serde_json 1.0.60 to 1.0.117 "
                 "in ${PACKCHECK_CRATES_DIR} (Debian 12: librust-serde-json-dev)")
  return()
endif()
set(limbs limb_width_32)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64)$")
  set(limbs limb_width_64)
endif()
packcheck_crate(itoa ${crates}/libitoa.rlib ARGUMENTS)
packcheck_crate(ryu ${crates}/libryu.rlib ARGUMENTS --cfg integer128 --cfg must_use_return --cfg maybe_uninit)
packcheck_crate(serde ${crates}/libserde.rlib ARGUMENTS --cfg feature="std")
set(externs --extern itoa=${crates}/libitoa.rlib --extern ryu=${crates}/libryu.rlib --extern serde=${crates}/libserde.rlib)
foreach(feature default float_roundtrip)
  set(name serde_json)
  if(feature STREQUAL float_roundtrip)
    set(name serde_json-roundtrip)
  endif()
  set(library ${crates}/${feature}/libserde_json.rlib)
  packcheck_crate(serde_json ${library}
    DEPENDS ${crates}/libitoa.rlib ${crates}/libryu.rlib ${crates}/libserde.rlib
    ARGUMENTS ${externs} --cfg ${limbs} --cfg feature="std" --cfg feature="${feature}")
  packcheck_rust_subject(${name} serde_json.rs DEPENDS ${adapters}/packcheck_adapter.rs ${library}
    ARGUMENTS --extern serde_json=${library} -L ${crates} --cfg feature="${feature}")
endforeach()
