/** Which documents are looked at, and what stands where in them. */
import { type DocumentSelector, languages, Range, type TextDocument, type Uri, WorkspaceEdit, workspace } from 'vscode';
import type { TextEdit } from '../launch/edit';
import type { TextRange } from '../launch/launch';
import { FILE_NAMES, LANGUAGES } from './sniff';

const PLAIN = { language: 'plaintext', pattern: `**/${FILE_NAMES}` };

export const SELECTOR: DocumentSelector = [...LANGUAGES.map((language) => ({ language })), PLAIN];

/** Old revisions that source control shows beside the file, and our own pages. */
const NOT_FILES = new Set([
  ...['git', 'gitfs', 'gitlens', 'review', 'pr', 'vscode-scm', 'vscode-local-history', 'chat-editing-text-model'],
  ...['output', 'kv-planner-report'],
]);

/** Ours to look at: the same answer as `SELECTOR`, for documents that come without a provider. */
export const isSupported = (document: TextDocument): boolean =>
  LANGUAGES.includes(document.languageId) || languages.match(PLAIN, document) > 0;

/** Whether its findings belong in the list of problems. */
export const isFile = (uri: Uri): boolean => !NOT_FILES.has(uri.scheme);

export const rangeIn = (document: TextDocument, range: TextRange): Range =>
  new Range(document.positionAt(range.start), document.positionAt(range.end));

/** All of them in one step, which the user can undo. */
export function applyEdits(document: TextDocument, edits: readonly TextEdit[]): Thenable<boolean> {
  const change = new WorkspaceEdit();
  for (const { range, text } of edits) {
    change.replace(document.uri, rangeIn(document, range), text);
  }
  return workspace.applyEdit(change);
}
