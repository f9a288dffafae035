/** The page's frame. Nothing in it but our own script and style, by nonce and from our own folder. */

export interface PageParts {
  readonly script: string;
  readonly style: string;
  /** The folder of the scripts that the page starts as workers: fetched by the page, and started from blobs. */
  readonly workers: string;
  /** The webview's own source, as its policy names it. */
  readonly cspSource: string;
  readonly nonce: string;
  /** The controls' library tries one style rule when it starts; it finds this in the `csp-nonce` property. */
  readonly styleNonce: string;
  readonly language: string;
  /** Where the host keeps what the page does: what is to be brought back, as JSON; empty for nothing. */
  readonly kept?: string;
}

export function pageHtml({ script, style, workers, cspSource, nonce, styleNonce, language, kept }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource} 'nonce-${styleNonce}'`,
    `font-src ${cspSource}`,
    `img-src ${cspSource} data: blob:`,
    `connect-src ${cspSource}`,
    'worker-src blob:',
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" content="${styleNonce}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>KV Planner</title>
<link rel="stylesheet" href="${style}">
</head>
<body data-workers="${workers}"${kept === undefined ? '' : ` data-kept="${escaped(kept)}"`}>
<main id="app" aria-busy="true"></main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** 128 random bits. */
export function newNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
