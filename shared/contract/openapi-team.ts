// Describes for the OpenAPI document the endpoints that return what a key may still use.
import type { JsonObject, JsonValue } from './json-value.ts';
import { failures, success } from './openapi-responses.ts';

const integer = (description: string): JsonObject => ({ type: 'integer', description });

const operation = (operationId: string, summary: string, properties: JsonObject, example: JsonValue): JsonObject => ({
  get: {
    operationId,
    summary,
    tags: ['team'],
    responses: {
      '200': success(
        summary,
        {
          type: 'object',
          required: ['success'],
          properties: { success: { type: 'boolean', const: true }, ...properties },
        },
        example,
      ),
      ...failures([401, 500, 503]),
    },
  },
});

/** The operations by path (docs/api.md, "Credits and slots"). */
export function teamPaths(): JsonObject {
  return {
    '/v2/team/credit-usage': operation(
      'creditUsage',
      'The credits of the key',
      {
        data: {
          type: 'object',
          required: ['remainingCredits'],
          properties: {
            remainingCredits: integer('Credits that are left. 9007199254740991 for a key without a credit limit.'),
            planCredits: integer('Credits of the key. Absent for a key without a credit limit.'),
            billingPeriodStart: { type: 'null' },
            billingPeriodEnd: { type: 'null' },
          },
        },
      },
      {
        success: true,
        data: { remainingCredits: 958, planCredits: 1000, billingPeriodStart: null, billingPeriodEnd: null },
      },
    ),
    '/v2/team/queue-status': operation(
      'queueStatus',
      'The requests of the team that run or wait',
      {
        jobsInQueue: integer('Requests that run or wait.'),
        activeJobsInQueue: integer('Requests that hold a slot.'),
        waitingJobsInQueue: integer('Requests that wait for a slot.'),
        maxConcurrency: integer('Slots of the team.'),
        mostRecentSuccess: { type: 'null', description: 'The server does not record it.' },
      },
      {
        success: true,
        jobsInQueue: 3,
        activeJobsInQueue: 2,
        waitingJobsInQueue: 1,
        maxConcurrency: 2,
        mostRecentSuccess: null,
      },
    ),
    '/v2/concurrency-check': operation(
      'concurrencyCheck',
      'The slots of the team',
      { concurrency: integer('Requests that hold a slot.'), maxConcurrency: integer('Slots of the team.') },
      { success: true, concurrency: 2, maxConcurrency: 10 },
    ),
  };
}
