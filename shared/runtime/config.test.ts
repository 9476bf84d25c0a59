// Tests how environment variables are read, and which of them an isolated process receives.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QUEUE_NAMES, WORKER_NAMES, WORKER_SERVICES } from '../contract/services.ts';
import { ConfigError, conversionEnvironment, environmentSchema, readConfig } from './config.ts';

test('readConfig returns the defaults for an empty environment', () => {
  const config = readConfig({ PORT: '' });
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.port, 8080);
  assert.equal(config.natsUrl, undefined);
  assert.equal(config.llm, undefined);
  assert.ok(config.concurrency.pdf >= 1);
});

test('readConfig throws a ConfigError that names the invalid variable', () => {
  for (const env of [
    { PORT: '99999' },
    { PORT: 'http' },
    { LOG_LEVEL: 'loud' },
    { LLM_BASE_URL: 'ftp://x' },
    { OCR_CONCURRENCY: '0' },
    { LLM_BASE_URL: 'http://x/v1' },
  ])
    assert.throws(
      () => readConfig(env),
      (error) => error instanceof ConfigError && Object.keys(env).some((name) => error.message.includes(name)),
    );
});

test('CORS_ORIGINS is a list of origins; it is empty only if the variable is', () => {
  const originsOf = (value?: string) => readConfig(value === undefined ? {} : { CORS_ORIGINS: value }).corsOrigins;
  assert.deepEqual(originsOf(), ['*']);
  assert.deepEqual(originsOf(''), []);
  assert.deepEqual(originsOf(' '), []);
  assert.deepEqual(originsOf('https://a.example, http://localhost:3000'), [
    'https://a.example',
    'http://localhost:3000',
  ]);
  for (const wrong of ['a.example', 'https://a.example/', 'https://A.example', 'https://*.example', 'null'])
    assert.throws(() => originsOf(wrong), /CORS_ORIGINS: each must be an origin/, wrong);
});

test('TRUST_PROXY is a number of proxies or a list of address ranges', () => {
  const trusted = (value?: string) => readConfig(value === undefined ? {} : { TRUST_PROXY: value }).trustProxy;
  assert.equal(trusted(), 0);
  assert.equal(trusted('2'), 2);
  assert.deepEqual(trusted('loopback, 10.0.0.0/8,2001:db8::/32,192.0.2.1'), [
    'loopback',
    '10.0.0.0/8',
    '2001:db8::/32',
    '192.0.2.1',
  ]);
  for (const wrong of ['true', '-1', '100', '0.0.0.0/0', '10.0.0.0/33', '10.0.0.0/8/8', 'proxy.example', 'loopback,'])
    assert.throws(() => trusted(wrong), /TRUST_PROXY: must be a number of proxies/, wrong);
});

test('readConfig removes the trailing slash of LLM_BASE_URL', () => {
  assert.deepEqual(readConfig({ LLM_BASE_URL: 'http://m/v1/', LLM_MODEL: 'small' }).llm, {
    baseUrl: 'http://m/v1',
    apiKey: undefined,
    model: 'small',
  });
});

test('conversionEnvironment passes only the variables of the service', () => {
  const env = { PATH: '/bin', API_KEY: 'k', NATS_URL: 'nats://u:p@h', LLM_API_KEY: 'l', OCR_LANGUAGES: 'deu' };
  const cache = { NODE_COMPILE_CACHE: '/var/cache/node' };
  assert.deepEqual(conversionEnvironment('csv', cache), { env: cache, secrets: {} });
  assert.deepEqual(conversionEnvironment('pdf', env), { env: { PATH: '/bin', OCR_LANGUAGES: 'deu' }, secrets: {} });
  assert.deepEqual(conversionEnvironment('enrich', env), { env: { PATH: '/bin' }, secrets: { LLM_API_KEY: 'l' } });
  assert.deepEqual(conversionEnvironment('html', env), { env: { PATH: '/bin' }, secrets: {} });
});

for (const service of WORKER_NAMES)
  test(`WORKER_SERVICES passes only declared environment variables to ${service}`, () => {
    const declared = Object.keys(environmentSchema.shape);
    assert.deepEqual(
      WORKER_SERVICES[service].variables.filter((name) => !declared.includes(name)),
      [],
    );
  });

test('readConfig reads the concurrency of each queue and multiplies the default by the number of CPU cores', () => {
  const defaults = readConfig({}).concurrency;
  assert.equal(defaults.enrich, 4 * defaults.html);
  assert.deepEqual(Object.keys(defaults), QUEUE_NAMES);
  assert.equal(readConfig({ OFFICE_CONCURRENCY: '7' }).concurrency.office, 7);
});
