import { assert } from 'chai';
import { commands, workspace } from 'vscode';
import { activate, eventually, openSample, tabLabels } from './editor';

suite('commands', () => {
  suiteSetup(async () => {
    await activate();
    await openSample('vllm/llama-3.1-70b-8xh100.compose.yaml');
  });

  test('are registered', async () => {
    const all = await commands.getCommands(true);
    assert.includeMembers(all, ['kvPlanner.showReport', 'kvPlanner.openDashboard', 'kvPlanner.setGpu']);
  });

  test('the capacity report opens beside the file', async () => {
    await commands.executeCommand('kvPlanner.showReport');
    await eventually('its tab', () => tabLabels().find((label) => label.includes('Capacity of')));
    const report = await eventually('its text', () =>
      workspace.textDocuments.find(({ uri }) => uri.scheme === 'kv-planner-report'),
    );
    assert.match(report.getText(), /Llama-3\.1-70B/);
  });

  test('the dashboard opens', async () => {
    await openSample('vllm/llama-3.1-70b-8xh100.compose.yaml');
    await commands.executeCommand('kvPlanner.openDashboard');
    await eventually('its tab', () => tabLabels().find((label) => /KV Planner|Dashboard/.test(label)));
  });
});
