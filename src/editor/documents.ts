/** Which documents are looked at, and what stands where in them. */
import { type DocumentSelector, Range, type TextDocument, type Uri } from 'vscode';
import type { TextRange } from '../launch/launch';
import { FILE_NAMES, LANGUAGES } from './sniff';

export const SELECTOR: DocumentSelector = [
  ...LANGUAGES.map((language) => ({ language })),
  ...FILE_NAMES.map((name) => ({ pattern: `**/${name}` })),
];

/** Old revisions that source control shows beside the file, and our own pages. */
const NOT_FILES = new Set(['git', 'gitfs', 'review', 'vscode-scm', 'output', 'kv-planner-report']);

export const isSupported = ({ languageId, uri }: TextDocument): boolean =>
  LANGUAGES.includes(languageId) || FILE_NAMES.some((name) => uri.path.endsWith(`/${name}`));

/** Whether its findings belong in the list of problems. */
export const isFile = (uri: Uri): boolean => !NOT_FILES.has(uri.scheme);

export const rangeIn = (document: TextDocument, range: TextRange): Range =>
  new Range(document.positionAt(range.start), document.positionAt(range.end));
