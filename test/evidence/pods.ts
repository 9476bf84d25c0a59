// Lists the permissions of every pod of rendered manifests, and checks them against what docs/threat-model.md promises.
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { StepResult } from './step.ts';

const labels = z.record(z.string(), z.string());
const securityContext = z.looseObject({
  runAsUser: z.number().optional(),
  runAsNonRoot: z.boolean().optional(),
  privileged: z.boolean().optional(),
  allowPrivilegeEscalation: z.boolean().optional(),
  readOnlyRootFilesystem: z.boolean().optional(),
  capabilities: z.object({ drop: z.array(z.string()).optional(), add: z.array(z.string()).optional() }).optional(),
  seccompProfile: z.looseObject({ type: z.string() }).optional(),
});
const container = z.looseObject({ name: z.string(), securityContext: securityContext.optional() });
const podSpec = z.looseObject({
  serviceAccountName: z.string().optional(),
  automountServiceAccountToken: z.boolean().optional(),
  hostNetwork: z.boolean().optional(),
  hostPID: z.boolean().optional(),
  hostIPC: z.boolean().optional(),
  securityContext: securityContext.optional(),
  containers: z.array(container),
  initContainers: z.array(container).optional(),
  volumes: z.array(z.looseObject({ name: z.string() })).optional(),
});
const object = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
const workload = object.extend({
  spec: z.looseObject({
    template: z.looseObject({ metadata: z.looseObject({ labels: labels.optional() }), spec: podSpec }),
  }),
});
const account = object.extend({ automountServiceAccountToken: z.boolean().optional() });
const role = object.extend({
  rules: z.array(z.looseObject({ resources: z.array(z.string()).optional(), verbs: z.array(z.string()) })),
});
const binding = object.extend({
  roleRef: z.looseObject({ name: z.string() }),
  subjects: z.array(z.looseObject({ kind: z.string(), name: z.string() })).optional(),
});
const networkPolicy = object.extend({
  spec: z.looseObject({
    podSelector: z.looseObject({ matchLabels: labels.optional() }),
    policyTypes: z.array(z.string()).optional(),
  }),
});

type Workload = z.infer<typeof workload>;
type Container = z.infer<typeof container>;
type PodSpec = z.infer<typeof podSpec>;

interface Manifests {
  workloads: Workload[];
  accounts: Map<string, z.infer<typeof account>>;
  roles: Map<string, z.infer<typeof role>>;
  bindings: z.infer<typeof binding>[];
  policies: z.infer<typeof networkPolicy>[];
}

function readManifests(text: string): Manifests {
  const objects = parseAllDocuments(text).flatMap((document) => {
    const content: unknown = document.toJS();
    return content === null ? [] : [object.parse(content)];
  });
  const of = <T>(schema: z.ZodType<T>, ...kinds: string[]): T[] =>
    objects.filter(({ kind }) => kinds.includes(kind)).map((one) => schema.parse(one));
  const byName = <T extends z.infer<typeof object>>(list: T[]) => new Map(list.map((one) => [one.metadata.name, one]));
  return {
    workloads: of(workload, 'Deployment', 'StatefulSet', 'DaemonSet', 'Job'),
    accounts: byName(of(account, 'ServiceAccount')),
    roles: byName(of(role, 'Role', 'ClusterRole')),
    bindings: of(binding, 'RoleBinding', 'ClusterRoleBinding'),
    policies: of(networkPolicy, 'NetworkPolicy'),
  };
}

/** What the rights of the pod's service account are, and whether its token is in the pod. */
function rightsOf({ accounts, roles, bindings }: Manifests, spec: PodSpec): { token: boolean; rights: string } {
  const name = spec.serviceAccountName ?? 'default';
  const token = spec.automountServiceAccountToken ?? accounts.get(name)?.automountServiceAccountToken ?? true;
  const bound = bindings.filter(({ subjects = [] }) =>
    subjects.some((subject) => subject.kind === 'ServiceAccount' && subject.name === name),
  );
  const rights = bound.flatMap(({ roleRef }) =>
    (roles.get(roleRef.name)?.rules ?? []).map(
      ({ resources = [], verbs }) => `${verbs.join(', ')} on ${resources.join(', ')}`,
    ),
  );
  return { token, rights: rights.join('; ') || 'none' };
}

