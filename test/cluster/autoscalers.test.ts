// Tests that the KEDA triggers of the chart find the length of each queue in the answer of a real NATS server.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { DURABILITIES, jobStream } from '#shared/bus/nats/topology.ts';
import { connectNats } from '#shared/bus/nats.ts';
import { job, lateDeadline, until } from '#shared/bus/testing/jobs.ts';
import { isWorkerName, QUEUE_NAMES, queuesOf } from '#shared/contract/services.ts';
import { startNatsServer } from '../harness/nats-server.ts';
import { freePort } from '../harness/ports.ts';
import { skipReason } from '../harness/product.ts';

interface ScaledObject {
  metadata: { name: string };
  spec: { triggers: { type: string; metadata: { url: string; valueLocation: string } }[] };
}

const file = new URL('../../k8s/overlays/production/autoscalers.yaml', import.meta.url);
const scaledObjects = parseAllDocuments(await readFile(file, 'utf8'))
  .map((document) => document.toJS() as ScaledObject & { kind: string })
  .filter(({ kind }) => kind === 'ScaledObject');

const LOCATION = /^account_details\.0\.stream_detail\.#\(name==(\w+)\)\.state\.messages$/;
const streamOf = (valueLocation: string): string => LOCATION.exec(valueLocation)?.[1] ?? assert.fail(valueLocation);

test('each service is scaled by the streams of all its queues', () => {
  const streams = scaledObjects.map(({ metadata, spec }) => [
    metadata.name,
    spec.triggers.map((trigger) => streamOf(trigger.metadata.valueLocation)).sort(),
  ]);
  const services = scaledObjects.map(({ metadata }) => metadata.name.replace('parsemesh-', '')).filter(isWorkerName);
  assert.deepEqual(
    streams,
    services.map((service) => [
      `parsemesh-${service}`,
      queuesOf(service)
        .flatMap((queue) => DURABILITIES.map((durability) => jobStream(durability, queue)))
        .sort(),
    ]),
  );
  assert.deepEqual(services.flatMap(queuesOf).sort(), [...QUEUE_NAMES].sort());
});

test('a waiting job counts although its queue never had a worker', { skip: skipReason('nats') }, async () => {
  const monitoringPort = await freePort();
  const server = await startNatsServer({ args: ['-m', String(monitoringPort)] });
  const transport = await connectNats({ url: server.url, name: 'autoscaler-test', queues: QUEUE_NAMES });
  const triggers = scaledObjects.flatMap(({ spec }) => spec.triggers.map(({ metadata }) => metadata));
  /** What the `metrics-api` scaler of KEDA reads, by stream. It fails if the value is not a number. */
  const readLengths = async (): Promise<Record<string, unknown>> => {
    const lengths: Record<string, unknown> = {};
    for (const { url, valueLocation } of triggers) {
      const address = new URL(url);
      address.host = `127.0.0.1:${monitoringPort}`;
      const answer = (await (await fetch(address)).json()) as {
        account_details: { stream_detail: { name: string; state: { messages: unknown } }[] }[];
      };
      const stream = streamOf(valueLocation);
      lengths[stream] = answer.account_details[0]?.stream_detail.find(({ name }) => name === stream)?.state.messages;
    }
    return lengths;
  };
  try {
    const empty = Object.fromEntries(triggers.map(({ valueLocation }) => [streamOf(valueLocation), 0]));
    assert.deepEqual(await readLengths(), empty);
    for (const volatile of [false, true])
      for (const team of ['one', 'other'])
        transport.bus.request('ocr', job(), { deadline: lateDeadline(), team, volatile }).catch(() => undefined);
    await until(async () => (await transport.bus.depth('ocr')).pending === 4, 'all jobs wait');
    assert.deepEqual(await readLengths(), { ...empty, PARSEMESH_JOBS_OCR: 2, PARSEMESH_JOBS_VOLATILE_OCR: 2 });
  } finally {
    await transport.close();
    await server.stop();
  }
});
