/**
 * The facts of a model from the Hugging Face Hub: its config and what its weights take, or the header of its GGUF file.
 * Never the weights. Plain `fetch` of `/{id}/resolve/{revision}/…`: @huggingface/hub (70 KB) and @huggingface/gguf
 * (250 KB) would take a quarter of what lazy bundles may have, read GGUF into objects where this project has a reader of
 * its own, and leave it to the platform whether a redirect to another host is sent the token.
 */

import { readGguf } from '../core/model/gguf';
import { ggufFiles, type HubName, isCommit } from '../core/model/hub-names';
import { headerEnd, tensorBytes } from '../core/model/safetensors';
import { INDEXED, indexedBytes, WEIGHT_INDEX } from '../core/model/weight-index';
import type { ModelFacts } from '../planner';

export interface HubAccess {
  /** `https://huggingface.co`, or what HF_ENDPOINT says. */
  readonly endpoint: string;
  readonly token?: string;
  readonly signal?: AbortSignal;
  /** Of one request; the default suits a person who waits. */
  readonly timeout?: number;
}

export type HubProblem =
  | 'unauthorised'
  | 'forbidden'
  | 'missing'
  | 'no-facts'
  | 'too-many'
  | 'server'
  | 'timeout'
  | 'offline'
  | 'too-large'
  | 'not-json'
  | 'redirect';

export class HubError extends Error {
  constructor(
    readonly problem: HubProblem,
    readonly detail = '',
  ) {
    super(`${problem} ${detail}`.trim());
    this.name = 'HubError';
  }
}

const TIMEOUT = 15_000;
const MOST_REDIRECTS = 5;
const MOST_JSON = 64 * 2 ** 20;
const FIRST_HEAD = 2 * 2 ** 20;
const MOST_HEAD = 64 * 2 ** 20;

/** Throws `HubError`; the signal's own reason where it was aborted. */
export async function fetchFacts(name: HubName, access: HubAccess): Promise<ModelFacts> {
  const file = (path: string, revision = 'main') => `${access.endpoint}/${name.repo}/resolve/${revision}/${path}`;
  const host = new URL(access.endpoint).host;
  const config = name.tag === undefined ? await jsonAt(file('config.json'), access) : undefined;
  if (!config) {
    return ggufFacts(name, host, access, file);
  }
  const revision = config.commit ?? 'main';
  const path = `${host}, ${name.repo}@${revision.slice(0, 8)}`;
  const index = await jsonAt(file(WEIGHT_INDEX, revision), access);
  const indexed = indexedBytes(index?.json);
  if (indexed !== undefined) {
    return { path, json: config.json, weights: { bytes: indexed, why: INDEXED } };
  }
  const bytes = await safetensorsBytes(file('model.safetensors', revision), access);
  return {
    path,
    json: config.json,
    ...(bytes !== undefined && { weights: { bytes, why: 'header of model.safetensors' } }),
  };
}

async function ggufFacts(
  name: HubName,
  host: string,
  access: HubAccess,
  file: (path: string, revision?: string) => string,
): Promise<ModelFacts> {
  const listed = await jsonAt(`${access.endpoint}/api/models/${name.repo}`, access);
  if (!listed) {
    throw new HubError('missing');
  }
  const { siblings, sha } = listed.json as { siblings?: unknown; sha?: unknown };
  const names = Array.isArray(siblings) ? siblings.map((s) => String((s as { rfilename?: unknown }).rfilename)) : [];
  const revision = typeof sha === 'string' && isCommit(sha) ? sha : 'main';
  const files = ggufFiles(names, name.tag);
  if (files.length === 0) {
    throw new HubError('no-facts');
  }
  const parts: Uint8Array[] = [];
  for (const part of files) {
    parts.push(await ggufHead(file(part, revision), access));
  }
  return { path: `${host}, ${name.repo}@${revision.slice(0, 8)}`, parts };
}

/** As much of the file as its header takes. */
async function ggufHead(url: string, access: HubAccess): Promise<Uint8Array> {
  for (let length = FIRST_HEAD; length <= MOST_HEAD; length *= 2) {
    const bytes = await bytesAt(url, length, access);
    if (!bytes) {
      throw new HubError('missing', url);
    }
    if (bytes.length < length || isWhole(bytes)) {
      return bytes;
    }
  }
  throw new HubError('too-large', url);
}

/** What is no GGUF file is told by the plan. */
function isWhole(bytes: Uint8Array): boolean {
  try {
    return !('needs' in readGguf(bytes));
  } catch {
    return true;
  }
}

