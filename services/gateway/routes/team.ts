// Serves what a key may still use: its credits, and the slots of its team. The public SDKs and the public command line client request it.
import type { SharedState } from '#shared/bus/bus.ts';
import type { RouteLabel } from '#shared/runtime/metrics.ts';
import type { Handler } from '../app.ts';
import { authenticate } from '../auth/bearer.ts';
import type { KeySource } from '../auth/keys.ts';
import type { ConcurrencyLimiter } from '../limits/concurrency.ts';
import { remainingCredits } from '../limits/credits.ts';
import { sendJson } from '../responses/json.ts';

interface TeamDependencies {
  keys: KeySource;
  state: SharedState;
  concurrency: ConcurrencyLimiter;
}

/** Stands for a key without a credit limit, because the clients fail if the field has no number. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Handlers of GET requests by path (docs/api.md, "Credits and slots"). */
export function teamHandlers({ keys, state, concurrency }: TeamDependencies): Partial<Record<RouteLabel, Handler>> {
  return {
    '/v2/team/credit-usage': async (request, response) => {
      const key = authenticate(request, response, keys);
      const remaining = await remainingCredits(state, key);
      sendJson(response, 200, {
        success: true,
        data: {
          remainingCredits: remaining ?? NO_LIMIT,
          ...(key.credits === null ? {} : { planCredits: key.credits }),
          billingPeriodStart: null,
          billingPeriodEnd: null,
        },
      });
    },
    '/v2/team/queue-status': async (request, response) => {
      const key = authenticate(request, response, keys);
      const { held, waiting } = await concurrency.usage(key.team);
      sendJson(response, 200, {
        success: true,
        jobsInQueue: held + waiting,
        activeJobsInQueue: held,
        waitingJobsInQueue: waiting,
        maxConcurrency: key.concurrency,
        mostRecentSuccess: null,
      });
    },
    '/v2/concurrency-check': async (request, response) => {
      const key = authenticate(request, response, keys);
      const { held } = await concurrency.usage(key.team);
      sendJson(response, 200, { success: true, concurrency: held, maxConcurrency: key.concurrency });
    },
  };
}
