"""The parts of ci/nightly. Only the standard library; every file that must survive a kill is written whole, by a rename."""
