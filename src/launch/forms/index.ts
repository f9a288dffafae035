/** The forms a launch is read from. A new form is one file and one line here; the first that recognises a text reads it. */
import { compose } from './compose';
import type { FormReader } from './form';
import { kubernetes } from './kubernetes';
import { shell } from './shell';
import { triton } from './triton';
import { vllmConfig } from './vllm-config';

export const FORMS: readonly FormReader[] = [shell, triton, compose, kubernetes, vllmConfig];
