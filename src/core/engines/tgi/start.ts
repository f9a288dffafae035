/** The words that start Text Generation Inference in a file. */
import type { StartWords } from '../start-words';

/** The images start the launcher; all of it may come from the environment. */
export const TGI_START: StartWords = {
  names: ['text-generation-', 'tgi-inference'],
  commands: [['text-generation-launcher']],
  modules: [],
  images: [
    /(?:^|\/)text-generation-inference(?:-[a-z0-9.]+)*$/i,
    /(?:^|\/)huggingface-pytorch-tgi-inference$/i,
    /(?:^|\/)huggingface-text-generation-inference(?:-[a-z0-9.-]+)?$/i,
  ],
  imageEntry: ['text-generation-launcher'],
  exactFlags: true,
  modelOption: 'model-id',
  positionalModel: false,
};
