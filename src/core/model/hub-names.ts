/** Names of the Hugging Face Hub, and where its cache keeps what was downloaded. */

/** A model of the Hub: `owner/name`, with the tag of one of its GGUF files where it has one. */
export interface HubName {
  readonly repo: string;
  readonly tag?: string;
}

/** Rule: huggingface_hub 1.0, utils/_validators.py :: validate_repo_id. A path (`./x`, `/x`, `a/b/c`) is none. */
export function hubName(text: string): HubName | undefined {
  const [, repo = '', tag] = /^([A-Za-z0-9][\w.-]*\/[A-Za-z0-9_][\w.-]*)(?::([\w.-]+))?$/.exec(text.trim()) ?? [];
  const isOne = repo !== '' && repo.length <= 96 && !/--|\.\.|[.-]$|\.git$/.test(repo);
  return isOne ? { repo, ...(tag !== undefined && { tag }) } : undefined;
}

/** `models--owner--name` in the cache. Source: huggingface_hub 1.0, file_download.py :: repo_folder_name. */
export const cacheFolderOf = ({ repo }: HubName): string => `models--${repo.replace('/', '--')}`;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The cache's folder: HF_HUB_CACHE, else HUGGINGFACE_HUB_CACHE, else `hub` in HF_HOME, which is `huggingface` in
 * XDG_CACHE_HOME or `~/.cache`. Source: huggingface_hub 1.0, constants.py. Undefined where there is no home folder.
 */
export function hubCache(env: Environment): string | undefined {
  const home = env.HOME || env.USERPROFILE;
  const base = env.XDG_CACHE_HOME || (home && `${home}/.cache`);
  const folder =
    env.HF_HUB_CACHE ||
    env.HUGGINGFACE_HUB_CACHE ||
    (env.HF_HOME ? `${env.HF_HOME}/hub` : base && `${base}/huggingface/hub`);
  return folder ? expanded(folder, env, home) : undefined;
}

function expanded(path: string, env: Environment, home: string | undefined): string | undefined {
  const full = path.replace(/\$(?:\{(\w+)\}|(\w+))/g, (whole, braced, bare) => env[braced ?? bare] ?? whole);
  return /^~(?=$|[/\\])/.test(full) ? home && home + full.slice(1) : full;
}

/** A commit as refs hold it; anything else is no name of a folder. */
export const isCommit = (text: string): boolean => /^[0-9a-f]{6,64}$/.test(text);

/**
 * The GGUF file that a tag means, and all its parts where it is split: the one whose name has the tag's words, else
 * Q4_K_M, else the first. Source: llama.cpp v0.5.0, common/download.cpp :: common_get_hf_file, and its server's manifest.
 */
export function ggufFiles(files: readonly string[], tag: string | undefined): readonly string[] {
  const all = files.filter((f) => /\.gguf$/i.test(f) && !/mmproj|imatrix/i.test(f)).sort();
  const holding = (word: string) => all.find((f) => f.toLowerCase().includes(word.toLowerCase()));
  const wanted = tag === undefined || tag === 'latest' ? (holding('Q4_K_M') ?? all[0]) : holding(tag);
  const [, stem, tail] = /^(.*-)\d{5}(-of-\d{5}\.gguf)$/i.exec(wanted ?? '') ?? [];
  return wanted === undefined
    ? []
    : stem === undefined || tail === undefined
      ? [wanted]
      : all.filter((f) => f.startsWith(stem) && f.endsWith(tail));
}
