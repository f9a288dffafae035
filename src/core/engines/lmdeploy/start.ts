/** The words that start LMDeploy in a file. */
import type { StartWords } from '../start-words';

/** `lmdeploy serve api_server MODEL` and its kin. The image's own entry point starts nothing. */
export const LMDEPLOY_START: StartWords = {
  names: ['lmdeploy'],
  commands: [
    ['lmdeploy', 'serve', 'api_server'],
    ['lmdeploy', 'serve', 'gradio'],
    ['lmdeploy', 'chat'],
  ],
  modules: ['lmdeploy serve api_server', 'lmdeploy.cli serve api_server', 'lmdeploy.serve.openai.api_server'],
  images: [/(?:^|\/)lmdeploy(?:-[a-z0-9.]+)*$/i],
  imageEntry: [],
  modelOption: 'model-path',
  python: [
    {
      module: 'lmdeploy',
      names: ['pipeline', 'serve'],
      positional: ['model-path', 'backend_config'],
      holders: ['backend_config'],
    },
  ],
  positionalModel: true,
};
