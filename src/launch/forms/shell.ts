/** Shell scripts and command lines. */

import { mentionsEngine } from '../mentions';
import { readShell } from '../shell/script';
import { plainText } from '../text/mapped';
import type { TextForm } from './form';

export const shell: TextForm = {
  kind: 'text',
  form: 'shell',
  names: /\.(?:sh|bash|zsh|ksh|command|sbatch|slurm)$/i,
  recognises: (head) => /^\uFEFF?#!.*\b(?:ba|z|k|da)?sh\b/.test(head),
  read: (reading) => {
    if (mentionsEngine(reading.text, reading.engines)) {
      const { text, input } = reading;
      const title = input.name.replace(/^.*[\\/]/, '');
      readShell(reading, plainText(text, 0, text.length), { form: 'shell', title });
    }
  },
};
