// Replaces node:test during mutation testing and collects the tests, so that one process can run each of them many times.
export interface CollectedTest {
  name: string;
  run(): unknown;
}

export const collected: CollectedTest[] = [];

type Body = (context: object) => unknown;

export function test(name: string, ...rest: [Body] | [object, Body]): void {
  const body = rest.at(-1) as Body;
  collected.push({ name, run: () => body({}) });
}

export default test;
