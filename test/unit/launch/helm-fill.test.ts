/** Templates of a chart with the chart's own values beside them. */
import { expect, test } from 'vitest';
import { editOption } from '../../../src/launch/edit';
import { type Launch, optionOf } from '../../../src/launch/launch';
import { read } from './support';

const VALUES = `image: {repository: vllm/vllm-openai, tag: v0.10.2}
model: {id: org/chart, length: 8192}
gpus: 2
eager: false
prefix: true
kv: ""
`;

const TEMPLATE = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "chart.name" . }}
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          args:
            - --model={{ .Values.model.id }}
            - --max-model-len
            - {{ $.Values.model.length | int | quote }}
            - --tensor-parallel-size={{- .Values.gpus -}}
            - --kv-cache-dtype={{ .Values.kv | default "fp8" }}
            - --max-num-batched-tokens={{ default 4096 .Values.batch }}
            - --block-size={{ .Values.block }}
            - --seed={{ add .Values.gpus 1 }}
            {{- if .Values.prefix }}
            - --enable-prefix-caching
            {{- end }}
            {{- if .Values.eager }}
            - --enforce-eager
            {{- end }}
            {{- if .Values.other }}
            - --max-num-seqs=16
            {{- end }}
          resources:
            limits:
              nvidia.com/gpu: {{ .Values.gpus }}
`;

const launchOf = (name: string, files: Readonly<Record<string, string>>): Launch =>
  read(TEMPLATE, name, { files }).launches[0] as Launch;

const said = (launch: Launch, name: string) => {
  const option = optionOf(launch, name);
  return option && (option.unresolved ?? option.value);
};

test.each([
  ['charts/a/templates/deployment.yaml', '../values.yaml'],
  ['templates/engine/deployment.yaml', '../../values.yaml'],
])('%s is filled in from %s', (name, path) => {
  const launch = launchOf(name, { [path]: VALUES });
  expect([launch.engine, launch.version?.text, launch.model?.text, launch.hardware.count?.value]).toEqual([
    'vllm',
    '0.10.2',
    'org/chart',
    2,
  ]);
  const names = ['max-model-len', 'tensor-parallel-size', 'kv-cache-dtype', 'max-num-batched-tokens'];
  expect(names.map((n) => said(launch, n))).toEqual([8192, 2, 'fp8', 4096]);
  // A condition that holds, one that does not, one that the values do not tell.
  const flags = ['enable-prefix-caching', 'enforce-eager', 'max-num-seqs'].map((n) => said(launch, n));
  expect(flags).toEqual([true, undefined, 'it depends on the template’s {{- if .Values.other }}']);
  expect(['block-size', 'seed'].map((n) => said(launch, n))).toEqual([
    'a template fills in {{ .Values.block }}',
    'a template fills in {{ add .Values.gpus 1 }}',
  ]);
});

test('nothing is written in the place of a value', () => {
  const launch = launchOf('templates/a.yaml', { '../values.yaml': VALUES });
  expect(editOption(launch, TEMPLATE, 'max-model-len', '4096')).toEqual([]);
});

test.each([
  ['a chart without values', 'templates/a.yaml', {}],
  ['values that are a list', 'templates/a.yaml', { '../values.yaml': '- 1\n' }],
  ['no template of a chart', 'deploy/a.yaml', { '../values.yaml': VALUES }],
])('%s: what is filled in is not known', (_what, name, files) => {
  const { launches } = read(TEMPLATE, name, { files });
  expect(launches.every((l) => l.model?.unresolved !== undefined)).toBe(true);
});

test('a file of something else asks for no values', () => {
  const { needs } = read('apiVersion: v1\nkind: Pod\nspec: {containers: [{image: "{{ .x }}"}]}\n', 'templates/a.yaml');
  expect(needs.files).toEqual([]);
});