async function safetensorsBytes(url: string, access: HubAccess): Promise<number | undefined> {
  const first = await bytesAt(url, 2 ** 16, access);
  const end = first && headerEnd(first);
  if (!first || end === undefined || end > MOST_HEAD) {
    return undefined;
  }
  const head = first.length >= end ? first : await bytesAt(url, end, access);
  return head && tensorBytes(head);
}

/** Undefined where there is no such file. */
async function jsonAt(url: string, access: HubAccess): Promise<{ json: unknown; commit?: string } | undefined> {
  const response = await get(url, {}, access);
  if (!response) {
    return undefined;
  }
  const commit = response.headers.get('x-repo-commit') ?? '';
  const bytes = await firstOf(response, MOST_JSON + 1, access);
  if (bytes.length > MOST_JSON) {
    throw new HubError('too-large', url);
  }
  try {
    return { json: JSON.parse(new TextDecoder().decode(bytes)), ...(isCommit(commit) && { commit }) };
  } catch {
    throw new HubError('not-json', url);
  }
}

async function bytesAt(url: string, length: number, access: HubAccess): Promise<Uint8Array | undefined> {
  const response = await get(url, { range: `bytes=0-${length - 1}` }, access);
  return response && firstOf(response, length, access);
}

/** A server that knows no ranges sends all: the rest is not read. */
async function firstOf(response: Response, most: number, access: HubAccess): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (let part = await reader?.read(); part && !part.done && length < most; part = await reader?.read()) {
      chunks.push(part.value);
      length += part.value.length;
    }
  } catch (error) {
    throw failed(error, access, response.url.replace(/\?.*$/, ''));
  } finally {
    void reader?.cancel().catch(() => {});
  }
  const bytes = new Uint8Array(Math.min(length, most));
  let at = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(0, bytes.length - at);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Undefined for 404 of a file; every other failure is thrown. */
async function get(
  url: string,
  headers: Readonly<Record<string, string>>,
  access: HubAccess,
): Promise<Response | undefined> {
  const response = await follow(url, headers, access);
  if (response.ok) {
    return response;
  }
  void response.body?.cancel().catch(() => {});
  const code = response.headers.get('x-error-code') ?? '';
  if (response.status === 404 && code !== 'RepoNotFound') {
    return undefined;
  }
  throw new HubError(problemOf(response.status, code), String(response.status));
}

/** The Hub answers 401 for what does not exist too, unless a token says who asks. */
function problemOf(status: number, code: string): HubProblem {
  switch (status) {
    case 401:
      return 'unauthorised';
    case 403:
      return 'forbidden';
    case 404:
      return 'missing';
    case 429:
      return 'too-many';
    default:
      return code === 'GatedRepo' ? 'forbidden' : 'server';
  }
}

/** The token goes to the endpoint's own origin and nowhere else, wherever an answer leads. */
async function follow(start: string, headers: Readonly<Record<string, string>>, access: HubAccess): Promise<Response> {
  const own = new URL(access.endpoint).origin;
  let url = new URL(start);
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const isOwn = url.origin === own && access.token !== undefined;
    const response = await ask(url, isOwn ? { ...headers, authorization: `Bearer ${access.token}` } : headers, access);
    const to = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || !to) {
      return response;
    }
    void response.body?.cancel().catch(() => {});
    url = new URL(to, url);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      break;
    }
  }
  throw new HubError('redirect', start);
}

/** A page's fetch shows no redirect to its caller; there the platform itself drops the token on the way to another origin. */
const INSIDE_BROWSER = 'importScripts' in globalThis;

async function ask(url: URL, headers: Readonly<Record<string, string>>, access: HubAccess): Promise<Response> {
  const timeout = AbortSignal.timeout(access.timeout ?? TIMEOUT);
  const signal = access.signal ? AbortSignal.any([timeout, access.signal]) : timeout;
  try {
    return await fetch(url, { headers, signal, redirect: INSIDE_BROWSER ? 'follow' : 'manual', credentials: 'omit' });
  } catch (error) {
    throw failed(error, access, url.origin + url.pathname); // what follows may be a signature
  }
}

function failed(error: unknown, { signal }: HubAccess, url: string): unknown {
  if (signal?.aborted) {
    return signal.reason ?? error;
  }
  return error instanceof DOMException && error.name === 'TimeoutError'
    ? new HubError('timeout', url)
    : new HubError('offline', causeOf(error));
}

/** `fetch failed` says nothing; its cause does. */
function causeOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.code ?? cause?.message ?? message ?? '';
}
