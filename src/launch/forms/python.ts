/** Python programs that make an engine, or run its command. */
import { mentionsEngine } from '../mentions';
import { readPython } from '../python/program';
import { baseName, type TextForm } from './form';

export const python: TextForm = {
  kind: 'text',
  form: 'python',
  names: /\.pyw?$/i,
  recognises: (head) => /^\uFEFF?#!.*\bpython[\d.]*\b/.test(head),
  fences: ['python', 'py', 'python3'],
  read: (reading, part) => {
    if (mentionsEngine(part.text, reading.engines)) {
      readPython(reading, part, { form: 'python', title: baseName(reading.input.name) });
    }
  },
};
