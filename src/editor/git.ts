/**
 * Older texts of a file, asked of VS Code's own Git extension: nothing is started here. Only what is used of its API is
 * described (extensions/git/src/api/git.d.ts of microsoft/vscode, API version 1).
 */
import { extensions, type Uri } from 'vscode';

interface GitApi {
  getRepository(uri: Uri): Repository | null;
  toGitUri(uri: Uri, ref: string): Uri;
}

interface Repository {
  log(options?: { readonly maxEntries?: number; readonly path?: string }): Promise<readonly Commit[]>;
}

interface Commit {
  readonly hash: string;
  readonly message: string;
  readonly authorName?: string;
  readonly authorDate?: Date;
}

export interface Revision {
  /** A commit, or `HEAD`. */
  readonly ref: string;
  readonly title: string;
  readonly detail: string;
  /** Its text opens as a document. */
  readonly uri: Uri;
}

const MOST = 50;

export type NoGit = 'no-git' | 'no-repository';

/** The file as a commit, a branch or `HEAD` has it; whether it is there shows when it is opened. */
export async function revisionAt(file: Uri, ref: string): Promise<Uri | NoGit> {
  const git = await gitFor(file);
  return typeof git === 'string' ? git : git.api.toGitUri(file, ref);
}

/** Newest first. A string says why there are none. */
export async function revisionsOf(file: Uri): Promise<readonly Revision[] | NoGit> {
  const git = await gitFor(file);
  if (typeof git === 'string') {
    return git;
  }
  const { api, repository } = git;
  const commits = await repository.log({ maxEntries: MOST, path: file.fsPath });
  return commits.map(({ hash, message, authorName, authorDate }) => ({
    ref: hash,
    title: message.split('\n', 1)[0] ?? '',
    detail: [hash.slice(0, 8), authorDate?.toLocaleDateString(), authorName].filter(Boolean).join(' · '),
    uri: api.toGitUri(file, hash),
  }));
}

async function gitFor(file: Uri): Promise<{ readonly api: GitApi; readonly repository: Repository } | NoGit> {
  const extension = extensions.getExtension<{ getAPI(version: 1): GitApi }>('vscode.git');
  if (!extension) {
    return 'no-git';
  }
  const api = await activated(extension);
  if (!api) {
    return 'no-git'; // switched off by git.enabled, or no git on this machine
  }
  const repository = api.getRepository(file);
  return repository ? { api, repository } : 'no-repository';
}

async function activated(extension: {
  activate(): Thenable<{ getAPI(version: 1): GitApi }>;
}): Promise<GitApi | undefined> {
  try {
    return (await extension.activate()).getAPI(1);
  } catch {
    return undefined;
  }
}

/** The same where it does not matter why there are none. */
export async function olderTexts(file: Uri): Promise<readonly Revision[]> {
  const found = await revisionsOf(file);
  return typeof found === 'string' ? [] : found;
}
