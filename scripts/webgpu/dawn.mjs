// WebGPU in plain Node: Dawn from the npm package `webgpu`, and the software adapter that Chromium brings.
import fs from 'node:fs';
import path from 'node:path';
import { CACHE } from '../lib/paths.mjs';
import { npm } from '../lib/run.mjs';
import { findChromium } from '../vscode/chromium.mjs';

/** 0.5.0 and 0.6.0 want a newer C++ library than Debian 12 has. */
const VERSION = '0.6.2';

/**
 * Dawn's folder. It is 132 MB and only this needs it, so it is installed once into the user's cache folder, not with the
 * project; its install downloads nothing but the package.
 */
export async function installDawn() {
  const home = path.join(CACHE, `webgpu-${VERSION}`);
  const built = path.join(home, 'node_modules/webgpu/index.js');
  if (!fs.existsSync(built)) {
    console.log(`Installing Dawn (npm package webgpu@${VERSION}) into ${home} …`);
    fs.mkdirSync(CACHE, { recursive: true });
    const building = fs.mkdtempSync(`${home}.building-`);
    fs.writeFileSync(path.join(building, 'package.json'), JSON.stringify({ private: true }));
    // Who is offline learns it in seconds; npm by itself tries for more than a minute.
    const patience = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=3000'];
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const args = ['install', ...quiet, ...patience, `webgpu@${VERSION}`];
    const { code, output } = await npm(args, { cwd: building, minutes: 10, quiet: true });
    if (code !== 0) {
      fs.rmSync(building, { recursive: true, force: true });
      const reason = /^npm error (?!code|syscall|errno|path)(.+)$/m.exec(output)?.[1] ?? `npm ended with ${code}`;
      throw new Error(
        `The kernel checks need Dawn (npm package webgpu@${VERSION}), which could not be fetched: ${reason}. ` +
          `It is fetched once, into ${CACHE}: run this again where npm reaches its registry.`,
      );
    }
    if (fs.existsSync(built)) {
      fs.rmSync(building, { recursive: true, force: true }); // another run was first
    } else {
      fs.rmSync(home, { recursive: true, force: true });
      fs.renameSync(building, home);
    }
  }
  return built;
}

/** The variables that make Vulkan, and so Dawn, find the software adapter beside the browser; undefined where there is none. */
export async function softwareAdapter() {
  const browser = fs.realpathSync(await findChromium());
  const folders = [path.dirname(browser), '/usr/lib/chromium', '/usr/lib/chromium-browser', '/opt/google/chrome'];
  const folder = folders.find((place) => fs.existsSync(path.join(place, 'vk_swiftshader_icd.json')));
  if (!folder) {
    return undefined;
  }
  const driver = path.join(folder, 'vk_swiftshader_icd.json');
  const libraries = [process.env.LD_LIBRARY_PATH, folder].filter(Boolean).join(path.delimiter);
  return { VK_ICD_FILENAMES: driver, VK_DRIVER_FILES: driver, LD_LIBRARY_PATH: libraries };
}
