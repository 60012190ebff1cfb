"""A subject in Python: the json module as programs use it, dumps and loads as they are.

packcheck verify --subject "exec:python3 subjects/adapters/python/json_subject.py"
"""

import json
import platform
import struct

from packcheck_adapter import Adapter, Refused

adapter = Adapter("python-json", platform.python_version())


@adapter.offers("print json")
def print_number(bits):
    (value,) = struct.unpack("<d", bits)
    return json.dumps(value).encode()


@adapter.offers("parse json non_finite=refuse")
def parse_number(text):
    try:
        value = json.loads(text)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Refused("the document is not a number")
        return struct.pack("<d", float(value))
    except (ValueError, OverflowError, RecursionError) as why:
        raise Refused(str(why)) from None


if __name__ == "__main__":
    adapter.run()
