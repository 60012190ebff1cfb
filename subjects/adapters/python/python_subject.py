"""A subject in Python: how the interpreter itself keeps numbers.

packcheck verify --subject "exec:python3 subjects/adapters/python/python_subject.py"
"""

import math
import platform
import re
import struct

from packcheck_adapter import Adapter, Refused, Skipped

adapter = Adapter("python", platform.python_version())

JSON_NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

# conv2d, generation 2: word, lowest bit and largest value of each field.
CONV2D_FIELDS = [
    ("kernel_h", 0, 16, 0xFF),
    ("kernel_w", 0, 8, 0xFF),
    ("stride", 0, 0, 0xFF),
    ("padding", 1, 16, 0xFFFF),
    ("out_channels", 1, 0, 0xFFFF),
]


def pack_half(value):
    """IEEE binary16, nearest even. struct raises where rounding says infinity."""
    try:
        return struct.pack("<e", value)
    except OverflowError:
        return struct.pack("<e", math.copysign(math.inf, value))


@adapter.offers("convert f32->f16 rounding=nearest-even nan=any", "convert f16->f32 nan=any")
def convert(source, target, mode, elements):
    if mode != b"nearest-even":
        raise Skipped("rounds to nearest even only")
    if (source, target) == (b"f32", b"f16"):
        return b"".join(pack_half(value) for (value,) in struct.iter_unpack("<f", elements))
    if (source, target) == (b"f16", b"f32"):
        return b"".join(struct.pack("<f", value) for (value,) in struct.iter_unpack("<e", elements))
    raise Skipped("no such conversion")


@adapter.offers("print json")
def print_number(bits):
    (value,) = struct.unpack("<d", bits)
    if not math.isfinite(value):
        raise Refused("JSON has no %r" % value)
    return repr(value).encode()


@adapter.offers("parse json non_finite=refuse")
def parse_number(text):
    if JSON_NUMBER.fullmatch(text) is None:
        raise Refused("not a JSON number")
    value = float(text)
    if math.isinf(value):
        raise Refused("too large for a double")
    return struct.pack("<d", value)


def check(layout, elements, size):
    if layout != b"conv2d:gen2":
        raise Skipped("no such layout")
    if len(elements) != size:
        raise Refused("%d bytes; expected %d" % (len(elements), size))


@adapter.offers("pack conv2d:gen2")
def pack(layout, elements):
    check(layout, elements, 8 * len(CONV2D_FIELDS))
    words = [0, 0]
    for (value,), (name, word, shift, largest) in zip(struct.iter_unpack("<q", elements), CONV2D_FIELDS):
        if not 0 <= value <= largest:
            raise Refused("%s is %d; expected 0..%d" % (name, value, largest))
        words[word] |= value << shift
    return struct.pack("<2Q", *words)


@adapter.offers("unpack conv2d:gen2")
def unpack(layout, elements):
    check(layout, elements, 16)
    words = struct.unpack("<2Q", elements)
    return struct.pack("<5q", *(words[word] >> shift & largest for _, word, shift, largest in CONV2D_FIELDS))


if __name__ == "__main__":
    adapter.run()
