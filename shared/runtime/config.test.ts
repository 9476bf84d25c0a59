// Tests how environment variables are read, and which of them an isolated process receives.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QUEUE_NAMES, WORKER_SERVICES } from '../contract/services.ts';
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
  assert.deepEqual(conversionEnvironment('csv', cache), cache);
  assert.deepEqual(conversionEnvironment('pdf', env), { PATH: '/bin', OCR_LANGUAGES: 'deu' });
  assert.deepEqual(conversionEnvironment('enrich', env), { PATH: '/bin', LLM_API_KEY: 'l' });
  assert.deepEqual(conversionEnvironment('html', env), { PATH: '/bin' });
});

for (const queue of QUEUE_NAMES)
  test(`WORKER_SERVICES passes only declared environment variables to ${queue}`, () => {
    const declared = Object.keys(environmentSchema.shape);
    assert.deepEqual(
      WORKER_SERVICES[queue].variables.filter((name) => !declared.includes(name)),
      [],
    );
  });

test('readConfig reads the concurrency of each service and multiplies the default by the number of CPU cores', () => {
  const defaults = readConfig({}).concurrency;
  assert.equal(defaults.enrich, 4 * defaults.html);
  assert.deepEqual(Object.keys(defaults), QUEUE_NAMES);
  assert.equal(readConfig({ OFFICE_CONCURRENCY: '7' }).concurrency.office, 7);
});
