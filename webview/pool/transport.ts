/** Play, pause, step, speed, and going back: the controls of a run. */
import { withCommas } from '../../src/core/units';
import { el } from '../dom';
import { prefersStill } from '../ui/palette';
import { button, dropdown } from '../ui/toolkit';
import { setText } from './counters';
import { createLoop } from './loop';

export interface TransportActions {
  /** So many steps are due; false where they cannot be taken now. */
  onTick(steps: number): boolean;
  onStep(steps: number): void;
  onSeek(index: number): void;
  /** It plays or rests, or another speed was picked. */
  onChange(): void;
}

export interface Transport {
  readonly element: HTMLElement;
  readonly speed: () => number;
  setSpeed(stepsPerSecond: number): void;
  readonly playing: () => boolean;
  play(): void;
  pause(): void;
  toggle(): void;
  /** Nobody sees it: what plays rests, and goes on when it is seen again. */
  setVisible(visible: boolean): void;
  setEnabled(enabled: boolean): void;
  show(at: {
    readonly index: number;
    /** The earliest step that is remembered. */
    readonly first: number;
    readonly reached: number;
    readonly ended: boolean;
    readonly text: string;
  }): void;
}

const SPEEDS = [1, 2, 5, 10, 30, 60, 120];

export function transport(actions: TransportActions): Transport {
  const toStart = button('|◀', () => actions.onSeek(0), 'icon', 'To the start');
  const back = button('◀', () => stepBy(-1), 'icon', 'One step back (,)');
  const playButton = button('Play', () => toggle(), 'primary');
  const forward = button('▶', () => stepBy(1), 'icon', 'One step forward (.)');
  const scrub = el('input', { type: 'range', min: 0, max: 0, value: 0, step: 1, 'aria-label': 'Step' });
  const place = el('span', { class: 'pool-place' });
  const still = el('span', { class: 'note', hidden: true }, 'Motion is reduced: go step by step.');
  const earlier = el('span', { class: 'note', hidden: true });
  const speeds = dropdown('Steps a second', (value) => {
    setSpeed(Number(value));
    actions.onChange();
  });
  speeds.offer(SPEEDS.map((speed) => ({ value: String(speed), text: String(speed) })));
  const element = el(
    'div',
    { class: 'transport', role: 'group', 'aria-label': 'Playback' },
    el('div', { class: 'transport-buttons' }, toStart, back, playButton, forward),
    scrub,
    place,
    speeds.element,
    still,
    earlier,
  );
  let speed = 10;
  let wanted = false;
  let visible = true;
  let enabled = false;

  const loop = createLoop(actions.onTick);
  scrub.addEventListener('input', () => {
    pause();
    actions.onSeek(Number(scrub.value));
  });

  /** The loop runs only while somebody sees it, wants it, and motion is not reduced. */
  function settle(): void {
    if (wanted && visible && enabled && !prefersStill()) {
      loop.start();
    } else {
      loop.stop();
    }
    setText(playButton, wanted && !prefersStill() ? 'Pause' : 'Play');
    still.hidden = !prefersStill();
    for (const control of [toStart, back, forward, playButton]) {
      control.toggleAttribute('disabled', !enabled || (control === playButton && prefersStill()));
    }
    scrub.disabled = !enabled;
  }

  function setWanted(next: boolean): void {
    if (wanted !== next) {
      wanted = next;
      settle();
      actions.onChange();
    }
  }
  const pause = (): void => setWanted(false);
  const toggle = (): void => setWanted(!wanted && !prefersStill());

  function stepBy(steps: number): void {
    pause();
    actions.onStep(steps);
  }

  function setSpeed(next: number): void {
    speed = SPEEDS.includes(next) ? next : 10;
    loop.setSpeed(speed);
    speeds.set(String(speed), false);
  }
  setSpeed(speed);
  matchMedia('(prefers-reduced-motion: reduce)').addEventListener('change', settle);
  settle();

  return {
    element,
    speed: () => speed,
    setSpeed,
    playing: () => wanted && !prefersStill(),
    play: () => setWanted(!prefersStill()),
    pause,
    toggle,
    setVisible(next) {
      visible = next;
      settle();
    },
    setEnabled(next) {
      enabled = next;
      settle();
    },
    show({ index, first, reached, ended, text }) {
      scrub.max = String(reached);
      scrub.value = String(index);
      scrub.setAttribute('aria-valuetext', text);
      setText(place, text);
      earlier.hidden = first === 0;
      setText(
        earlier,
        `Remembered from step ${withCommas(first)} on; what lies before is run again when you go there.`,
      );
      forward.toggleAttribute('disabled', !enabled || ended);
    },
  };
}
