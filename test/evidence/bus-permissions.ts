// Lists what each service may do on the bus with a user of its own, and checks that a worker reaches only its own queues and payloads.
import { permissionsOf } from '#shared/bus/nats/accounts.ts';
import { queuesOf, SERVICE_NAMES, WORKER_NAMES } from '#shared/contract/services.ts';
import type { StepResult } from './step.ts';

type Permissions = ReturnType<typeof permissionsOf>;
type Worker = (typeof WORKER_NAMES)[number];

/** What only a gateway may do, by subject. */
const GATEWAY_ONLY: readonly (readonly [subject: RegExp, what: string])[] = [
  [/^(?:>|\*|\$JS\.>|\$JS\.API\.>)/, 'do everything'],
  [/^\$JS\.API\.STREAM\./, 'change or read streams'],
  [/^\$JS\.API\.CONSUMER\.(?!MSG\.NEXT\.)/, 'change consumers'],
  [/^\$KV\.|^\$JS\.API\.DIRECT\.GET\.KV_/, 'read or write shared state'],
  [/^parsemesh\.events\b/, 'append events'],
];

/** Whether a stream holds the jobs of one of these queues. */
const isStreamOf = (stream: string, queues: readonly string[]): boolean =>
  queues.some((queue) =>
    new RegExp(`^PARSEMESH_JOBS_(?:VOLATILE_)?${queue.toUpperCase().replaceAll('-', '_')}$`).test(stream),
  );

/** Describes what a worker may do beyond its own queues and payloads. */
export function busProblems(service: Worker, { publish, subscribe }: Permissions): string[] {
  const problems: string[] = [];
  for (const subject of publish) {
    for (const [pattern, what] of GATEWAY_ONLY) if (pattern.test(subject)) problems.push(`may ${what} (${subject})`);
    const [, stream] = /^\$JS\.(?:API\.CONSUMER\.MSG\.NEXT|ACK(?:\.\*\.\*)?)\.(\w+)\./.exec(subject) ?? [];
    if (stream !== undefined && !isStreamOf(stream, queuesOf(service)))
      problems.push(`may take jobs of another queue (${subject})`);
    const [, reader] =
      /^\$JS\.API\.DIRECT\.GET\.PARSEMESH_PAYLOADS\w*\.parsemesh\.payloads[\w-]*\.([^.]+)/.exec(subject) ?? [];
    if (reader !== undefined && reader !== service) problems.push(`may read payloads of others (${subject})`);
    const [, writer] = /^parsemesh\.payloads[\w-]*\.[^.]+\.([^.]+)/.exec(subject) ?? [];
    if (writer !== undefined && writer !== service) problems.push(`may store payloads as another service (${subject})`);
  }
  for (const subject of subscribe) {
    const [, owner] = /^(?:_INBOX|parsemesh\.reply)\.([^.]+)/.exec(subject) ?? [];
    if (/^[>*]/.test(subject) || (owner !== undefined && owner !== service))
      problems.push(`may receive answers to other services (${subject})`);
  }
  return problems;
}

export function busPermissions(): StepResult {
  const problems = WORKER_NAMES.flatMap((service) =>
    busProblems(service, permissionsOf(service)).map((problem) => `${service} ${problem}`),
  );
  return {
    claim:
      'With a NATS user for each service, a worker can take jobs of its own queues only, read only the payloads that were stored for it, and neither change streams nor reach shared state and events.',
    problems,
    facts: {
      head: ['service', 'may publish', 'may subscribe'],
      rows: SERVICE_NAMES.map((service) => {
        const { publish, subscribe } = permissionsOf(service);
        const shown = (subjects: readonly string[]): string => subjects.map((subject) => `\`${subject}\``).join(' ');
        return [service, shown(publish), shown(subscribe)];
      }),
    },
  };
}
