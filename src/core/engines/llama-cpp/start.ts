/** The words that start llama.cpp's server in a file. */
import type { Binding, PythonCall, StartWords } from '../start-words';

/** `enum ggml_type` (ggml/include/ggml.h) by number, as `type_k=8` says it, and by the binding's names. */
const CACHE_TYPES: Readonly<Record<string, string>> = {
  0: 'f32',
  1: 'f16',
  2: 'q4_0',
  3: 'q4_1',
  6: 'q5_0',
  7: 'q5_1',
  8: 'q8_0',
  20: 'iq4_nl',
  30: 'bf16',
};

const NAMED_TYPES = Object.fromEntries(
  Object.values(CACHE_TYPES).map((t) => [`llama_cpp.GGML_TYPE_${t.toUpperCase()}`, t]),
);

/** llama-cpp-python 0.3, `llama_cpp/llama.py`: one context of one sequence; its own defaults for length and batch. */
const LLAMA_CPP_PYTHON: PythonCall = {
  module: 'llama_cpp',
  names: ['Llama', 'Llama.from_pretrained'],
  positional: ['model'],
  keywords: {
    model_path: 'model',
    repo_id: 'hf-repo',
    filename: 'hf-file',
    n_ctx: 'ctx-size',
    n_gpu_layers: 'gpu-layers',
    n_batch: 'batch-size',
    n_ubatch: 'ubatch-size',
    type_k: 'cache-type-k',
    type_v: 'cache-type-v',
    flash_attn: 'flash-attn',
    offload_kqv: 'kv-offload',
    swa_full: 'swa-full',
    main_gpu: 'main-gpu',
    n_threads: 'threads',
    n_threads_batch: 'threads-batch',
    use_mmap: 'mmap',
    use_mlock: 'mlock',
  },
  values: {
    'cache-type-k': { ...CACHE_TYPES, ...NAMED_TYPES },
    'cache-type-v': { ...CACHE_TYPES, ...NAMED_TYPES },
    'flash-attn': { True: 'on', False: 'off' },
    'gpu-layers': { '-1': 'all' },
  },
  defaults: {
    'ctx-size': 512,
    'batch-size': 512,
    'ubatch-size': 512,
    parallel: 1,
    'gpu-layers': 0,
    'flash-attn': 'off',
    // Prompts are kept by a cache of its own, off unless it is asked for.
    'cache-ram': 0,
  },
};

/**
 * llama-cpp-python's own server (0.3, `llama_cpp/server/settings.py` and `cli.py`): one context of one sequence, twice
 * as long unless it is said.
 */
const LLAMA_CPP_PYTHON_SERVER: Binding = {
  module: 'llama_cpp.server',
  images: /(?:^|\/)abetlen\/llama-cpp-python$/,
  keywords: {
    ...LLAMA_CPP_PYTHON.keywords,
    model: 'model',
    hf_model_repo_id: 'hf-repo',
  },
  repository: { keyword: 'hf_model_repo_id', file: 'model', as: 'filename' },
  ...(LLAMA_CPP_PYTHON.values && { values: LLAMA_CPP_PYTHON.values }),
  defaults: { ...LLAMA_CPP_PYTHON.defaults, 'ctx-size': 2048 },
};

/**
 * `llama-server`, and images whose entry point it is (`local/…` as its own documents build them). The images `…:full` start a script whose first word `--server`
 * starts it; `…:light` are the command line's own program. Tags end with a build (`server-cuda-b4719`) or a release (`server-v0.5.0`).
 */
export const LLAMA_CPP_START: StartWords = {
  names: ['llama-server', 'llama.cpp', 'llama_cpp'],
  commands: [['llama-server']],
  // Its name until June 2024 (llama.cpp pull request 7809).
  commonCommand: { name: 'server', beside: /\.gguf\b|\bggml[\w.-]*\.bin\b/i },
  modules: [LLAMA_CPP_PYTHON_SERVER.module],
  images: [/(?:^|\/)(?:ggml-org|ggerganov|local)\/llama\.cpp$/i, /(?:^|\/)llama-server(?:-[a-z0-9.]+)*$/i],
  imageVersion: /(?:^|-)(b\d{3,6}|v?\d+\.\d+(?:\.\d+)?)$/i,
  imageEntry: ['llama-server'],
  imageFirst: [
    { tag: /^full/, word: /^(?:--server|-s)$/ },
    { tag: /^light/, word: /^(?!)/ },
  ],
  exactFlags: true,
  modelOption: 'model',
  python: [LLAMA_CPP_PYTHON],
  bindings: [LLAMA_CPP_PYTHON_SERVER],
  positionalModel: false,
};
