// Checks the size of a caller's JSON Schema before it is compiled, in linear time, so that the gateway can do it for every request.
import { ParseError } from './errors.ts';
import { MODEL_LIMITS } from './limits.ts';

/** The error for a schema that cannot be used. @param reason continues "the schema" */
export const invalidSchema = (reason: string, cause?: unknown): ParseError =>
  new ParseError('SCHEMA_INVALID', `Unprocessable Entity: the schema ${reason}`, cause === undefined ? {} : { cause });

/**
 * Counts the parts of a schema. The options reader limits its bytes and its depth.
 * @throws ParseError SCHEMA_INVALID with the limit that it exceeds
 */
export function checkSchemaSize(schema: Record<string, unknown>): void {
  const { schemaNodes, schemaListItems, schemaPatternUnits } = MODEL_LIMITS;
  const stack: unknown[] = [schema];
  for (let count = 1; ; count++) {
    const node = stack.pop();
    if (node === undefined) return;
    if (count + stack.length > schemaNodes)
      throw invalidSchema(`has more than ${schemaNodes} objects, lists and values; send a smaller schema`);
    if (typeof node !== 'object' || node === null) continue;
    if (Array.isArray(node) && node.length > schemaListItems)
      throw invalidSchema(
        `has a list with more than ${schemaListItems} items, for example of \`enum\`; send a shorter list, or leave it out`,
      );
    for (const [key, child] of Object.entries(node)) {
      if (patternsOf(key, child).some((pattern) => pattern.length > schemaPatternUnits))
        throw invalidSchema(`has a pattern that is longer than ${schemaPatternUnits} characters; write a shorter one`);
      stack.push(child);
    }
  }
}

function patternsOf(keyword: string, value: unknown): string[] {
  if (keyword === 'pattern' && typeof value === 'string') return [value];
  return keyword === 'patternProperties' && typeof value === 'object' && value !== null ? Object.keys(value) : [];
}
