// Turns the issues that zod finds in the `options` of a request into the error for the caller.
import type { z } from 'zod';
import { type FieldIssue, ParseError } from './errors.ts';

/** The path of a field as a caller writes it, for example `parsers[0].maxPages`. */
function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  );
}

function flattenIssues(issues: readonly z.core.$ZodIssue[], prefix: readonly PropertyKey[] = []): FieldIssue[] {
  return issues.flatMap((issue): FieldIssue[] => {
    const path = [...prefix, ...issue.path];
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        path: fieldPath([...path, key]),
        message: `unknown field \`${key}\``,
        code: issue.code,
      }));
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      // Report the branch of the union that the caller most likely meant: one that matches the type, with the fewest issues.
      const branches = issue.errors.filter(
        (branch) => !branch.every((inner) => inner.path.length === 0 && inner.code !== 'unrecognized_keys'),
      );
      const closest = branches.sort((a, b) => a.length - b.length)[0];
      if (closest) return flattenIssues(closest, path);
    }
    return [{ path: fieldPath(path), message: issue.message, code: issue.code }];
  });
}

/** The 400 error for zod issues. The message contains the first one, `details` all of them. */
export function validationError(issues: readonly z.core.$ZodIssue[]): ParseError {
  const details = flattenIssues(issues);
  const first = details[0];
  const where = first && first.path !== '' ? `\`${first.path}\`: ` : '';
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : '';
  return new ParseError(
    'BAD_REQUEST',
    `Bad Request: invalid options: ${where}${first?.message ?? 'not valid'}${more}`,
    { details },
  );
}
