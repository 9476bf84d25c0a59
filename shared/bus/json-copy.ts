// The copy that a value becomes by crossing a wire, so that code which works in one process also works between two.

/** What `value` is after a trip as JSON; `undefined` becomes `null`. */
export function jsonCopy(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
}
