/** `.env` files: `NAME=value` lines, as Docker Compose and shells read them. */

export function readEnvFile(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split(/\r\n|\n|\r/)) {
    const match = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*)$/.exec(line);
    if (match?.[1] !== undefined) {
      found.set(match[1], unquoted(match[2] ?? ''));
    }
  }
  return found;
}

function unquoted(written: string): string {
  const quoted = /^(["'])(.*?)\1\s*(?:#.*)?$/.exec(written);
  return quoted ? (quoted[2] as string) : written.replace(/\s+#.*$/, '').trim();
}
