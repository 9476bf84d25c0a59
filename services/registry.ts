// Finds the module that the isolated processes of a worker service load.
import type { QueueName } from '#shared/contract/services.ts';

/** The worker.ts of the service that has the same name as the queue. */
export const workerModule = (queue: QueueName): URL => new URL(`./${queue}/worker.ts`, import.meta.url);
