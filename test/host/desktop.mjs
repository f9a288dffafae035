// One run of the suite in a desktop VS Code: `desktop.mjs PROGRAM SUITE FOLDER`.
import { runTests } from '@vscode/test-electron';
import { ROOT } from '../../scripts/lib/paths.mjs';

const [vscodeExecutablePath, extensionTestsPath = '', folder = ''] = process.argv.slice(2);
// A container's root may not use Chromium's sandbox.
const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const quiet = ['--disable-extensions', '--disable-workspace-trust', '--skip-welcome', '--skip-release-notes'];
await runTests({
  vscodeExecutablePath,
  extensionDevelopmentPath: ROOT,
  extensionTestsPath,
  launchArgs: [folder, ...quiet, '--disable-gpu', ...asRoot],
}).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
