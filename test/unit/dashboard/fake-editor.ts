/**
 * An editor of a few files in memory: as much of VS Code as the dashboard's host and the plans of open files touch. Every
 * listener and watcher is counted, and what a real editor refuses after a panel is closed is refused here too.
 */

interface Dropped {
  dispose(): void;
}

class Disposable implements Dropped {
  constructor(readonly dispose: () => void) {}
  static from = (...all: readonly Dropped[]): Disposable =>
    new Disposable(() => {
      for (const one of all) {
        one.dispose();
      }
    });
}

/** Everything that has been asked for and not given back. */
const alive = new Set<object>();

class EventEmitter<T> {
  readonly #listeners = new Set<{ readonly call: (event: T) => unknown }>();
  readonly event = (call: (event: T) => unknown): Disposable => {
    const listener = { call };
    this.#listeners.add(listener);
    alive.add(listener);
    return new Disposable(() => this.#drop(listener));
  };
  fire = (event: T): void => {
    for (const { call } of [...this.#listeners]) {
      call(event);
    }
  };
  dispose = (): void => {
    for (const listener of this.#listeners) {
      this.#drop(listener);
    }
  };
  #drop(listener: { readonly call: (event: T) => unknown }): void {
    this.#listeners.delete(listener);
    alive.delete(listener);
  }
}

class Uri {
  private constructor(
    readonly scheme: string,
    readonly authority: string,
    readonly path: string,
    readonly query: string,
  ) {}
  static parse(text: string, strict = false): Uri {
    const [, scheme, authority = '', path = '', query = ''] =
      /^([a-z][\w+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/i.exec(text) ?? [];
    if (scheme === undefined && strict) {
      throw new Error(`[UriError]: Scheme is missing: ${text}`);
    }
    return new Uri(scheme ?? 'file', authority, decodeURIComponent(path), decodeURIComponent(query));
  }
  static file = (path: string): Uri => new Uri('file', '', path, '');
  static joinPath = ({ scheme, authority, path, query }: Uri, ...parts: readonly string[]): Uri => {
    const joined = new URL([path.replace(/\/$/, ''), ...parts].join('/'), 'x://x').pathname;
    return new Uri(scheme, authority, decodeURIComponent(joined).replace(/(.)\/$/, '$1'), query);
  };
  get fsPath(): string {
    return this.path;
  }
  with = (change: Partial<Pick<Uri, 'scheme' | 'path' | 'query'>>): Uri =>
    new Uri(change.scheme ?? this.scheme, this.authority, change.path ?? this.path, change.query ?? this.query);
  toString = (): string =>
    `${this.scheme}:${this.scheme === 'untitled' ? '' : `//${this.authority}`}${encodeURI(this.path)}${this.query && `?${encodeURIComponent(this.query)}`}`;
}

interface Position {
  readonly line: number;
  readonly character: number;
}

const at = (line: number, character: number): Position => ({ line, character });

class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(...ends: readonly [Position, Position] | readonly [number, number, number, number]) {
    [this.start, this.end] = ends.length === 2 ? ends : [at(ends[0], ends[1]), at(ends[2], ends[3])];
  }
}

class Selection extends Range {
  get active(): Position {
    return this.end;
  }
}

class Document {
  version = 1;
  isClosed = false;
  isDirty = false;
  constructor(
    readonly uri: Uri,
    public text: string,
    readonly languageId = /\.sh$/.test(uri.path) ? 'shellscript' : 'yaml',
  ) {}
  get isUntitled(): boolean {
    return this.uri.scheme === 'untitled';
  }
  get fileName(): string {
    return this.uri.path;
  }
  get lineCount(): number {
    return this.text.split('\n').length;
  }
  getText = (): string => this.text;
  lineAt = (line: number): { range: Range } => ({
    range: new Range(line, 0, line, this.text.split('\n')[line]?.length ?? 0),
  });
  positionAt(offset: number): Position {
    const before = this.text.slice(0, Math.max(0, offset)).split('\n');
    return at(before.length - 1, before.at(-1)?.length ?? 0);
  }
  offsetAt = ({ line, character }: Position): number =>
    this.text
      .split('\n')
      .slice(0, line)
      .reduce((sum, l) => sum + l.length + 1, character);
}

class WorkspaceEdit {
  readonly all: { readonly uri: Uri; readonly range: Range; readonly text: string }[] = [];
  replace = (uri: Uri, range: Range, text: string): void => void this.all.push({ uri, range, text });
}

interface FakeEditor {
  readonly document: Document;
  selection: Selection;
  readonly viewColumn: number;
  revealRange(): void;
}

type Message = Readonly<Record<string, unknown>>;

/** A panel as its host sees it, with what it was told. Whatever is asked of it once it is closed throws. */
class Panel {
  readonly told: Message[] = [];
  readonly said = new EventEmitter<unknown>();
  readonly #heard = new EventEmitter<Message>();
  readonly #changed = new EventEmitter<void>();
  readonly #disposed = new EventEmitter<void>();
  readonly #own = {
    options: {},
    html: '',
    asWebviewUri: String,
    cspSource: 'x:',
    onDidReceiveMessage: this.said.event,
  };
  isClosed = false;
  #visible = true;
  iconPath: unknown;
  readonly onDidChangeViewState = this.#changed.event;
  readonly onDidDispose = this.#disposed.event;
  get viewColumn(): number {
    return this.#there(2);
  }
  get visible(): boolean {
    return this.#there(this.#visible);
  }
  get webview(): object {
    return this.#there(
      Object.assign(this.#own, {
        postMessage: async (message: Message) => {
          this.told.push(message);
          this.#heard.fire(message);
          return true;
        },
      }),
    );
  }
  /** The next message like this. */
  next = (wanted: (message: Message) => boolean): Promise<Message> =>
    new Promise((resolve) => {
      const listener = this.#heard.event((message) => {
        if (wanted(message)) {
          listener.dispose();
          resolve(message);
        }
      });
    });
  reveal = (): void => this.#there(undefined);
  show(visible: boolean): void {
    this.#visible = visible;
    this.#changed.fire();
  }
  dispose = (): void => {
    if (!this.isClosed) {
      this.isClosed = true;
      this.#disposed.fire();
    }
  };
  #there<T>(value: T): T {
    if (this.isClosed) {
      throw new Error('Webview is disposed');
    }
    return value;
  }
}

