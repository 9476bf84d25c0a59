// A worker module that fails to start, like one from a broken installation.
import type { JobHandler } from '../../../contract/jobs.ts';

export const handle: JobHandler = async () => ({ reply: null });
export async function warm(): Promise<void> {
  throw new Error('the engine is not installed');
}
