// Finds the modules that the isolated processes of a worker service load.
import { QUEUES, type QueueName } from '#shared/contract/services.ts';

/** `worker.ts` of the service for the queue of the same name, and `QUEUE-worker.ts` for another queue. */
export const workerModule = (queue: QueueName): URL => {
  const { service } = QUEUES[queue];
  const file = queue === service ? 'worker.ts' : `${queue}-worker.ts`;
  return new URL(`./${service}/${file}`, import.meta.url);
};
