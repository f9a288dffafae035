/** A look at a document before anything heavy is loaded: might a launch be in it? */

/** Languages of files that start an engine. The same list stands in the manifest's activation events. */
export const LANGUAGES: readonly string[] = ['yaml', 'dockercompose', 'shellscript'];

/** What is looked at: far beyond any launch file's start, and cheap (under a millisecond). */
const LOOKED_AT = 512 * 1024;

/**
 * Engine names as they stand in commands, modules and images, our own comment, and the option words of a bare
 * config file that names no engine. May say yes to a file without a launch; must not say no to one with.
 */
const WORDS =
  /vllm|kv-planner:|(?:max[-_]model[-_]len|gpu[-_]memory[-_]utilization|tensor[-_]parallel[-_]size|kv[-_]cache[-_]dtype|max[-_]num[-_]seqs|served[-_]model[-_]name)\b/i;

export const mayHoldLaunch = (text: string): boolean =>
  WORDS.test(text.length > LOOKED_AT ? text.slice(0, LOOKED_AT) : text);
