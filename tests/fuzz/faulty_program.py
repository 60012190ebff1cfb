"""As faulty_subject.c, as a program: prints doubles, and dies of one that is no number."""
import math
import os
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "subjects", "adapters", "python"))
sys.dont_write_bytecode = True
from packcheck_adapter import Adapter  # noqa: E402

adapter = Adapter("faulty-program", "1.0")


@adapter.offers("print json")
def print_json(bits):
    value = struct.unpack("<d", bits)[0]
    if not math.isfinite(value):
        os._exit(5)
    return repr(value).encode()


adapter.run()
