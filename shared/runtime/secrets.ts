// Takes the secrets of a service from where the environment of the process does not show them: a file descriptor, or files.
import { closeSync, readFileSync } from 'node:fs';

/** The last word of the name of a variable whose value may be a secret. A URL may contain a password. `services/entrypoint.sh` has the same words. */
const SECRET_NAME = /(?:URL|ENDPOINT|KEY|HEADERS|PASSWORD|TOKEN|SECRET|CREDENTIALS)$/;
/** The variable that names the file descriptor with the secrets. */
const DESCRIPTOR = 'SECRETS_FD';
const FILE_SUFFIX = '_FILE';

/** Whether the value of the variable may be a secret. */
export const isSecretVariable = (name: string): boolean => SECRET_NAME.test(name);

/** Variables whose value can come from a file: `NATS_URL_FILE=/run/secrets/nats` sets NATS_URL. */
export const FILE_VARIABLES = [
  'NATS_URL',
  'API_KEY',
  'LLM_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
] as const;

/** The configuration is invalid. The message names the variables and is meant for the operator. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Adds the secrets to `env`. Call it before anything reads the environment. A value that is added while the process runs is in its own memory,
 * while /proc/PID/environ shows the values that it was started with.
 * @throws ConfigError if a file or the descriptor cannot be read
 */
export function takeSecrets(env: NodeJS.ProcessEnv = process.env): void {
  const descriptor = env[DESCRIPTOR];
  if (descriptor) {
    for (const [name, value] of parseEnvironment(readDescriptor(Number(descriptor)))) env[name] = value;
    delete env[DESCRIPTOR];
  }
  for (const name of FILE_VARIABLES) {
    const file = env[`${name}${FILE_SUFFIX}`];
    if (!file) continue;
    if (env[name])
      throw new ConfigError(`configuration: ${name} and ${name}${FILE_SUFFIX} are both set. Unset one of them.`);
    env[name] = readSecretFile(`${name}${FILE_SUFFIX}`, file);
  }
}

function readDescriptor(descriptor: number): string {
  try {
    const encoded = readFileSync(descriptor, 'latin1');
    closeSync(descriptor);
    return Buffer.from(encoded, 'base64').toString();
  } catch (cause) {
    throw new ConfigError(
      `configuration: ${DESCRIPTOR}: the file descriptor cannot be read. The entrypoint of the image sets this variable; do not set it yourself.`,
      { cause },
    );
  }
}

/** The format of `env -0`: NAME=VALUE, each with a null byte at its end. */
const parseEnvironment = (text: string): (readonly [name: string, value: string])[] =>
  text.split('\0').flatMap((entry) => {
    const at = entry.indexOf('=');
    return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)] as const] : [];
  });

function readSecretFile(variable: string, file: string): string {
  try {
    // Editors and `echo` end a file with a line break.
    const value = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (value !== '') return value;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new ConfigError(`configuration: ${variable}: the file ${file} cannot be read (${code}).`, { cause });
  }
  throw new ConfigError(`configuration: ${variable}: the file ${file} is empty.`);
}