const events = {
  open: new EventEmitter<Document>(),
  close: new EventEmitter<Document>(),
  change: new EventEmitter<{ document: Document; contentChanges: readonly object[] }>(),
  save: new EventEmitter<Document>(),
  create: new EventEmitter<{ files: readonly Uri[] }>(),
  remove: new EventEmitter<{ files: readonly Uri[] }>(),
  rename: new EventEmitter<{ files: readonly { oldUri: Uri; newUri: Uri }[] }>(),
  configuration: new EventEmitter<unknown>(),
  trust: new EventEmitter<void>(),
  active: new EventEmitter<unknown>(),
  selection: new EventEmitter<unknown>(),
  /** Of every watcher: on the disk, not by the editor. */
  lost: new EventEmitter<Uri>(),
  found: new EventEmitter<Uri>(),
};

/** What is on the disk, by path. */
const disk = new Map<string, string>();
let documents: Document[] = [];
let active: FakeEditor | undefined;
const panels: Panel[] = [];
const warnings: string[] = [];

function close(document: Document): void {
  documents = documents.filter((d) => d !== document);
  document.isClosed = true;
  events.close.fire(document);
}

function openNow(uri: Uri): Document {
  const known = documents.find((d) => d.uri.toString() === uri.toString());
  const text = disk.get(uri.path);
  if (known) {
    return known;
  }
  if (text === undefined || !/^(file|git)$/.test(uri.scheme)) {
    throw new Error(`cannot open ${uri.toString()}`);
  }
  return added(new Document(uri, text));
}

function added(document: Document): Document {
  documents = [...documents, document];
  events.open.fire(document);
  return document;
}

function change(document: Document, text: string): void {
  document.text = text;
  document.version++;
  document.isDirty = true;
  events.change.fire({ document, contentChanges: [{}] });
}

/** What a file is called where a folder or the file itself is renamed. */
const movedPath = (path: string, from: string, to: string): string | undefined =>
  path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : undefined;

const never = () => new Disposable(() => {});

