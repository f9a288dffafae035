/** Where the setting behind a number stands. */
import type { Configuration, Engine } from '../core/engines/engine';
import type { OptionRole } from '../core/engines/option';
import { settingOrigin } from '../core/engines/setting-origin';
import type { Origin } from '../core/figure';

/** The setting that counts for a role, as an origin: its line, or that it is a default and why. */
export function settingOrigins(engine: Engine, configuration: Configuration): (role: OptionRole) => Origin | undefined {
  return (role) => {
    const names = new Set(engine.options.filter((o) => o.role === role).map((o) => o.name));
    const setting = configuration.settings.findLast((s) => names.has(s.name) && s.value !== undefined);
    return setting && settingOrigin(setting, `${engine.title} ${configuration.version.text}`);
  };
}
