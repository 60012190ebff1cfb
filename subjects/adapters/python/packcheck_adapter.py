"""Lets packcheck judge an implementation written in Python: plain Python 3, no packages.

    from packcheck_adapter import Adapter, Refused, Skipped

    adapter = Adapter("mine", "1.0")

    @adapter.offers("parse json")
    def parse(text: bytes) -> bytes:
        ...

    adapter.run()

and then `packcheck verify --subject "exec:python3 mine.py"`.

A function gets the arguments of its operation as byte strings and returns the answer as one byte
string (see subjects/PROTOCOL.md for both). It raises Refused("why") when the input is unsound and
Skipped("why") for a variant that it does not have. Any other exception is reported as an error of the
adapter, which packcheck counts against the subject. print() goes to standard error, so it
cannot damage a frame.
"""

import os
import struct
import sys

PROTOCOL_VERSION = b"1"
LARGEST_PAYLOAD = 256 << 20


class Refused(Exception):
    """The input is unsound; the message says why."""


class Skipped(Exception):
    """This variant is not offered."""


class ProtocolError(Exception):
    """The other side does not speak this protocol."""


def encode_parts(parts):
    """Joins byte strings, each behind its length."""
    return b"".join(struct.pack("<I", len(part)) + part for part in parts)


def decode_parts(payload):
    """The byte strings in a payload. Raises ProtocolError when a length does not fit."""
    parts, at = [], 0
    while at < len(payload):
        if len(payload) - at < 4:
            raise ProtocolError("a length is cut off")
        (size,) = struct.unpack_from("<I", payload, at)
        if size > len(payload) - at - 4:
            raise ProtocolError("a part runs past its payload")
        parts.append(payload[at + 4 : at + 4 + size])
        at += 4 + size
    if not parts:
        raise ProtocolError("a payload without parts")
    return parts


class Adapter:
    """Answers packcheck's requests with the functions registered here."""

    def __init__(self, name, version):
        self.name = name
        self.version = version
        self.declarations = []
        self.functions = {}

    def offers(self, *declarations):
        """Decorator: the function answers these declarations, all of one operation."""
        operations = {line.split()[0] for line in declarations}
        if len(operations) != 1:
            raise ValueError("declare the variants of exactly one operation: %r" % (declarations,))

        def register(function):
            operation = operations.pop().encode()
            if operation in self.functions:
                raise ValueError("two functions for %s" % operation.decode())
            self.functions[operation] = function
            self.declarations.extend(declarations)
            return function

        return register

    def answer(self, parts):
        """The reply to one request, as parts."""
        word, arguments = parts[0], parts[1:]
        if word == b"hello":
            return self._hello(arguments)
        if word == b"batch":
            return [b"batch"] + [encode_parts(self.answer(decode_parts(request))) for request in arguments]
        function = self.functions.get(word)
        if function is None:
            return [b"skipped", b"no such operation here"]
        try:
            result = function(*arguments)
            if not isinstance(result, (bytes, bytearray)):
                return [b"error", b"%s returned no bytes" % word]
            return [b"answered", bytes(result)]
        except Refused as why:
            return [b"refused", str(why).encode()]
        except Skipped as why:
            return [b"skipped", str(why).encode()]
        except Exception as why:  # the adapter lives on and says what went wrong
            return [b"error", ("%s: %s" % (type(why).__name__, why)).encode()]

    def _hello(self, arguments):
        if arguments != [PROTOCOL_VERSION]:
            spoken = b" ".join(arguments)
            return [b"refused", b"protocol version '%s'; expected '%s'" % (spoken, PROTOCOL_VERSION)]
        texts = [self.name, self.version] + self.declarations
        return [b"hello", PROTOCOL_VERSION] + [text.encode() for text in texts]

    def run(self):
        """Answers until packcheck closes the pipe."""
        requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        while True:
            header = requests.read(4)
            if not header:
                return
            size = struct.unpack("<I", header)[0] if len(header) == 4 else LARGEST_PAYLOAD + 1
            payload = requests.read(size) if size <= LARGEST_PAYLOAD else b""
            if len(payload) != size:
                raise ProtocolError("a frame is cut off or too large")
            reply = encode_parts(self.answer(decode_parts(payload)))
            replies.write(struct.pack("<I", len(reply)) + reply)
            replies.flush()
