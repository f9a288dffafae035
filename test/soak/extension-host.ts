/** The process that runs extensions: its heap, asked through the inspector that Node opens on a signal. */
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '../ui/workbench';
import { collect } from './weigh';

export interface ExtensionHost {
  /** Bytes of its heap after its garbage has been collected. */
  weigh(): Promise<number>;
}

const PORT = 9229;

export async function extensionHost(): Promise<ExtensionHost> {
  const pid = await eventually('the extension host', async () => processes().find(isExtensionHost));
  process.kill(pid, 'SIGUSR1');
  const address = await eventually('its inspector', async () => {
    const targets = (await (await fetch(`http://127.0.0.1:${PORT}/json/list`)).json()) as {
      webSocketDebuggerUrl: string;
    }[];
    return targets[0]?.webSocketDebuggerUrl;
  });
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  let last = 0;
  const send = (method: string): Promise<Record<string, number>> =>
    new Promise((resolve) => {
      const id = ++last;
      const hear = ({ data }: MessageEvent) => {
        const answer = JSON.parse(String(data));
        if (answer.id === id) {
          socket.removeEventListener('message', hear);
          resolve(answer.result);
        }
      };
      socket.addEventListener('message', hear);
      socket.send(JSON.stringify({ id, method }));
    });
  return {
    async weigh() {
      await collect(send);
      return (await send('Runtime.getHeapUsage')).usedSize ?? Number.NaN;
    },
  };
}

const processes = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

function isExtensionHost(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=extensionHost');
  } catch {
    return false; // it has ended
  }
}
