// The layer rules of .dependency-cruiser.cjs, on the project and on a planted tree that breaks each of them:
// a rule that no longer sees anything (a tool that cannot read the sources, a folder renamed) must not pass for quiet.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { cruise } from 'dependency-cruiser';
import { ROOT } from './lib/paths.mjs';

const { forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs');

/** One file for each rule: where it stands, and the import that the rule must refuse. */
const PLANTS = {
  'core-imports-nothing-above': ['src/core/a.ts', '../report/target'],
  'an-engine-never-imports-another': ['src/core/engines/vllm/a.ts', '../sglang/target'],
  'launch-sees-only-option-tables-and-units': ['src/launch/a.ts', '../core/engines/vllm/target'],
  'planner-and-report-stay-below-the-faces': ['src/report/a.ts', '../editor/target'],
  'planner-does-not-render': ['src/planner.ts', './report/target'],
  'editor-and-dashboard-do-not-meet-cli-or-webview': ['src/editor/a.ts', '../cli/target'],
  'cli-uses-planner-and-report': ['src/cli/a.ts', '../editor/target'],
  'webview-sees-protocol-pool-and-units': ['webview/a.ts', '../src/core/engines/target'],
  'protocol-sees-only-pool-and-units': ['src/dashboard/protocol.ts', '../core/engines/target'],
  'toolkit-only-behind-ui': ['webview/b.ts', '@vscode/webview-ui-toolkit'],
  'vscode-only-in-the-editor-faces': ['src/report/b.ts', 'vscode'],
  'no-node-outside-the-command-line': ['src/editor/b.ts', 'node:fs'],
  'no-circle': ['src/core/c.ts', './c2'],
  'only-what-is-declared': ['src/core/d.ts', 'not-a-dependency'],
};
/** Files that the plants import. */
const TARGETS = {
  'src/core/c2.ts': "import './c';",
  'src/report/target.ts': '',
  'src/editor/target.ts': '',
  'src/cli/target.ts': '',
  'src/core/engines/target.ts': '',
  'src/core/engines/vllm/target.ts': '',
  'src/core/engines/sglang/target.ts': '',
};

process.exitCode = (await project()) && (await planted()) ? 0 : 1;

async function project() {
  const { modules, summary } = await look(ROOT);
  for (const { rule, from, to } of summary.violations) {
    console.error(`${from} → ${to}: ${rule.name}`);
  }
  const own = modules.filter(({ source }) => /^(src|webview)\//.test(source)).length;
  const written = count(path.join(ROOT, 'src')) + count(path.join(ROOT, 'webview'));
  if (own < written) {
    console.error(`Of ${written} source files the check saw ${own}.`);
    return false;
  }
  console.log(`layers: ${own} files, ${summary.violations.length} violations`);
  return summary.violations.length === 0;
}

async function planted() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kv-planner-layers-'));
  try {
    const plants = Object.values(PLANTS).map(([file, to]) => [file, `import '${to}';`]);
    for (const [file = '', text = ''] of [...plants, ...Object.entries(TARGETS)]) {
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      fs.writeFileSync(path.join(folder, file), text);
    }
    for (const file of ['package.json', 'tsconfig.json']) {
      fs.copyFileSync(path.join(ROOT, file), path.join(folder, file));
    }
    fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
    const { summary } = await look(folder);
    const seen = (/** @type {string} */ name, /** @type {string | undefined} */ file) =>
      summary.violations.some(({ rule, from }) => rule.name === name && from === file);
    const rules = forbidden.map((/** @type {{ name: string }} */ { name }) => name);
    const silent = rules.filter((/** @type {keyof typeof PLANTS} */ name) => !seen(name, PLANTS[name]?.[0]));
    if (silent.length > 0) {
      console.error(`These rules did not see the violation planted for them: ${silent.join(', ')}`);
      return false;
    }
    console.log(`layers: ${rules.length} planted violations, all seen`);
    return true;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} baseDir @returns {Promise<import('dependency-cruiser').ICruiseResult>} */
async function look(baseDir) {
  const { tsConfig, enhancedResolveOptions, ...rest } = options;
  const { output } = await cruise(
    ['src', 'webview'],
    { ...rest, baseDir, ruleSet: { forbidden }, validate: true },
    enhancedResolveOptions,
  );
  return /** @type {import('dependency-cruiser').ICruiseResult} */ (output);
}

/** @param {string} folder */
function count(folder) {
  return fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file)).length;
}
