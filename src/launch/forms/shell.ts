/** Shell scripts and command lines. */

import { mentionsEngine } from '../mentions';
import { readShell } from '../shell/script';
import { baseName, type TextForm } from './form';

export const shell: TextForm = {
  kind: 'text',
  form: 'shell',
  names: /\.(?:sh|bash|zsh|ksh|command|sbatch|slurm)$/i,
  recognises: (head) => /^\uFEFF?#!.*\b(?:ba|z|k|da)?sh\b/.test(head),
  fences: ['', 'console', 'shell-session', 'terminal', 'sh', 'bash', 'shell', 'zsh', 'ksh', 'fish'],
  read: (reading, part) => {
    if (mentionsEngine(part.text, reading.engines)) {
      readShell(reading, part, { form: 'shell', title: baseName(reading.input.name) });
    }
  },
};
