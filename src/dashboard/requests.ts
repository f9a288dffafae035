/** What the host does for its page: one handler for each method of the protocol. */
import { l10n, Uri, window, workspace } from 'vscode';
import type { Method, Params, Result } from './protocol';
import { type TextPart, textParts } from './unpack';

/** Rejects with words for the person. */
export type Handlers = { readonly [M in Method]: (params: Params<M>) => Promise<Result<M>> };

/** How long the status bar says that something is done, in milliseconds. */
const SAID = 5000;

/** Files of traces may be large; beyond this a page would no longer take them. */
const MOST_BYTES = 2 ** 26;

export async function save({ name, type, content, base64 }: Params<'save'>): Promise<Result<'save'>> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const file = `${name.replaceAll(/[^\w.-]+/g, '-')}.${type}`;
  const target = await window.showSaveDialog({
    title: l10n.t('Save'),
    filters: { [type.toUpperCase()]: [type] },
    ...(folder && { defaultUri: Uri.joinPath(folder, file) }),
  });
  if (!target) {
    return { saved: false };
  }
  const bytes = base64 ? Uint8Array.from(atob(content), (c) => c.charCodeAt(0)) : new TextEncoder().encode(content);
  await workspace.fs.writeFile(target, bytes);
  window.setStatusBarMessage(l10n.t('Saved {0}', workspace.asRelativePath(target, false)), SAID);
  return { saved: true };
}

/** A file that the page reads part by part: the latest one that it asked for. */
export function textFile(): Pick<Handlers, 'openText' | 'readText'> {
  let last = 0;
  let open: { readonly id: number; readonly parts: AsyncGenerator<TextPart> } | undefined;
  return {
    async openText({ title, endings }) {
      const picked = await window.showOpenDialog({
        title,
        filters: { [title]: [...endings], [l10n.t('All files')]: ['*'] },
      });
      const uri = picked?.[0];
      if (!uri) {
        return {};
      }
      const { size } = await workspace.fs.stat(uri);
      if (size > MOST_BYTES) {
        throw new Error(l10n.t('The file is larger than 64 MiB, which is more than the dashboard can take.'));
      }
      open = { id: ++last, parts: textParts(await workspace.fs.readFile(uri), MOST_BYTES) };
      return { file: { id: open.id, name: uri.path.slice(uri.path.lastIndexOf('/') + 1) } };
    },
    async readText({ id }) {
      if (open?.id !== id) {
        throw new Error(l10n.t('The file is not open any more.'));
      }
      const { value } = await open.parts.next();
      if (!value || value.share === 1) {
        open = undefined;
      }
      return { text: value?.text ?? '', share: value?.share ?? 1, last: !value || value.share === 1 };
    },
  };
}
