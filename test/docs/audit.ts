// Generates docs/audit.md from the schemas of the audit events.
import { z } from 'zod';
import { AUDIT_EVENTS } from '#shared/contract/audit-events.ts';
import { AUDIT_LIMITS } from '#shared/contract/limits.ts';
import { table } from './markdown-table.ts';

type JsonSchema = Exclude<z.core.JSONSchema._JSONSchema, boolean>;

/** The type of a field, as a reader of the JSON sees it. */
function typeOf({ type, enum: values, anyOf, format }: JsonSchema): string {
  if (values) return values.length > 7 ? 'string' : values.map((value) => `\`${String(value)}\``).join(' ');
  const of =
    anyOf?.flatMap((one) => (typeof one === 'boolean' ? [] : typeOf(one))).join(' or ') ?? String(type ?? 'any');
  return format === 'date-time' ? 'timestamp' : of;
}

function section(event: (typeof AUDIT_EVENTS)[number]): string {
  const schema = z.toJSONSchema(event);
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (name === 'event' || typeof field === 'boolean') return [];
    if (!field.description) throw new Error(`the field \`${name}\` of an audit event has no description`);
    return [[`\`${name}\``, typeOf(field), required.has(name) ? 'always' : '', field.description]];
  });
  return `## \`${String(event.shape.event.value)}\`

${schema.description}

${table(['field', 'type', '', 'description'], rows)}`;
}

/** The text of docs/audit.md. */
export function auditPage(): string {
  const { refusalAddresses, refusalKeys } = AUDIT_LIMITS;
  return `# Audit events

The gateway writes audit events as JSON. This page is generated from \`shared/contract/audit-events.ts\` by \`npm run docs\`; \`services/gateway/audit/audit.test.ts\` checks the events against the same schemas. An event never contains the content of a file, a file name, or the value of an API key.

## What is written

| event | with \`AUDIT=keys\` (the default) | with \`AUDIT=all\` |
| --- | --- | --- |
| \`parse\` | requests whose key has the permission \`audit\` ([keys.md](keys.md)) | every request with a valid key |
| \`refusal\`: 402, 403, 429, and 401 for an expired key | requests whose key has the permission \`audit\` | every request |
| \`refusal\`: 401 for a missing or unknown key | never | every request |
| \`key-...\` | always | always |

\`AUDIT\` is an environment variable of the gateway (in the chart: \`services.gateway.env\`). A refused request is a request that was not allowed: it has a \`refusal\` event and no \`parse\` event. A request that was allowed and failed has a \`parse\` event with the error code as its outcome.

## Where events are written

- To the standard output of the gateway, one log line for each event, with the message \`audit\` and the event in \`audit\`. This does not depend on \`LOG_LEVEL\`, except for \`silent\`.
- Over NATS also to the stream \`PARSEMESH_EVENTS\`, subject \`parsemesh.events.audit\`, with the event as the whole message. The stream keeps events for 30 days, at most 256 MiB; the oldest are deleted first ([limits.md](limits.md), \`eventTtlMs\`, \`eventBytes\`). Copy them to a system of your own to keep them longer. While NATS is not available, an event is retried for a minute; after that it is in the standard output only, and a warning in the log says so.

## Refusals are counted

A client that is refused again and again must not fill the stream. So the gateway counts refusals for a minute and then writes one event for each combination of error code, key and client address. The 2^64 addresses of one IPv6 /64 network count as one. At most ${refusalAddresses} addresses without a known key and ${refusalKeys} combinations with a key have an event of their own in a minute. The others are added up in one event for each error code, without key and address. With one gateway, clients without a key can fill less than 256 MiB in 30 days, so they cannot push other events out of the stream.

The event of a refusal appears up to a minute later, with the times of the first and the last request. A gateway that is stopped with SIGTERM writes its counts first. A gateway that is killed loses them; its request log still has a line for each request.

## Keys

Every gateway watches the keys and writes an event for each change. Over NATS, the event of several gateways is stored once if they see the change within two minutes. In the standard output, each gateway has its own line.

- The keys that exist when a gateway starts write no event. A change that is made while no gateway runs has no event. \`npm run keys -- list\` shows when each key was created, revoked and expired.
- \`by\` is what \`npm run keys\` recorded: the user and the host that ran it. It is a note and no proof, because whoever may write the keys file or the Secret can write it too. For Secrets, the audit log of the Kubernetes API server names the authenticated user of each change, also of changes with \`kubectl\`. For the keys file, use the audit log of the host.

## Client address

\`address\` is the address of the connection. Behind a load balancer or an ingress, that is the address of the proxy. Set \`TRUST_PROXY\` (in the chart: \`services.gateway.env.TRUST_PROXY\`) to the number of proxies in front of the gateway, or to their addresses, so that the gateway reads the client address from \`X-Forwarded-For\`. Count exactly: with a number that is too high, a client can write the address itself. If the header has something else than an IP address at that place, the event has the address of the connection.

${AUDIT_EVENTS.map(section).join('\n\n')}
`;
}
