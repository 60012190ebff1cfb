"""A subject in Python: products with packed weights, in plain Python 3.

packcheck verify --subject "exec:python3 subjects/adapters/python/affine_subject.py"

Weights are decoded with a rounding to f32 after scale * code and one after + bias; products and sums are doubles,
rounded to f32 at the end.
"""

import math
import platform
import struct

from packcheck_adapter import Adapter, Refused

adapter = Adapter("python-affine", platform.python_version())

WIDTHS = (2, 3, 4, 5, 6, 8)
GROUPS = (32, 64, 128)
SCALES = {b"f32": ("<f", 4), b"f16": ("<e", 2), b"bf16": ("<H", 2)}


def to_f32(value):
    """The nearest f32, infinite where rounding says so."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def numbers_of(name, kind, elements):
    """Scales or biases, each in its own format: a bf16 is the upper half of an f32."""
    numbers = [value for (value,) in struct.iter_unpack(kind, elements)]
    if name != b"bf16":
        return numbers
    return [struct.unpack("<f", struct.pack("<I", code << 16))[0] for code in numbers]


def check_size(what, data, right):
    if len(data) != right:
        raise Refused("%s have %d bytes; expected %d" % (what, len(data), right))


def decoded(scale_format, outputs, inputs, columns, bits, codes, scales, biases):
    """The weights, a list of `inputs` numbers for each output. Refuses buffers that do not fit the shape."""
    if scale_format not in SCALES:
        raise Refused("scales are %r; expected f32, f16 or bf16" % scale_format)
    if bits not in WIDTHS:
        raise Refused("codes of %d bits; expected 2, 3, 4, 5, 6 or 8" % bits)
    if inputs * bits % 8 != 0 or (inputs % columns != 0 if columns else inputs != 0):
        raise Refused("%d inputs are no whole bytes of codes, or no %d whole groups" % (inputs, columns))
    kind, size = SCALES[scale_format]
    row_bytes = inputs * bits // 8
    check_size("codes", codes, outputs * row_bytes)
    check_size("scales", scales, outputs * columns * size)
    check_size("biases", biases, outputs * columns * size)
    scale = numbers_of(scale_format, kind, scales)
    bias = numbers_of(scale_format, kind, biases)
    group = inputs // columns if columns else 0
    rows = []
    for output in range(outputs):
        stream = int.from_bytes(codes[output * row_bytes : (output + 1) * row_bytes], "little")
        row = []
        for i in range(inputs):
            place = output * columns + i // group
            row.append(to_f32(to_f32(scale[place] * (stream >> i * bits & (1 << bits) - 1)) + bias[place]))
        rows.append(row)
    return rows


def flat(rows):
    numbers = [value for row in rows for value in row]
    return struct.pack("<%df" % len(numbers), *numbers)


@adapter.offers(*("affine_dequantize affine%d:f32" % bits for bits in WIDTHS))
def affine_dequantize(scale_format, shape, codes, scales, biases):
    sizes = [value for (value,) in struct.iter_unpack("<Q", shape)]
    if len(sizes) not in (3, 4):
        raise Refused("%d sizes; expected out, in, columns and, unless codes have 4 bits, bits" % len(sizes))
    outputs, inputs, columns = sizes[:3]
    return flat(decoded(scale_format, outputs, inputs, columns, sizes[3] if len(sizes) == 4 else 4, codes, scales, biases))


def product(scale_format, shape, elements, codes, scales, biases):
    """y[r][o], the sum over i of x[r][i] * weight[o][i]."""
    rows, inputs, outputs, group, bits = struct.unpack("<5Q", shape)
    if group not in GROUPS or inputs % group != 0:
        raise Refused("%d inputs in groups of %d; expected whole groups of 32, 64 or 128" % (inputs, group))
    check_size("numbers of x", elements, 4 * rows * inputs)
    weights = decoded(scale_format, outputs, inputs, inputs // group, bits, codes, scales, biases)
    x = struct.unpack("<%df" % (rows * inputs), elements)
    return [
        [to_f32(sum(a * b for a, b in zip(x[r * inputs : (r + 1) * inputs], weight))) for weight in weights]
        for r in range(rows)
    ]


@adapter.offers(*("affine_matmul affine%d:f32" % bits for bits in WIDTHS))
def affine_matmul(scale_format, order, shape, elements, codes, scales, biases):
    return flat(product(scale_format, shape, elements, codes, scales, biases))


@adapter.offers(*("affine_gate_up affine%d:f32 fused=same" % bits for bits in WIDTHS))
def affine_gate_up(scale_format, order, shape, elements, *matrices):
    gate = product(scale_format, shape, elements, *matrices[:3])
    return flat(gate) + flat(product(scale_format, shape, elements, *matrices[3:]))


if __name__ == "__main__":
    adapter.run()