/** In place of the module `vscode`. */
export const vscode = {
  Disposable,
  EventEmitter,
  Uri,
  Range,
  Selection,
  WorkspaceEdit,
  RelativePattern: class {},
  FileType: { File: 1, SymbolicLink: 64 },
  ViewColumn: { One: 1, Beside: -2 },
  TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
  l10n: { t: (text: string, ...of: unknown[]) => text.replace(/\{(\d)\}/g, (_, i) => String(of[Number(i)])) },
  UIKind: { Desktop: 1, Web: 2 },
  env: { language: 'en', remoteName: undefined, uiKind: 1 },
  languages: { match: () => 0 },
  workspace: {
    isTrusted: true,
    workspaceFolders: [{ uri: Uri.file('/w') }],
    get textDocuments() {
      return documents;
    },
    getWorkspaceFolder: () => ({ uri: Uri.file('/w') }),
    asRelativePath: (uri: Uri) => uri.path.replace(/^\/w\//, ''),
    getConfiguration: () => ({ get: () => undefined }),
    openTextDocument: async (uri: Uri) => openNow(uri),
    async applyEdit({ all }: WorkspaceEdit) {
      for (const { uri, range, text } of [...all].reverse()) {
        const document = openNow(uri);
        const [start, end] = [document.offsetAt(range.start), document.offsetAt(range.end)];
        change(document, document.text.slice(0, start) + text + document.text.slice(end));
      }
      return true;
    },
    fs: {
      async stat({ path }: Uri) {
        if (!disk.has(path)) {
          throw new Error('not there');
        }
        return { type: 1, size: disk.get(path)?.length };
      },
      readFile: async ({ path }: Uri) => new TextEncoder().encode(disk.get(path)),
      writeFile: async ({ path }: Uri, bytes: Uint8Array) => void disk.set(path, new TextDecoder().decode(bytes)),
    },
    createFileSystemWatcher: () => {
      const watcher = new Disposable(() => alive.delete(watcher));
      alive.add(watcher);
      return Object.assign(watcher, {
        onDidChange: never,
        onDidCreate: events.found.event,
        onDidDelete: events.lost.event,
      });
    },
    onDidOpenTextDocument: events.open.event,
    onDidCloseTextDocument: events.close.event,
    onDidChangeTextDocument: events.change.event,
    onDidSaveTextDocument: events.save.event,
    onDidCreateFiles: events.create.event,
    onDidDeleteFiles: events.remove.event,
    onDidRenameFiles: events.rename.event,
    onDidChangeConfiguration: events.configuration.event,
    onDidGrantWorkspaceTrust: events.trust.event,
  },
  window: {
    get activeTextEditor() {
      return active;
    },
    get visibleTextEditors() {
      return active ? [active] : [];
    },
    onDidChangeActiveTextEditor: events.active.event,
    onDidChangeTextEditorSelection: events.selection.event,
    createWebviewPanel: () => editor.newPanel(),
    showTextDocument: async (document: Document) => editor.look(document),
    showWarningMessage: async (text: string) => void warnings.push(text),
    setStatusBarMessage: () => {},
    showSaveDialog: async () => undefined,
    showOpenDialog: async () => undefined,
  },
};

/** What a person does, and what a test asks. */
export const editor = {
  disk,
  events,
  panels,
  warnings,
  /** Listeners and watchers that were asked for and are still held. */
  held: (): number => alive.size,
  documents: (): readonly Document[] => documents,
  newPanel(): Panel {
    const panel = new Panel();
    panels.push(panel);
    return panel;
  },
  /** A file on the disk, opened. */
  open(path: string, text: string): Document {
    disk.set(path, text);
    return openNow(Uri.file(path));
  },
  openUntitled: (text: string): Document => added(new Document(Uri.parse('untitled:Untitled-1'), text)),
  edit: change,
  close,
  look(document: Document, line = 0): FakeEditor {
    active = { document, selection: new Selection(line, 0, line, 0), viewColumn: 1, revealRange() {} };
    events.active.fire(active);
    return active;
  },
  /** As the explorer does it: open files are closed and opened under their new name. */
  rename(from: string, to: string): void {
    for (const [path, text] of [...disk]) {
      const moved = movedPath(path, from, to);
      if (moved !== undefined) {
        disk.delete(path);
        disk.set(moved, text);
      }
    }
    for (const document of documents) {
      const moved = document.uri.scheme === 'file' && movedPath(document.uri.path, from, to);
      if (moved) {
        close(document);
        disk.set(moved, document.text);
        openNow(Uri.file(moved));
      }
    }
    events.rename.fire({ files: [{ oldUri: Uri.file(from), newUri: Uri.file(to) }] });
  },
  /** In the explorer; `behind` the editor's back, as by a command in a terminal: open files stay open. */
  remove(path: string, behind = false): void {
    disk.delete(path);
    if (behind) {
      events.lost.fire(Uri.file(path));
      return;
    }
    for (const document of documents.filter((d) => d.uri.path === path && !d.isDirty)) {
      close(document);
    }
    events.remove.fire({ files: [Uri.file(path)] });
  },
  /** Written anew by somebody else. */
  restore(path: string, text: string): void {
    disk.set(path, text);
    events.found.fire(Uri.file(path));
  },
  /** An editor as it starts. */
  reset(): void {
    for (const panel of panels.splice(0)) {
      panel.dispose();
    }
    disk.clear();
    documents = [];
    active = undefined;
    warnings.length = 0;
  },
};