/** Directions of traffic that a NetworkPolicy restricts for these labels. */
function restricted({ policies }: Manifests, podLabels: Record<string, string>): Set<string> {
  const selecting = policies.filter(({ spec }) =>
    Object.entries(spec.podSelector.matchLabels ?? {}).every(([name, value]) => podLabels[name] === value),
  );
  return new Set(selecting.flatMap(({ spec }) => spec.policyTypes ?? ['Ingress']));
}

/** Describes what is wrong with one container. */
function containerProblems(pod: PodSpec, { securityContext: own = {} }: Container): string[] {
  const { capabilities = {} } = own;
  const checks: readonly (readonly [holds: boolean, problem: string])[] = [
    [(own.runAsNonRoot ?? pod.securityContext?.runAsNonRoot) === true, 'may run as root'],
    [(own.runAsUser ?? pod.securityContext?.runAsUser) !== 0, 'runs as uid 0'],
    [own.privileged !== true, 'is privileged'],
    [own.allowPrivilegeEscalation === false, 'may gain privileges'],
    [capabilities.drop?.includes('ALL') === true, 'keeps capabilities'],
    [(capabilities.add ?? []).length === 0, `adds capabilities (${capabilities.add?.join(', ')})`],
    [own.readOnlyRootFilesystem === true, 'has a writable root file system'],
    [
      (own.seccompProfile ?? pod.securityContext?.seccompProfile)?.type === 'RuntimeDefault',
      'has no seccomp profile RuntimeDefault',
    ],
  ];
  return checks.filter(([holds]) => !holds).map(([, problem]) => problem);
}

function podProblems(spec: PodSpec, network: Set<string>): string[] {
  const host = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name] === true);
  const paths = (spec.volumes ?? []).filter((volume) => 'hostPath' in volume).map(({ name }) => name);
  return [
    ...host.map((name) => `uses ${name}`),
    ...paths.map((name) => `mounts a folder of the node (${name})`),
    ...['Ingress', 'Egress'].filter((way) => !network.has(way)).map((way) => `has no NetworkPolicy for ${way}`),
  ];
}

const shown = (value: unknown): string => (value === undefined ? 'not set' : String(value));

/** @param text manifests as YAML, for example of `helm template` */
export function podPermissions(text: string): StepResult {
  const manifests = readManifests(text);
  const problems: string[] = [];
  const rows: string[][] = [];
  for (const { metadata, spec } of manifests.workloads) {
    const { metadata: podMetadata, spec: pod } = spec.template;
    const network = restricted(manifests, podMetadata.labels ?? {});
    const { token, rights } = rightsOf(manifests, pod);
    problems.push(...podProblems(pod, network).map((problem) => `${metadata.name} ${problem}`));
    if (token && rights === 'none')
      problems.push(`${metadata.name} has the token of a service account that has no rights`);
    for (const one of [...(pod.initContainers ?? []), ...pod.containers]) {
      problems.push(...containerProblems(pod, one).map((problem) => `${metadata.name}/${one.name} ${problem}`));
      const own = one.securityContext ?? {};
      rows.push([
        `${metadata.name}/${one.name}`,
        shown(own.runAsUser ?? pod.securityContext?.runAsUser),
        `drop ${own.capabilities?.drop?.join(', ') ?? 'none'}`,
        shown((own.seccompProfile ?? pod.securityContext?.seccompProfile)?.type),
        own.readOnlyRootFilesystem === true ? 'yes' : 'no',
        token ? rights : 'no token',
        [...network].sort().join(', ') || 'none',
      ]);
    }
  }
  if (rows.length === 0) problems.push('the manifests contain no pods');
  return {
    claim:
      'No pod runs as root, may gain privileges or has capabilities. Each has the seccomp profile RuntimeDefault, a read-only root file system, no access to its node, no service account token without need, and NetworkPolicies for both directions.',
    problems,
    facts: {
      head: [
        'pod/container',
        'uid',
        'capabilities',
        'seccomp',
        'read-only root',
        'Kubernetes rights',
        'network policies',
      ],
      rows,
    },
    files: { 'manifests.yaml': text },
  };
}
