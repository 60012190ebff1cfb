// Nothing but a reason to compile the headers that tests share (tests/CMakeLists.txt).
