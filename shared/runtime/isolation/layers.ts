// Logs which layers keep the secrets of a service from its isolated processes, so that the operator sees what the system does not offer.
import { statSync } from 'node:fs';
import type { Logger } from '../log.ts';
import { landlockVersion } from './confinement.ts';

/** Versions of Landlock (landlock(7)) that added these rights. */
const TCP_VERSION = 4;
const SIGNALS_VERSION = 6;

/** Writes one line: at debug if all layers are active, as a warning otherwise. Call it before the first isolated process starts. */
export function logIsolation(log: Logger): void {
  const version = landlockVersion();
  const layers = {
    /** Node's permission model, which every system has. */
    permissions: true,
    /** Version of Landlock; 0 if the system does not have it. */
    landlock: version,
    tcp: version >= TCP_VERSION,
    signals: version >= SIGNALS_VERSION,
    unreadableMemory: isMemoryUnreadable(),
  };
  if (version >= SIGNALS_VERSION) {
    log.debug({ layers }, 'the isolated processes are confined');
    return;
  }
  const missing =
    version === 0
      ? 'Landlock is not available (it needs Linux 5.13 and perl), so only the permissions of Node confine the isolated processes'
      : 'this kernel does not confine everything: TCP connections need Linux 6.7, signals need Linux 6.12';
  log.warn({ layers }, `${missing} (docs/architecture.md, "Isolation")`);
}

/** Whether /proc hides the environment and the memory of this process from its user: the kernel gives these files to root (proc(5)). */
function isMemoryUnreadable(): boolean {
  try {
    return process.getuid?.() !== 0 && statSync('/proc/self/environ').uid === 0;
  } catch {
    return false;
  }
}
