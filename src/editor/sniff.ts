/** A look at a document before anything heavy is loaded: might a launch be in it? */
import type { Form } from '../launch/launch';
import { ENGINE_NAMES } from './engine-names.generated';

/**
 * Languages of files that start an engine: the editor's own, ours, and those that common extensions bring. The same list
 * stands in the manifest's activation events.
 */
export const LANGUAGES: readonly string[] = [
  'yaml',
  'dockercompose',
  'helm',
  'ansible',
  'github-actions-workflow',
  'azure-pipelines',
  'gitlab-ci',
  'shellscript',
  'dockerfile',
  'python',
  'makefile',
  'just',
  'json',
  'jsonc',
  'ini',
  'properties',
  'dotenv',
  'env',
  'systemd-unit-file',
  'systemd-conf',
  'markdown',
  'mdx',
  'quarto',
  'rmd',
  'powershell',
  'bat',
  'hcl',
  'terraform',
  'opentofu',
  'nomad',
  'toml',
  'modelfile',
  'pbtxt',
];

/**
 * Files that start an engine in a language that an editor without further extensions does not know: it calls them plain
 * text. In words of a document selector, which knows `*` and `{a,b}`.
 */
export const FILE_NAMES =
  '{*.toml,*.hcl,*.nomad,*.tf,*.tofu,*.gotmpl,*.service,*.container,override.conf,*.sbatch,*.slurm,*.command,justfile,Justfile,.justfile,.Justfile,*.just,*.mk,Makefile.*,*.mdx,*.qmd,*.rmd,*.Rmd,*.env,.env,.env.*,.env-*,.env_*,*.env.*,.envrc,Procfile}';

/** How a text is read whose name does not say: untitled, a notebook's cell, without an ending. Of YAML its keys tell. */
const FORMS: { readonly [language: string]: Form } = {
  python: 'python',
  shellscript: 'shell',
  dockerfile: 'dockerfile',
  makefile: 'makefile',
  just: 'justfile',
  markdown: 'markdown',
  powershell: 'powershell',
  bat: 'batch',
  hcl: 'hcl',
  terraform: 'hcl',
  opentofu: 'hcl',
  nomad: 'hcl',
  pbtxt: 'triton',
  modelfile: 'modelfile',
  dotenv: 'env-file',
  'systemd-unit-file': 'systemd',
};

export function formOf(scheme: string, name: string, language: string): Form | undefined {
  if (scheme === 'vscode-notebook-cell') {
    return language === 'python' ? 'notebook' : FORMS[language];
  }
  return scheme === 'untitled' || !/\.[^\\/]*$/.test(name) ? FORMS[language] : undefined;
}

/** Files that are looked through for launches in a whole workspace: by name, since a closed file has no language yet. */
export const SCANNED =
  '**/{*.yaml,*.yml,*.json,*.jsonc,*.sh,*.bash,*.zsh,*.ksh,*.command,*.ps1,*.psm1,*.bat,*.cmd,*.py,*.pyw,*.ipynb,*.toml,*.ini,*.cfg,*.conf,*.properties,*.env,.env,.env.*,.env-*,.env_*,*.env.*,.envrc,*.hcl,*.nomad,*.tf,*.tofu,*.gotmpl,*.service,*.container,*.sbatch,*.slurm,*.pbtxt,*.textproto,*.md,*.markdown,*.mdx,*.qmd,*.rmd,*.Rmd,*.mk,*.mak,*.tpl,Dockerfile,Dockerfile.*,*.dockerfile,Containerfile,Containerfile.*,*.containerfile,Makefile,makefile,Makefile.*,GNUmakefile,justfile,Justfile,.justfile,.Justfile,*.just,Modelfile,Modelfile.*,Modelfile-*,Modelfile_*,*.modelfile,Procfile}';

/** What is looked at: far beyond any launch file's start, and cheap (under a millisecond). */
const LOOKED_AT = 512 * 1024;

/**
 * Engine names as they stand in commands, modules and images, our own comment, and the option words of a bare
 * config file that names no engine. May say yes to a file without a launch; must not say no to one with: a test holds
 * it against the words of every engine.
 */
const NAMES = ENGINE_NAMES.map((name) => name.replaceAll('.', '\\.')).join('|');
const OPTIONS =
  'max[-_]model[-_]len|gpu[-_]memory[-_]utilization|tensor[-_]parallel[-_]size|kv[-_]cache[-_]dtype|max[-_]num[-_]seqs|served[-_]model[-_]name|mem[-_]fraction[-_]static|max[-_]running[-_]requests|tp[-_]size|free[-_]gpu[-_]memory[-_]fraction|max[-_]batch[-_]size|cache[-_]max[-_]entry[-_]count|ctx[-_]size|max[-_]total[-_]tokens|num[-_]ctx|num[-_]parallel|context[-_](?:length|size)|gpu[-_]layers|kaito\\.sh|inferenceservice';
const WORDS = new RegExp(`${NAMES}|kv-planner:|(?:${OPTIONS})\\b`, 'i');

/** Ollama's, whose words are few and common. */
const MODELFILE = /(?:^|[\\/])modelfile[^\\/]*$|\.modelfile$/i;

export const mayHoldLaunch = (text: string, name = ''): boolean =>
  MODELFILE.test(name) || WORDS.test(text.length > LOOKED_AT ? text.slice(0, LOOKED_AT) : text);
