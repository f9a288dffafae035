/** The words that start SGLang in a file. */
import type { StartWords } from '../start-words';

/**
 * `python -m sglang.launch_server --model-path MODEL`, and since 0.5.6 `sglang serve MODEL`. Images start a shell, not
 * the server: their command is one of these. The router starts as many servers as it has data-parallel ranks.
 */
export const SGLANG_START: StartWords = {
  names: ['sglang'],
  commands: [['sglang', 'serve']],
  modules: ['sglang.launch_server', 'sglang_router.launch_server', 'dynamo.sglang'],
  images: [/(?:^|\/)(?:[a-z0-9.]+-)*sglang(?:-[a-z0-9.]+)*$/i],
  imageEntry: [],
  modelOption: 'model-path',
  python: [{ module: 'sglang', names: ['Engine', 'Runtime', 'ServerArgs'], positional: ['model-path'] }],
  positionalModel: true,
  configOption: 'config',
};
