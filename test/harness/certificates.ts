// Creates a certificate authority and certificates for the tests of TLS, with the openssl program.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface Certificate {
  cert: string;
  key: string;
}

export interface CertificateAuthority {
  /** Path of the authority's certificate. */
  ca: string;
  /** Writes a certificate for a server with this host name, or for a client. */
  issue(name: string): Promise<Certificate>;
  remove(): Promise<void>;
}

/** A self-signed authority in a folder of its own. */
export async function createAuthority(): Promise<CertificateAuthority> {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-certificates-'));
  const [ca, caKey] = [join(folder, 'ca.crt'), join(folder, 'ca.key')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await run('openssl', [
    'req',
    '-x509',
    ...key,
    '-keyout',
    caKey,
    '-out',
    ca,
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
  ]);
  let issued = 0;
  return {
    ca,
    async issue(name) {
      const path = join(folder, `${name}-${issued++}`);
      const [request, extensions] = [`${path}.csr`, `${path}.ext`];
      const certificate: Certificate = { cert: `${path}.crt`, key: `${path}.key` };
      await run('openssl', ['req', ...key, '-keyout', certificate.key, '-out', request, '-subj', `/CN=${name}`]);
      await writeFile(extensions, `subjectAltName=DNS:${name}\nextendedKeyUsage=serverAuth,clientAuth\n`);
      const sign = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', '2', '-extfile', extensions];
      await run('openssl', ['x509', '-req', '-in', request, ...sign, '-out', certificate.cert]);
      return certificate;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
