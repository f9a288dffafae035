/** The whole view as one file: the report of the launch as it is tried, and its charts as pictures. */
import { l10n } from 'vscode';
import { type Followed, triedOf } from './followed';
import type { PanelPorts } from './ports';
import type { Params, Result } from './protocol';
import { save } from './requests';

export async function saveReport(
  ports: PanelPorts,
  at: Followed,
  { charts }: Params<'saveReport'>,
): Promise<Result<'saveReport'>> {
  const found = await triedOf(ports, at);
  if (!found) {
    throw new Error(l10n.t('There is no launch to report.'));
  }
  const { reportHtml, reportOf } = await import('../lazy');
  const { changes, plan } = found.tried;
  const { text, name } = found.made.input;
  const report = reportOf([{ name, text, result: { plans: [plan], problems: [] } }]);
  const tried = changes.map(({ option, from, to }) => `${option} ${from || l10n.t('not set')} → ${to}`);
  const notes = tried.length > 0 ? [l10n.t('Not what the file says: tried with {0}.', tried.join(', '))] : [];
  const content = reportHtml(report, { notes, pictures: charts });
  return save({ name: `kv-plan-${plan.launch.title}`.slice(0, 120), type: 'html', content, base64: false });
}
