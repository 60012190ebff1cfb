// The workflows under .github/workflows/ as GitHub's own parser reads them, and that every script they run is there.
// Exits with 77 (skipped) where ci/install --fuzzing has not put the parser into third-party/, and with an older Node.
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import * as nodeModule from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const parser = join(root, 'third-party/workflow-parser/node_modules/@actions/workflow-parser/dist/index.js');
if (!existsSync(parser) || !nodeModule.register) {
  console.log('skipped: ci/install --fuzzing installs the parser, and Node 18.19 or later reads it');
  process.exit(77);
}
// The parser imports its schema without saying that it is JSON, which Node refuses.
const hook = `import {readFile} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
export async function load(url, context, next) {
  if (!url.endsWith('.json')) return next(url, context);
  return {format: 'module', shortCircuit: true, source: 'export default ' + (await readFile(fileURLToPath(url), 'utf8'))};
}`;
nodeModule.register('data:text/javascript,' + encodeURIComponent(hook));
const {parseWorkflow, convertWorkflowTemplate, NoOperationTraceWriter} = await import(pathToFileURL(parser));

async function errorsOf(name, content) {
  const result = parseWorkflow({name, content}, new NoOperationTraceWriter());
  const errors = result.context.errors.getErrors().map((error) => error.message);
  if (errors.length > 0 || !result.value) return errors;
  const template = await convertWorkflowTemplate(result.context, result.value);
  return (template.errors ?? []).map((error) => error.Message ?? error.message);
}

let bad = 0;
function expect(holds, what) {
  if (!holds) {
    console.log(`FAILED: ${what}`);
    bad += 1;
  }
}

const folder = join(root, '.github/workflows');
const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));
expect(names.length >= 3, 'there are workflows for the gate, the night and ClusterFuzzLite');
for (const name of names) {
  const content = readFileSync(join(folder, name), 'utf8');
  const errors = await errorsOf(name, content);
  expect(errors.length === 0, `${name}: ${errors.join('; ')}`);
  for (const [, script] of content.matchAll(/run: (ci\/[a-z-]+)/g)) expect(existsSync(join(root, script)), `${name} runs ${script}`);
}
// The check can fail.
const sound = readFileSync(join(folder, 'gate.yml'), 'utf8');
for (const [from, to] of [['runs-on:', 'run-on:'], ['steps:', 'stepz:'], ['- uses: actions/checkout@v4', '- use: actions/checkout@v4']]) {
  const errors = await errorsOf('broken.yml', sound.replace(from, to));
  expect(errors.length > 0, `'${to}' in place of '${from}' is an error`);
}
console.log(bad === 0 ? `${names.length} workflows` : `${bad} problems`);
process.exit(bad === 0 ? 0 : 1);
