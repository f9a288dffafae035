/** A file that a form reads by its name is looked at in the editor, and found by the search. */
import { describe, expect, it } from 'vitest';
import { FILE_NAMES, formOf, LANGUAGES, SCANNED } from '../../../src/editor/sniff';
import { FORMS } from '../../../src/launch/forms';

/** What VS Code 1.100 calls files of these names without further extensions: the `contributes.languages` of its own. */
const OWN: { readonly [language: string]: RegExp } = {
  bat: /\.(?:bat|cmd)$/i,
  dockerfile: /^(?:Docker|Container)file(?:\..*)?$|\.(?:docker|container)file$/i,
  ini: /\.ini$/i,
  json: /\.(?:json|ipynb)$/i,
  makefile: /\.(?:mak|mk)$|^(?:GNU)?makefile$/i,
  markdown: /\.(?:md|markdown)$/i,
  modelfile: /^modelfile(?:[._-].*)?$|\.modelfile$/i, // ours
  pbtxt: /\.pbtxt$/i, // ours
  powershell: /\.psm?1$/i,
  properties: /\.(?:conf|cfg|properties)$/i,
  python: /\.pyw?$/i,
  shellscript: /\.(?:sh|bash|zsh|ksh)$|^\.envrc$/i,
  yaml: /\.ya?ml$/i,
};

const NAMES: readonly string[] = [
  ...['serve.sh', 'a.bash', 'a.zsh', 'a.ksh', 'a.command', 'a.sbatch', 'a.slurm', 'a.py', 'a.pyw', 'a.ipynb'],
  ...['Dockerfile', 'Dockerfile.gpu', 'a.dockerfile', 'Containerfile', 'Containerfile.gpu', 'a.containerfile'],
  ...[
    'Makefile',
    'makefile',
    'GNUmakefile',
    'Makefile.gpu',
    'a.mk',
    'a.mak',
    'justfile',
    'Justfile',
    '.justfile',
    'a.just',
  ],
  ...['a.md', 'a.markdown', 'a.mdx', 'a.qmd', 'a.rmd', 'a.Rmd', 'a.ps1', 'a.psm1', 'a.bat', 'a.cmd'],
  ...['a.tf', 'a.tofu', 'a.hcl', 'a.nomad', 'cerebrium.toml', 'config.pbtxt'],
  ...['Modelfile', 'Modelfile.q4', 'Modelfile-q4', 'a.modelfile', 'vllm.service', 'vllm.container', 'override.conf'],
  ...[
    'vllm.service.d/10-gpu.conf',
    'vllm.container.d/10-gpu.conf',
    '.env',
    '.env.llama',
    '.env-llama',
    '.env_llama',
    'a.env',
  ],
  ...[
    'a.env.example',
    'presets.ini',
    'a.preset.ini',
    'compose.yaml',
    'docker-compose.gpu.yml',
    '.gitlab-ci.yml',
    'Taskfile.yml',
    'a.sky.yaml',
  ],
];

const matcher = (glob: string): RegExp => {
  const inner = glob.slice(glob.indexOf('{') + 1, -1).split(',');
  return new RegExp(`^(?:${inner.map((n) => n.replaceAll('.', '\\.').replaceAll('*', '.*')).join('|')})$`);
};

describe.each(NAMES)('%s', (path) => {
  const name = path.slice(path.lastIndexOf('/') + 1);

  it('is looked at in the editor', () => {
    const languages = Object.keys(OWN).filter((language) => OWN[language]?.test(name));
    const isKnown = languages.some((language) => LANGUAGES.includes(language));
    expect(isKnown || matcher(FILE_NAMES).test(name)).toBe(true);
  });

  it('is found by the search', () => expect(name).toMatch(matcher(SCANNED)));
});

it('names a file for every form that is known by its name', () => {
  const named = FORMS.filter((f) => f.names);
  expect(named.filter((f) => !NAMES.some((name) => f.names?.test(name))).map((f) => f.form)).toEqual([
    'llama-swap', // llama-swap*.yaml
    'dstack', // *.dstack.yml
  ]);
});

describe('a text whose name does not say how it is read', () => {
  it.each([
    ['untitled', 'Untitled-1', 'dockerfile', 'dockerfile'],
    ['untitled', 'Untitled-1', 'yaml', undefined],
    ['file', 'bin/serve', 'python', 'python'],
    ['file', 'bin.d/serve.sh', 'python', undefined],
    ['vscode-notebook-cell', 'a.ipynb', 'python', 'notebook'],
    ['vscode-notebook-cell', 'a.ipynb', 'markdown', 'markdown'],
  ])('%s %s, %s', (scheme, name, language, form) => expect(formOf(scheme, name, language)).toBe(form));
});
