// Finds the module that the isolated processes of a worker service load.
import type { QueueName } from '#shared/contract/services.ts';

/** @param queue its service has the same name, and its folder contains worker.ts */
export const workerModule = (queue: QueueName): URL => new URL(`./${queue}/worker.ts`, import.meta.url);
