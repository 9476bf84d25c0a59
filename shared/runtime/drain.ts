// Shuts a process down gracefully: it accepts no new work, finishes what is running, and exits with 0.
import type { Logger } from './log.ts';

/**
 * Runs `drain` on SIGTERM or SIGINT, then exits with 0. Exits with 1 at a second signal, after `timeoutMs`, or when `drain` fails.
 */
export function drainOnSignal(drain: () => Promise<void>, options: { log: Logger; timeoutMs: number }): void {
  let draining = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (draining) process.exit(1);
    draining = true;
    options.log.info({ signal }, 'draining');
    setTimeout(() => {
      options.log.error('draining timed out; exiting with unfinished work');
      process.exit(1);
    }, options.timeoutMs).unref();
    drain().then(
      () => process.exit(0),
      (error: unknown) => {
        options.log.error({ error: error instanceof Error ? error.name : typeof error }, 'draining failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
