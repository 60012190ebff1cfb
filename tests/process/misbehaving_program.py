"""A program that does one thing wrong, for the tests of exec: subjects.

misbehaving_program.py WHAT [FILE] repacks bf16->f32, except for the element 0x0BAD, on which it
does WHAT; some misbehave when they start or say hello.
"""

import fcntl
import os
import struct
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "subjects", "adapters", "python"))

import packcheck_adapter  # noqa: E402  (found through the line above)
from packcheck_adapter import Adapter, Refused, Skipped, encode_parts  # noqa: E402

TRIGGER = struct.pack("<H", 0x0BAD)
WHAT = sys.argv[1]
RAW = os.dup(1)  # where frames go


def send(payload):
    os.write(RAW, struct.pack("<I", len(payload)) + payload)


def die_leaving_a_child():
    """The child keeps the pipe, and a lock on FILE if there is one, after its parent is gone."""
    if len(sys.argv) > 2:
        fcntl.flock(os.open(sys.argv[2], os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(5)


def eat_memory():
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def answer_twice():
    send(encode_parts([b"answered", b"first"]))


def close_output():
    os.close(RAW)
    os.closerange(3, 100)
    os.close(1)
    time.sleep(1000)


def close_input():
    """Answers, and will not read what comes next."""
    os.close(0)
    send(encode_parts([b"answered", b"last"]))
    time.sleep(1000)


def close_within_a_frame():
    os.write(RAW, struct.pack("<I", 100) + b"only this")
    close_output()


MISDEEDS = {
    "print_garbage": lambda: os.write(RAW, b"Traceback, or any other text\n"),
    "exit": lambda: os._exit(7),
    "abort": os.abort,
    "hang": lambda: time.sleep(1000),
    "eat_memory": eat_memory,
    "die_leaving_a_child": die_leaving_a_child,
    "close_input": close_input,
    "close_output": close_output,
    "close_within_a_frame": close_within_a_frame,
    "send_empty_frame": lambda: send(b""),
    "send_cut_part": lambda: send(struct.pack("<I", 9) + b"x"),
    "send_unknown_word": lambda: send(encode_parts([b"perhaps"])),
    "send_two_messages": lambda: send(encode_parts([b"refused", b"one", b"two"])),
    "answer_twice": answer_twice,
}

adapter = Adapter("misbehaving", "1")


def misbehave():
    if WHAT == "refuse":
        raise Refused("too bad")
    if WHAT == "skip":
        raise Skipped("not this one")
    if WHAT == "raise":
        raise KeyError("lost")
    if WHAT == "return_text":
        return "text"
    MISDEEDS.get(WHAT, lambda: None)()
    return b""


ANSWERED = []


@adapter.offers("repack bf16->f32 nan=same")
def repack(_source, _target, elements):
    ANSWERED.append(len(elements))
    if WHAT == "tire" and len(ANSWERED) > 20:
        return b"\x01" * (2 * len(elements))
    halves = [elements[i : i + 2] for i in range(0, len(elements), 2)]
    answer = b"".join(b"\0\0" + half for half in halves)
    if TRIGGER in halves:
        answer = misbehave() or answer
    return "text" if WHAT == "return_text" and TRIGGER in halves else answer


def wrap_answers():
    """Misbehaviour of the adapter itself, in place of Adapter.answer."""
    plain = adapter.answer

    def answer(parts):
        if parts[0] == b"batch" and WHAT == "know_no_batches":
            return [b"skipped"]
        if parts[0] == b"batch" and WHAT == "drop_a_reply":
            return plain(parts)[:-1]
        if parts[0] == b"batch" and WHAT == "die_of_batches":
            os._exit(9)
        if parts[0] == b"hello" and WHAT == "speak_version_2":
            return [b"hello", b"2", b"n", b"1"]
        if parts[0] == b"hello" and WHAT == "declare_nonsense":
            return [b"hello", b"1", b"n", b"1", b"teleport json"]
        if parts[0] == b"hello" and WHAT == "change_its_hello":
            return plain(parts) + ([b"print json"] if started_before() else [])
        return plain(parts)

    adapter.answer = answer


def started_before():
    """Whether FILE exists; creates it."""
    existed = os.path.exists(sys.argv[2])
    with open(sys.argv[2], "a") as file:
        file.write("started\n")
    return existed


if __name__ == "__main__":
    if WHAT == "speak_version_0_only":
        packcheck_adapter.PROTOCOL_VERSION = b"0"
    if WHAT == "say_hello_in_text":
        os.write(RAW, b"Hello, world! I am a program.\n")
    if WHAT == "exit_at_start" or (WHAT == "start_once" and started_before()):
        sys.exit(6)
    if WHAT == "hang_at_start":
        time.sleep(1000)
    if WHAT in ("start_once", "change_its_hello"):
        MISDEEDS[WHAT] = lambda: os._exit(8)
    wrap_answers()
    adapter.run()
