// Lets packcheck judge an implementation written in JavaScript: plain Node 16 or newer, no packages.
//
//     const { Adapter, Refused, Skipped } = require('./packcheck_adapter');
//
//     const adapter = new Adapter('mine', '1.0');
//     adapter.offers(['parse json'], (text) => ...);
//     adapter.run();
//
// and then `packcheck verify --subject 'exec:node mine.js'`.
//
// A function gets the arguments of its operation as Buffers and returns the answer as one Buffer (see
// subjects/PROTOCOL.md for both). It throws Refused('why') when the input is unsound and Skipped('why') for a
// variant that it does not have. Anything else that it throws is reported as an error of the adapter, which
// packcheck counts against the subject. What is written to console.log or process.stdout goes to standard
// error, so it cannot damage a frame. Functions are not waited for: a promise is no answer.
'use strict';

const fs = require('fs');

const PROTOCOL_VERSION = '1';
const LARGEST_PAYLOAD = 256 * 1024 * 1024;

/** The input is unsound; the message says why. */
class Refused extends Error {}

/** This variant is not offered. */
class Skipped extends Error {}

/** Waits a millisecond, where a pipe is full or empty and does not block. */
const rest = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);

/** Fills `buffer` from standard input. Returns how many bytes there were before the end. */
function readFully(buffer) {
  let at = 0;
  while (at < buffer.length) {
    try {
      const count = fs.readSync(0, buffer, at, buffer.length - at, null);
      if (count === 0) break;
      at += count;
    } catch (problem) {
      if (problem.code !== 'EAGAIN') throw problem;
      rest();
    }
  }
  return at;
}

function writeFully(buffer) {
  let at = 0;
  while (at < buffer.length) {
    try {
      at += fs.writeSync(1, buffer, at, buffer.length - at);
    } catch (problem) {
      if (problem.code !== 'EAGAIN') throw problem;
      rest();
    }
  }
}

function length(size) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(size);
  return bytes;
}

/** Joins byte strings, each behind its length. A string part stands for its UTF-8 bytes. */
function encodeParts(parts) {
  const pieces = [];
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    pieces.push(length(bytes.length), bytes);
  }
  return Buffer.concat(pieces);
}

/** The byte strings in a payload. Throws when a length does not fit. */
function decodeParts(payload) {
  const parts = [];
  for (let at = 0; at < payload.length; ) {
    if (payload.length - at < 4) throw new Error('a length is cut off');
    const size = payload.readUInt32LE(at);
    if (size > payload.length - at - 4) throw new Error('a part runs past its payload');
    parts.push(payload.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  if (parts.length === 0) throw new Error('a payload without parts');
  return parts;
}

/** Answers packcheck's requests with the functions registered here. */
class Adapter {
  constructor(name, version) {
    this.name = name;
    this.version = version;
    this.declarations = [];
    this.functions = new Map();
  }

  /** The function answers these declarations, all of one operation. */
  offers(declarations, answer) {
    const operations = new Set(declarations.map((line) => line.split(' ')[0]));
    const [operation] = operations;
    if (operations.size !== 1) throw new Error('declare the variants of exactly one operation: ' + declarations);
    if (this.functions.has(operation)) throw new Error('two functions for ' + operation);
    this.functions.set(operation, answer);
    this.declarations.push(...declarations);
  }

  /** The reply to one request, as parts. */
  answer([first, ...given]) {
    const word = first.toString('latin1');
    if (word === 'hello') return this.hello(given.map((part) => part.toString('latin1')));
    if (word === 'batch') return ['batch', ...given.map((one) => encodeParts(this.answer(decodeParts(one))))];
    const answer = this.functions.get(word);
    if (answer === undefined) return ['skipped', 'no such operation here'];
    try {
      const result = answer(...given);
      return result instanceof Uint8Array ? ['answered', result] : ['error', word + ' returned no bytes'];
    } catch (why) {
      if (why instanceof Refused) return ['refused', why.message];
      if (why instanceof Skipped) return ['skipped', why.message];
      return ['error', String(why)]; // the adapter lives on and says what went wrong
    }
  }

  hello(given) {
    if (given.length !== 1 || given[0] !== PROTOCOL_VERSION)
      return ['refused', `protocol version '${given.join(' ')}'; expected '${PROTOCOL_VERSION}'`];
    return ['hello', PROTOCOL_VERSION, this.name, this.version, ...this.declarations];
  }

  /** Answers until packcheck closes the pipe. */
  run() {
    Object.defineProperty(process, 'stdout', { value: process.stderr });
    const header = Buffer.alloc(4);
    for (let count; (count = readFully(header)) !== 0; ) {
      const size = count === 4 ? header.readUInt32LE() : LARGEST_PAYLOAD + 1;
      if (size > LARGEST_PAYLOAD) throw new Error('a frame is cut off or too large');
      const payload = Buffer.alloc(size);
      if (readFully(payload) !== size) throw new Error('a frame is cut off');
      const reply = encodeParts(this.answer(decodeParts(payload)));
      writeFully(Buffer.concat([length(reply.length), reply]));
    }
  }
}

module.exports = { Adapter, Refused, Skipped, encodeParts, decodeParts };
