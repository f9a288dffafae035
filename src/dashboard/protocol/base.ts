/** What every message and every kept state begins with. */
import * as v from 'valibot';

/** Of messages and of kept state: another version counts as not sent, not kept. */
export const PROTOCOL = 2;

export const version = v.literal(PROTOCOL);

export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** How a launch was seen last among those of its file: it may stand elsewhere now. */
export const sighting = v.object({ name: v.string(), of: count });

/** A check of something from outside: undefined where it has not this shape. */
export function reader<S extends v.GenericSchema>(schema: S): (message: unknown) => v.InferOutput<S> | undefined {
  return (message) => {
    const result = v.safeParse(schema, message);
    return result.success ? result.output : undefined;
  };
}
