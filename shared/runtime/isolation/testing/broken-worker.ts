// A worker module that cannot be loaded, as a faulty installation would leave one.
import type { JobHandler } from '../../../contract/jobs.ts';

export const handle: JobHandler = async () => ({ reply: null });
export async function warm(): Promise<void> {
  throw new Error('no engine here');
}
