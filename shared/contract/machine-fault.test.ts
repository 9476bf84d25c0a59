// Checks which errors count as faults of the machine, and that their message tells the caller to try again and shows no path.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParseError } from './errors.ts';
import { describeFault, endedBySystem, machineFaultError, machineFaultOf } from './machine-fault.ts';

const systemError = (code: string) =>
  Object.assign(new Error(`${code}: open '/tmp/secret'`), { code, path: '/tmp/secret' });

for (const code of ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])
  test(`${code} is a fault of the machine, also as the cause of another error`, () => {
    const wrapped = new ParseError('CONVERSION_FAILED', undefined, {
      cause: new Error('outer', { cause: systemError(code) }),
    });
    for (const error of [systemError(code), wrapped]) {
      assert.equal(machineFaultOf(error), code);
      const shown = machineFaultError(error);
      assert.equal(shown?.code, 'SERVICE_UNAVAILABLE');
      assert.equal(shown?.retryAfterSeconds, 5);
      assert.match(shown?.message ?? '', /^Service Unavailable: a server cannot work now, because .* Wait 5 s/);
      assert.doesNotMatch(shown?.message ?? '', /secret/);
    }
    const fault = machineFaultOf(wrapped);
    assert.ok(fault && /\. \w/.test(describeFault(fault)) && describeFault(fault).endsWith('.'), 'it says what to do');
  });

test('other errors are no fault of the machine', () => {
  for (const error of [systemError('ENOENT'), new TypeError('x'), 'ENOSPC', undefined]) {
    assert.equal(machineFaultOf(error), undefined);
    assert.equal(machineFaultError(error), undefined);
  }
});

test('a kill from outside is an end by the system; a crash and the end at a CPU limit are not', () => {
  assert.deepEqual(['SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGABRT', 'SIGXCPU', null].map(endedBySystem), [
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
