// Writes the bundled catalogue from a folder of collected facts.
//   node scripts/make-catalogue.mjs FACTS_DIR
// FACTS_DIR holds models.json, gpus.json, quant.json, alias_rules.json and cloud_instances.json: numbers with their
// public sources. Kept are entries whose deciding fields have a better source than memory; the compact form is
// described in src/core/model/catalogue-row.ts and src/core/hardware/find-gpu.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gpuRows, instanceRows } from './catalogue/gpus.mjs';
import { modelRows } from './catalogue/models.mjs';
import { quantRows } from './catalogue/quant.mjs';

const [facts] = process.argv.slice(2);
if (!facts) {
  console.error('usage: node scripts/make-catalogue.mjs FACTS_DIR');
  process.exit(2);
}
const read = (name) => JSON.parse(readFileSync(path.join(facts, name), 'utf8'));

// One entry a line, so that a change of facts reads well in a diff. A string, not an object: parsed on first use.
function write(file, name, parts) {
  const lines = (rows) => `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]`;
  const json = `{${Object.entries(parts)
    .map(([key, value]) => `"${key}":${Array.isArray(value) ? lines(value) : JSON.stringify(value)}`)
    .join(',\n')}}`;
  const text = json.replace(/[\\`]|\$\{/g, '\\$&');
  writeFileSync(file, `// Written by scripts/make-catalogue.mjs: do not edit.\nexport const ${name} = \`${text}\`;\n`);
  return Buffer.byteLength(text);
}

const models = modelRows(read('models.json'));
const quant = quantRows(read('quant.json'), read('alias_rules.json'));
const modelBytes = write('src/core/model/catalogue.generated.ts', 'catalogueJson', {
  sources: models.sources,
  models: models.rows,
});
write('src/core/model/quantisation.generated.ts', 'quantisationJson', quant);
const gpus = gpuRows(read('gpus.json'));
const gpuBytes = write('src/core/hardware/gpus.generated.ts', 'gpusJson', {
  sources: gpus.sources,
  gpus: gpus.rows,
  instances: instanceRows(read('cloud_instances.json'), gpus.rows),
});
console.log(`${models.rows.length} models, ${modelBytes} bytes; left out: ${models.left.length}`);
for (const { id, why } of models.left) {
  console.log(`  ${id}: ${why}`);
}
console.log(`${gpus.rows.length} GPUs, ${gpuBytes} bytes; left out: ${gpus.left.join(', ')}`);
