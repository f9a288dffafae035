// Finds a Chromium for the workbench, or installs one where that can be done without asking.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { bin } from '../lib/paths.mjs';
import { node, run } from '../lib/run.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program's path, if the machine has one. */
function find() {
  const fromEnvironment = process.env.CHROMIUM_PATH;
  if (fromEnvironment && !fs.existsSync(fromEnvironment)) {
    throw new Error(`CHROMIUM_PATH names ${fromEnvironment}, which is not there.`);
  }
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/bin', '/snap/bin'];
  const places = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  places.push('/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', chromium.executablePath());
  return fromEnvironment ?? places.find((place) => fs.existsSync(place));
}

async function install() {
  if (process.platform === 'linux' && process.getuid?.() === 0 && fs.existsSync('/usr/bin/apt-get')) {
    console.log(
      'No Chromium on this machine: running apt-get update && apt-get install -y --no-install-recommends chromium …',
    );
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update'], { env, quiet: true });
    const packages = ['chromium', 'fonts-dejavu-core'];
    await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], { env, quiet: true, minutes: 8 });
  }
  if (!find()) {
    console.log('No Chromium on this machine: running playwright-core install chromium …');
    await node(bin('playwright-core/cli.js'), ['install', 'chromium'], { quiet: true, minutes: 8 });
  }
}

/** @returns {Promise<string>} */
export async function findChromium() {
  if (!find()) {
    await install();
  }
  const found = find();
  if (!found) {
    throw new Error(
      'The browser tests need Chromium: install it (Debian, Ubuntu: sudo apt-get install chromium) or set CHROMIUM_PATH.',
    );
  }
  return found;
}

/** WebGPU on the CPU, as Chromium brings it: the same adapter on machines with and without a GPU. */
export const WEBGPU_FLAGS = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

/** @param {readonly string[]} [flags] */
export async function launchChromium(flags = []) {
  // Chromium's own sandbox refuses to run as root, and in most containers.
  const args = ['--no-sandbox', ...flags];
  return chromium.launch({ executablePath: await findChromium(), headless: true, args });
}
