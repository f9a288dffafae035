/** What the command line touches outside itself, so that tests run it in process. */
export interface Io {
  /** Standard output: the result, nothing else. */
  readonly out: (text: string) => void;
  /** Standard error: one line. */
  readonly note: (line: string) => void;
  /** Standard error, one line drawn over the last, or '' to take it away; only where it is a terminal. */
  readonly progress?: (line: string) => void;
  readonly stdin: () => Promise<Uint8Array>;
  /** Bytes of a WebAssembly file of the grammars: `tree-sitter.wasm`, `tree-sitter-bash.wasm`. */
  readonly grammarFile: (file: string) => Promise<Uint8Array>;
  /** Variables, which say where models were downloaded to; absent: none are looked for. */
  readonly env?: NodeJS.ProcessEnv;
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
}

/** 0 every launch planned; 1 some launch could not be planned; 2 wrong usage; 3 a requirement is not met. */
export type ExitCode = 0 | 1 | 2 | 3;
