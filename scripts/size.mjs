// npm run size: each bundle against its budget (1 KB = 1000 bytes), and what takes the most room in one that is over; the
// package against its own, and its files against the list in scripts/package-files.txt (`--update` writes that list).
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { bin, ROOT, VSIX } from './lib/paths.mjs';
import { node } from './lib/run.mjs';

/** The package with grammars and catalogue. */
const VSIX_KILOBYTES = 4000;

/** @type {Record<string, { kilobytes: number, gzipped?: number, goal?: number }>} */
const budgets = JSON.parse(fs.readFileSync(new URL('size-budgets.json', import.meta.url), 'utf8'));
const META = path.join(ROOT, 'dist/meta');
const kilobytes = (/** @type {number} */ bytes) => Math.round(bytes / 1000);

/** @param {string} name */
function measure(name) {
  /** @type {import('esbuild').Metafile} */
  const meta = JSON.parse(fs.readFileSync(path.join(META, `${name}.json`), 'utf8'));
  const outputs = Object.entries(meta.outputs).filter(([file]) => !file.endsWith('.map'));
  /** @type {Map<string, number>} */
  const parts = new Map();
  for (const [input, { bytesInOutput }] of outputs.flatMap(([, { inputs }]) => Object.entries(inputs))) {
    const part = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? path.dirname(input);
    parts.set(part, (parts.get(part) ?? 0) + bytesInOutput);
  }
  return {
    size: kilobytes(outputs.reduce((sum, [, { bytes }]) => sum + bytes, 0)),
    gzipped: kilobytes(
      outputs.reduce((sum, [file]) => sum + gzipSync(fs.readFileSync(path.join(ROOT, file))).length, 0),
    ),
    parts: [...parts].sort((a, b) => b[1] - a[1]).slice(0, 8),
  };
}

if (!fs.existsSync(META)) {
  console.error('There are no bundles yet: npm run build.');
  process.exit(1);
}
let over = 0;
const built = fs.readdirSync(META).map((file) => path.basename(file, '.json'));
for (const name of [...new Set([...Object.keys(budgets), ...built])]) {
  const budget = budgets[name];
  if (!budget || !built.includes(name)) {
    console.log(`${name.padEnd(12)} ${budget ? 'was not built' : 'has no budget in scripts/size-budgets.json'}`);
    over++;
    continue;
  }
  const { size, gzipped, parts } = measure(name);
  const tooBig = size > budget.kilobytes || gzipped > (budget.gzipped ?? Number.POSITIVE_INFINITY);
  const limits = `${budget.kilobytes} KB${budget.gzipped ? `, gzipped ${budget.gzipped} KB` : ''}`;
  const goal = budget.goal && size > budget.goal ? `, goal ${budget.goal} KB` : '';
  console.log(`${name.padEnd(12)} ${size} KB, gzipped ${gzipped} KB (budget ${limits}${goal})${tooBig ? ' OVER' : ''}`);
  if (tooBig) {
    over++;
    console.log(parts.map(([part, bytes]) => `  ${kilobytes(bytes)} KB ${part}`).join('\n'));
  }
}
over += await packageSize();
over += packageFiles();
process.exitCode = over > 0 ? 1 : 0;

async function packageSize() {
  const { code, output } = await node('scripts/package.mjs', [], { quiet: true });
  if (code !== 0) {
    console.log(output);
    return 1;
  }
  const size = kilobytes(fs.statSync(VSIX).size);
  const tooBig = size > VSIX_KILOBYTES;
  console.log(`${'package'.padEnd(12)} ${size} KB (budget ${VSIX_KILOBYTES} KB)${tooBig ? ' OVER' : ''}`);
  return tooBig ? 1 : 0;
}

/** What is shipped is what the list says: a file that slips in is seen. */
function packageFiles() {
  const list = new URL('package-files.txt', import.meta.url);
  const listed = execFileSync(process.execPath, [bin('@vscode/vsce/vsce'), 'ls', '--no-dependencies'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const shipped = listed.trim().split('\n').sort();
  if (process.argv.includes('--update')) {
    fs.writeFileSync(list, `${shipped.join('\n')}\n`);
  }
  const expected = fs.readFileSync(list, 'utf8').trim().split('\n');
  const more = shipped.filter((file) => !expected.includes(file)).map((file) => `  shipped, not in the list: ${file}`);
  const less = expected.filter((file) => !shipped.includes(file)).map((file) => `  in the list, not shipped: ${file}`);
  const differs = more.length + less.length > 0;
  console.log(
    `${'files'.padEnd(12)} ${shipped.length} in the package${differs ? ' DIFFER from scripts/package-files.txt' : ''}`,
  );
  if (differs) {
    console.log([...more, ...less].join('\n'));
  }
  return differs ? 1 : 0;
}
