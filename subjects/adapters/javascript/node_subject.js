// A subject in JavaScript: how the engine itself keeps numbers, JSON.stringify and JSON.parse as they are.
//
// packcheck verify --subject 'exec:node subjects/adapters/javascript/node_subject.js'
'use strict';

const { Adapter, Refused, Skipped } = require('./packcheck_adapter');

const adapter = new Adapter('node', process.versions.node);
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// conv2d, generation 2: name, word, lowest bit and largest value of each field.
const FIELDS = [
  ['kernel_h', 0, 16n, 0xffn],
  ['kernel_w', 0, 8n, 0xffn],
  ['stride', 0, 0n, 0xffn],
  ['padding', 1, 16n, 0xffffn],
  ['out_channels', 1, 0n, 0xffffn],
];

adapter.offers(['print json'], (bits) => Buffer.from(JSON.stringify(bits.readDoubleLE())));

adapter.offers(['parse json non_finite=refuse'], (text) => {
  let value;
  try {
    value = JSON.parse(utf8.decode(text));
  } catch (problem) {
    throw new Refused(problem.message);
  }
  if (typeof value !== 'number') throw new Refused('the document is not a number');
  const bits = Buffer.alloc(8);
  bits.writeDoubleLE(value);
  return bits;
});

function check(layout, numbers, size) {
  if (layout.toString() !== 'conv2d:gen2') throw new Skipped('no such layout');
  if (numbers.length !== size) throw new Refused(`${numbers.length} bytes; expected ${size}`);
}

adapter.offers(['pack conv2d:gen2'], (layout, values) => {
  check(layout, values, 8 * FIELDS.length);
  const words = [0n, 0n];
  FIELDS.forEach(([name, word, shift, largest], i) => {
    const value = values.readBigInt64LE(8 * i);
    if (value < 0n || value > largest) throw new Refused(`${name} is ${value}; expected 0..${largest}`);
    words[word] |= value << shift;
  });
  // As an exporter does: the bits become a double, whose bits are the answer. Fields only ever make subnormal
  // numbers, which engines keep.
  const bits = Buffer.alloc(16);
  words.forEach((word, i) => bits.writeDoubleLE(new Float64Array(new BigUint64Array([word]).buffer)[0], 8 * i));
  return bits;
});

// Any bits may stand here, and an engine may change those of a NaN: they are never read as a double.
adapter.offers(['unpack conv2d:gen2'], (layout, words) => {
  check(layout, words, 16);
  const values = Buffer.alloc(8 * FIELDS.length);
  FIELDS.forEach(([, word, shift, largest], i) =>
    values.writeBigInt64LE((words.readBigUInt64LE(8 * word) >> shift) & largest, 8 * i));
  return values;
});

adapter.run();
