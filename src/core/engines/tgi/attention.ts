/** Which attention kernels run, and the block they need. Source: TGI 3.3, launcher/src/main.rs :: resolve_attention; models/globals.py. */
import type { Model } from '../../model/model';
import type { Hardware } from '../engine';
import { compareVersions } from '../option';
import type { Settings } from '../settings';
import type { TgiRules } from './versions';

export interface Kernels {
  readonly name: string;
  readonly block: number;
  readonly how: string;
}

const BLOCKS: Readonly<Record<string, number>> = {
  flashinfer: 1,
  flashdecoding: 256,
  'flashdecoding-ipex': 64,
  paged: 16,
};

const OWN_HEAD_SIZES = [64, 128, 256];

const isOn = (text: string | undefined): boolean => /^(1|true)$/i.test(text ?? '');

export const isDeepseek = (model: Model): boolean => /^DeepseekV[23]For/.test(model.architecture);

export function kernelsOf(
  model: Model,
  settings: Settings,
  rules: TgiRules,
  version: string,
  hardware: Hardware | undefined,
): Kernels {
  if (!rules.choosesKernels) {
    const decoding = compareVersions(version, '2.2') >= 0 && isOn(settings.text('FLASH_DECODING'));
    return decoding
      ? { name: 'flashdecoding', block: 256, how: 'FLASH_DECODING' }
      : { name: 'paged', block: 16, how: 'this version’s only block' };
  }
  const asked = settings.text('ATTENTION');
  if (asked !== undefined) {
    return { name: asked, block: BLOCKS[asked] ?? 16, how: 'ATTENTION' };
  }
  return chosen(model, hardware);
}

function chosen(model: Model, hardware: Hardware | undefined): Kernels {
  const of = (name: string, how: string): Kernels => ({ name, block: BLOCKS[name] as number, how });
  const { gpu } = hardware ?? {};
  if (gpu && /amd/i.test(gpu.vendor)) {
    return of('paged', 'ROCm');
  }
  if (gpu && /intel/i.test(gpu.vendor)) {
    return of('flashdecoding-ipex', 'Intel');
  }
  if (gpu?.computeCapability !== undefined && Number(gpu.computeCapability) < 8) {
    return of('paged', `cards below compute capability 8.0 (this one has ${gpu.computeCapability})`);
  }
  if (isDeepseek(model) || /^(?:Falcon|RW)For/.test(model.architecture)) {
    return of('flashdecoding', `kernels for ${model.architecture}`);
  }
  const head = model.layers.find((l) => l.kind === 'full' || l.kind === 'sliding' || l.kind === 'chunked')?.headDim;
  return head !== undefined && OWN_HEAD_SIZES.includes(head)
    ? of('flashinfer', `heads of ${head}${hardware ? '' : ' (the GPU is not known)'}`)
    : of('flashdecoding', `heads of ${head ?? 'an unknown size'}, which flashinfer does not take`);
}

/** Why prefixes are not kept though nobody said so; undefined where they are, or are turned off. */
export function noPrefixes(model: Model, settings: Settings, kernels: Kernels): string | undefined {
  const said = settings.text('PREFIX_CACHING') ?? settings.text('USE_PREFIX_CACHING');
  if (said !== undefined && !isOn(said)) {
    return undefined;
  }
  if (kernels.name === 'paged') {
    return 'paged attention cannot';
  }
  if (model.multimodal) {
    return 'the model takes images';
  }
  return settings.has('lora-adapters') ? 'LoRA adapters are loaded' : undefined;
}
