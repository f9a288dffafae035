/** The words that start Ollama's server in a file. It takes no options: its settings are environment variables. */
import type { StartWords } from '../start-words';

export const OLLAMA_START: StartWords = {
  names: ['ollama'],
  commands: [
    ['ollama', 'serve'],
    ['ollama', 'start'],
  ],
  clients: [
    { words: ['ollama', 'run'], loads: true },
    { words: ['ollama', 'pull'], loads: false },
  ],
  modules: [],
  images: [/(?:^|\/)ollama\/ollama$/i],
  imageEntry: ['ollama', 'serve'],
  // The entry point is `ollama`, and `serve` its usual word.
  imageFirst: [{ tag: /^/, word: /^(?:serve|start)?$/ }],
  modelOption: 'model',
  positionalModel: false,
  byEnvironment: true,
};
