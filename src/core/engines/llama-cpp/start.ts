/** The words that start llama.cpp's server in a file. */
import type { StartWords } from '../engine';

/**
 * `llama-server`, and images whose entry point it is. The images `…:full` start a script whose first word `--server`
 * starts it. Tags end with a build (`server-cuda-b4719`) or a release (`server-v0.5.0`).
 */
export const LLAMA_CPP_START: StartWords = {
  names: ['llama-server', 'llama.cpp'],
  commands: [['llama-server']],
  modules: [],
  images: [/(?:^|\/)(?:ggml-org|ggerganov)\/llama\.cpp$/i, /(?:^|\/)llama-server(?:-[a-z0-9.]+)*$/i],
  imageVersion: /(?:^|-)(b\d{3,6}|v?\d+\.\d+(?:\.\d+)?)$/i,
  imageEntry: ['llama-server'],
  modelOption: 'model',
  positionalModel: false,
};
