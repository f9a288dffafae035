/** A form: one way in which files start engines. One file each; `index.ts` lists them. */
import type { Form } from '../launch';
import type { Reading } from '../reading';
import type { Mapped } from '../text/mapped';
import type { YamlDocument } from '../yaml/document';

/** A form that is told by its YAML: asked for each document of a YAML file, in the list's order. */
export interface YamlForm {
  readonly kind: 'yaml';
  readonly form: Form;
  /** File names that are of this form whatever they hold. */
  readonly names?: RegExp;
  /** From the top-level keys alone, before anything is parsed; `named` = the file's name or the caller says so. */
  recognises(keys: ReadonlySet<string>, reading: Reading): boolean;
  /** `all` = this file's documents: objects name one another. */
  read(doc: YamlDocument, reading: Reading, all: readonly YamlDocument[]): void;
}

/** A form that is told by its name or first line. */
export interface TextForm {
  readonly kind: 'text';
  readonly form: Form;
  readonly names: RegExp;
  /** From the first kilobytes of a text whose name says nothing. */
  recognises(head: string, reading: Reading): boolean;
  /** Info strings of fenced blocks in Markdown that are of this form. */
  readonly fences?: readonly string[];
  /** `part` is what to read: the whole text, or a part of it (a fence, a notebook's cell). */
  read(reading: Reading, part: Mapped): void;
}

export type FormReader = YamlForm | TextForm;

/** Endings that say a file is a template or an example of what the rest of its name says: `compose.yml.j2`, `values.yaml.example`. */
const TEMPLATE_ENDING = /(?<=[^\\/])\.(?:j2|jinja2?|tpl|tmpl|template|tftpl|gotmpl|mustache|example|sample|dist|in)$/i;

export const withoutTemplateEnding = (name: string): string => name.replace(TEMPLATE_ENDING, '');

/** The last part of a path. */
export const baseName = (path: string): string => path.replace(/^.*[\\/]/, '');
