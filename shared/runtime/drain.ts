// Ends a process the polite way: no new work, what runs is finished, then exit 0.
import type { Logger } from './log.ts';

/**
 * Runs `drain` on SIGTERM or SIGINT and exits 0; a second signal, or `timeoutMs`, exits 1 at once.
 */
export function drainOnSignal(drain: () => Promise<void>, options: { log: Logger; timeoutMs: number }): void {
  let draining = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (draining) process.exit(1);
    draining = true;
    options.log.info({ signal }, 'draining');
    setTimeout(() => {
      options.log.error('the drain took too long');
      process.exit(1);
    }, options.timeoutMs).unref();
    drain().then(
      () => process.exit(0),
      (error: unknown) => {
        options.log.error({ error: error instanceof Error ? error.name : typeof error }, 'the drain failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
