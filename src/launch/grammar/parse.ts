/** Parsing with a loaded grammar, in bounded time. Apart from the loader: reading needs no runtime of its own. */
import type { Parser, Tree } from 'web-tree-sitter';

/** A text this long is not parsed. */
const MAX_LENGTH = 2 * 1024 * 1024;
/** Text that is no shell at all can take the parser long; a script takes milliseconds. */
const MAX_MILLISECONDS = 1000;

/** The tree, to be deleted by the caller; undefined when the text is too long or takes too long. */
export function parseWith(grammar: unknown, text: string): Tree | undefined {
  if (text.length > MAX_LENGTH) {
    return undefined;
  }
  const until = Date.now() + MAX_MILLISECONDS;
  const parser = grammar as Parser;
  // A NUL would end the text for the parser.
  const tree = parser.parse(text.replaceAll('\0', ' '), null, { progressCallback: () => Date.now() > until });
  if (!tree) {
    parser.reset();
  }
  return tree ?? undefined;
}
