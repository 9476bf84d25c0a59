// Renders the accounts, users and permissions of shared/bus/nats/accounts.ts as configuration of a NATS server.
import { accountOf, OPERATOR, passwordVariable, permissionsOf, routes } from '#shared/bus/nats/accounts.ts';
import { SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';

type Route = ReturnType<typeof routes>[number];

const block = (name: string, open: string, lines: readonly string[], close: string): string[] => [
  `${name} ${open}`,
  ...lines.map((line) => `  ${line}`),
  close,
];

function user(service: ServiceName): string[] {
  const { publish, subscribe, responds } = permissionsOf(service);
  return [
    `{user: ${service}, password: $${passwordVariable(service)}, permissions: {`,
    ...block(
      '  publish: {allow:',
      '[',
      publish.map((subject) => `  ${JSON.stringify(subject)}`),
      '  ]}',
    ),
    ...block(
      '  subscribe: {allow:',
      '[',
      subscribe.map((subject) => `  ${JSON.stringify(subject)}`),
      '  ]}',
    ),
    ...(responds ? ['  allow_responses: {max: 1, expires: "1m"}'] : []),
    '}}',
  ];
}

/** One line for each subject that `service` answers or sends to other accounts. */
function exportsOf(service: ServiceName, all: readonly Route[]): string[] {
  const lines = new Map<string, Set<string>>();
  for (const { kind, subject, from, to } of all) {
    const [exporter, importer] = kind === 'request' ? [to, from] : [from, to];
    if (exporter !== service) continue;
    const key = `${kind === 'request' ? 'service' : 'stream'}: ${JSON.stringify(subject)}`;
    lines.set(key, (lines.get(key) ?? new Set()).add(accountOf(importer)));
  }
  return [...lines].map(([key, accounts]) => `{${key}, accounts: [${[...accounts].sort().join(', ')}]}`);
}

function importsOf(service: ServiceName, all: readonly Route[]): string[] {
  return all.flatMap(({ kind, subject, from, to }) => {
    const [exporter, importer] = kind === 'request' ? [to, from] : [from, to];
    if (importer !== service) return [];
    const name = kind === 'request' ? 'service' : 'stream';
    return [`{${name}: {account: ${accountOf(exporter)}, subject: ${JSON.stringify(subject)}}}`];
  });
}

function account(service: ServiceName, all: readonly Route[]): string[] {
  const isMain = service === 'gateway';
  const operator = `{user: ${OPERATOR}, password: $${passwordVariable(OPERATOR)}}`;
  return block(
    accountOf(service),
    '{',
    [
      ...(isMain ? ['jetstream: enabled'] : []),
      ...block('users:', '[', [...user(service), ...(isMain ? [operator] : [])], ']'),
      ...block('exports:', '[', exportsOf(service, all), ']'),
      ...block('imports:', '[', importsOf(service, all), ']'),
    ],
    '}',
  );
}

/** The `accounts` of a server. Passwords are environment variables of the server. */
export function renderAccounts(): string {
  const all = routes();
  const lines = block(
    'accounts',
    '{',
    SERVICE_NAMES.flatMap((service) => account(service, all)),
    '}',
  );
  return `# The accounts of shared/bus/nats/accounts.ts as \`npm run k8s\` renders them (docs/nats.md).\n${lines.join('\n')}\n`;
}

/** Name of every user and of the variable with its password. */
export const natsUsers: ReadonlyMap<string, string> = new Map(
  [...SERVICE_NAMES, OPERATOR].map((name) => [name, passwordVariable(name)]),
);
