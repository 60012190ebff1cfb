"""The tensors of a safetensors or GGUF file and what their numbers are, as JSON: read here a second time, without packcheck.

    python3 tensor_facts.py FILE

Statistics of F64, F32, F16 and BF16 only; the other types are null.
"""
import json
import math
import struct
import sys

FORMATS = {"F64": ("d", 8, -1022), "F32": ("f", 4, -126), "F16": ("e", 2, -14), "BF16": ("H", 2, -126)}
GGUF_TYPES = {0: ("F32", 1, 4), 1: ("F16", 1, 2), 8: ("Q8_0", 32, 34), 2: ("Q4_0", 32, 18), 27: ("I64", 1, 8),
              28: ("F64", 1, 8), 30: ("BF16", 1, 2)}
VALUE_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def numbers_of(dtype, data):
    letter, size, _ = FORMATS[dtype]
    values = struct.unpack("<%d%s" % (len(data) // size, letter), data)
    if dtype != "BF16":
        return values
    return [struct.unpack("<f", struct.pack("<I", value << 16))[0] for value in values]


def statistics(dtype, data):
    if dtype not in FORMATS:
        return None
    found = {"count": 0, "nan": [], "infinite": [], "subnormal": []}
    magnitudes = []
    for i, number in enumerate(numbers_of(dtype, data)):
        found["count"] += 1
        if math.isnan(number):
            found["nan"].append(i)
        elif math.isinf(number):
            found["infinite"].append(i)
        elif number != 0:
            magnitudes.append(abs(number))
            if abs(number) < 2.0 ** FORMATS[dtype][2]:
                found["subnormal"].append(i)
    for kind in ("nan", "infinite", "subnormal"):
        places = found[kind]
        found[kind] = {"count": len(places), "first": places[0] if places else None}
    found["smallest"] = min(magnitudes) if magnitudes else None
    found["largest"] = max(magnitudes) if magnitudes else None
    return found


def tensor(name, dtype, shape, offset, data):
    return {"name": name, "dtype": dtype, "shape": shape, "offset": offset, "bytes": len(data),
            "statistics": statistics(dtype, data)}


def safetensors(file):
    start = 8 + struct.unpack_from("<Q", file)[0]
    header = json.loads(file[8:start])
    header.pop("__metadata__", None)
    return [tensor(name, entry["dtype"], entry["shape"], start + entry["data_offsets"][0],
                   file[start + entry["data_offsets"][0]:start + entry["data_offsets"][1]])
            for name, entry in header.items()]


class Cursor:
    def __init__(self, file):
        self.file = file
        self.at = 0

    def take(self, letter):
        value = struct.unpack_from("<" + letter, self.file, self.at)[0]
        self.at += struct.calcsize("<" + letter)
        return value

    def text(self):
        size = self.take("Q")
        self.at += size
        return self.file[self.at - size:self.at].decode()

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, count = self.take("I"), self.take("Q")
            return [self.value(inner) for _ in range(count)]
        return self.take(VALUE_FORMATS[kind])


def gguf(file):
    cursor = Cursor(file)
    cursor.at = 8
    tensors, values = cursor.take("Q"), cursor.take("Q")
    alignment = 32
    for _ in range(values):
        key = cursor.text()
        value = cursor.value(cursor.take("I"))
        if key == "general.alignment":
            alignment = value
    rows = []
    for _ in range(tensors):
        name = cursor.text()
        dims = [cursor.take("Q") for _ in range(cursor.take("I"))]
        rows.append((name, dims[::-1], cursor.take("I"), cursor.take("Q")))
    start = -(-cursor.at // alignment) * alignment
    out = []
    for name, shape, kind, offset in rows:
        dtype, block, size = GGUF_TYPES[kind]
        count = math.prod(shape) // block * size
        out.append(tensor(name, dtype, shape, start + offset, file[start + offset:start + offset + count]))
    return out


def main():
    with open(sys.argv[1], "rb") as f:
        file = f.read()
    print(json.dumps(gguf(file) if file[:4] == b"GGUF" else safetensors(file)))


main()
