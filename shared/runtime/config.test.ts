// Holds what the environment means, and that hostile bytes are read without the keys of the house.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, conversionEnvironment, readConfig } from './config.ts';

test('an empty environment is the defaults of the documentation', () => {
  const config = readConfig({ PORT: '' });
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.port, 8080);
  assert.equal(config.natsUrl, undefined);
  assert.equal(config.llm, undefined);
  assert.ok(config.concurrency.pdf >= 1);
});

test('a wrong variable stops the start with its name', () => {
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

test('a model is an address without its last slash, and a name', () => {
  assert.deepEqual(readConfig({ LLM_BASE_URL: 'http://m/v1/', LLM_MODEL: 'small' }).llm, {
    baseUrl: 'http://m/v1',
    apiKey: undefined,
    model: 'small',
  });
});

test('an isolated process gets what its work needs and no key of another', () => {
  const env = { PATH: '/bin', API_KEY: 'k', NATS_URL: 'nats://u:p@h', LLM_API_KEY: 'l', OCR_LANGUAGES: 'deu' };
  assert.deepEqual(conversionEnvironment('pdf', env), { PATH: '/bin', OCR_LANGUAGES: 'deu' });
  assert.deepEqual(conversionEnvironment('enrich', env), { PATH: '/bin', LLM_API_KEY: 'l' });
  assert.deepEqual(conversionEnvironment('html', env), { PATH: '/bin' });
});
