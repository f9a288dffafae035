/** The shipped schema. It lets later versions add keys; here no key may appear that it does not name. */
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020';

const schema = JSON.parse(readFileSync('schema/plan.schema.json', 'utf8'), (_, value) =>
  value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
);

const validate = new Ajv2020({ allErrors: true, strict: true }).compile(schema);

/** What is wrong with a document; empty when it follows the contract. */
export function schemaErrors(json: unknown): readonly unknown[] {
  validate(json);
  return validate.errors ?? [];
}
