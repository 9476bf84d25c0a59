// Turns every failure of the bus, the payload store or the shared state into the error that the caller gets.
import {
  AbandonedError,
  BusUnavailableError,
  DeadlineError,
  NoWorkerError,
  PayloadMissingError,
  StoreFullError,
} from '../bus/bus.ts';
import { ParseError } from '../contract/errors.ts';
import { machineFaultError } from '../contract/machine-fault.ts';

/** A NATS server, a worker or space in a store is usually back within this time. */
const RETRY_AFTER_SECONDS = 5;

function unavailable(reason: string, cause: unknown): ParseError {
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    `Service Unavailable: ${reason}. Wait ${RETRY_AFTER_SECONDS} s and send the request again.`,
    { cause, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/**
 * The caller's error for a failure of the bus; any other error is returned unchanged.
 * @param queue the queue of the job, if a job failed
 */
export function toCallerError(error: unknown, queue?: string): unknown {
  if (error instanceof DeadlineError)
    return new ParseError(
      'REQUEST_TIMEOUT',
      'Request Timeout: the request did not finish within its `timeout`. Set a longer `timeout` (at most 300000 ms) or request fewer pages.',
      { cause: error },
    );
  if (error instanceof NoWorkerError)
    return unavailable(queue === undefined ? 'no worker is running' : `no ${queue} worker is running`, error);
  if (error instanceof BusUnavailableError) return unavailable('the message bus does not respond', error);
  if (error instanceof PayloadMissingError)
    return unavailable('the message bus no longer has the document, because it was restarted without its data', error);
  // The disk of the store may be full or read-only.
  if (error instanceof StoreFullError)
    return machineFaultError(error) ?? unavailable("the server's memory for documents in progress is full", error);
  if (error instanceof AbandonedError)
    return new ParseError(
      'CONVERSION_FAILED',
      'Every worker that tried to convert the document failed, so the file is the likely cause. Check that it opens in the program that made it, and save it again.',
      { cause: error },
    );
  return error;
}
