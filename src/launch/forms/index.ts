/** The forms a launch is read from. A new form is one file and one line here; the first that recognises a text reads it. */
import { ansible } from './ansible';
import { batch } from './batch';
import { bentoml } from './bentoml';
import { ci } from './ci';
import { compose } from './compose';
import { dockerfile } from './dockerfile';
import { dstack } from './dstack';
import { envFile } from './env';
import type { FormReader } from './form';
import { cerebrium, hcl } from './hcl';
import { containers, helm } from './helm';
import { justfile } from './justfile';
import { kubernetes } from './kubernetes';
import { llamaPreset } from './llama-preset';
import { llamaSwap } from './llama-swap';
import { localai } from './localai';
import { makefile } from './makefile';
import { markdown } from './markdown';
import { modelfile } from './modelfile';
import { notebook } from './notebook';
import { powershell } from './powershell';
import { python } from './python';
import { rayServe } from './ray-serve';
import { shell } from './shell';
import { skypilot } from './skypilot';
import { srtSlurm } from './srt-slurm';
import { systemd } from './systemd';
import { tabby } from './tabby';
import { taskfile } from './taskfile';
import { triton } from './triton';
import { trtllmEngine } from './trtllm-engine';
import { truss } from './truss';
import { verl } from './verl';
import { vllmConfig } from './vllm-config';

export const FORMS: readonly FormReader[] = [
  shell,
  python,
  notebook,
  dockerfile,
  makefile,
  justfile,
  markdown,
  powershell,
  batch,
  hcl,
  cerebrium,
  triton,
  modelfile,
  systemd,
  envFile,
  llamaPreset,
  compose,
  taskfile,
  kubernetes,
  llamaSwap,
  localai,
  trtllmEngine,
  srtSlurm,
  verl,
  tabby,
  helm,
  rayServe,
  skypilot,
  ci,
  truss,
  dstack,
  bentoml,
  ansible,
  vllmConfig,
  containers,
];
