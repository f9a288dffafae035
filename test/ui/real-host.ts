/** A host of the page alone whose answers are real: a launch's text in memory, planned, tried, changed and compared as the extension does. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../../scripts/lib/paths.mjs';
import { compareEngines } from '../../src/compare';
import { comparisonView } from '../../src/dashboard/compare-view';
import type { Params, Pin, Result, View, WhatIf } from '../../src/dashboard/protocol';
import { PROTOCOL } from '../../src/dashboard/protocol';
import { studiesView } from '../../src/dashboard/studies-view';
import { planView } from '../../src/dashboard/view-model';
import { requestsByLength } from '../../src/planner';
import { tryingOn } from '../../src/planner/alternatives';
import { type WhatIf as Tried, whatIf as tryOut } from '../../src/what-if';
import { studiesOf } from '../../src/what-if/studies';
import { apply } from '../unit/findings/support';
import { bash } from '../unit/launch/support';
import { type Opening, openPage, tell } from './fake-host';

const FILE = 'file:///work/launch';

export interface RealHost {
  readonly page: Page;
  text(): string;
  /** As if somebody edited the file. */
  edit(text: string): Promise<void>;
  readonly saved: Params<'save' | 'saveReport'>[];
  close(): Promise<void>;
}

export async function openReal(browser: Browser, sample: string, opening: Opening = {}): Promise<RealHost> {
  const grammars = await bash();
  let text = readFileSync(path.join(ROOT, 'samples', sample), 'utf8');
  let whatIf: WhatIf = {};
  const saved: Params<'save' | 'saveReport'>[] = [];
  const input = () => ({ name: sample, text, grammars });
  const tried = (changes: WhatIf = whatIf): Tried => {
    const made = tryOut(input(), {}, 0, changes);
    if (!made) {
      throw new Error('no launch');
    }
    return made;
  };
  const view = (): View => {
    const made = tried();
    return planView({ tried: made, points: requestsByLength(made.plan), line: 1, whatIf, remote: '' });
  };
  const shown = (): Result<'whatIf'> => ({ view: view(), state: { version: PROTOCOL, file: FILE, index: 0, whatIf } });
  const own = (): Pin => ({ file: FILE, index: 0, whatIf });
  const compared = (pin: Pin) => {
    const detail = [pin.engine && `on ${pin.engine}`, ...Object.entries(pin.whatIf).map((e) => e.join(' '))];
    const { plan, input: asTried, context } = tried(pin.whatIf);
    const other = pin.engine && compareEngines([{ id: pin.engine }], asTried, context).compared[0]?.engines[1]?.plan;
    return { pin, title: sample, detail: detail.filter(Boolean).join(' · ') || 'as it is', plan: other || plan };
  };
  const answers = {
    whatIf: (params: Params<'whatIf'>) => {
      whatIf = params.whatIf;
      return shown();
    },
    apply: () => {
      text = apply(text, tried().edits);
      whatIf = {};
      return shown();
    },
    studies: () => studiesView(tried().plan, studiesOf(tried().plan, tryingOn(text, {}))),
    pinnable: () => ({
      launches: [{ label: sample, detail: 'as it is', pin: own() }],
      engines: [{ label: 'SGLang', detail: sample, pin: { ...own(), engine: 'sglang' } }],
      revisions: [],
    }),
    pickPin: () => ({}),
    compare: ({ pins }: Params<'compare'>) => comparisonView(pins.map(compared)),
    save: (params: Params<'save'>) => {
      saved.push(params);
      return { saved: true };
    },
    saveReport: (params: Params<'saveReport'>) => {
      saved.push(params);
      return { saved: true };
    },
  };
  const page = await openPage(browser, view(), {
    ...opening,
    answers: Object.keys(answers),
    answer: (method, params) => (answers[method as keyof typeof answers] as (p: unknown) => unknown)(params),
  });
  return {
    page,
    text: () => text,
    async edit(next) {
      text = next;
      await tell(page, { version: PROTOCOL, type: 'show', ...shown() });
    },
    saved,
    close: () => page.context().close(),
  };
}
