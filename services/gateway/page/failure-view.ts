// Shows an error in the words of the API, and what to do about it.
import { element } from './elements.ts';
import type { ApiFailure } from './parse-request.ts';
import { countText } from './units.ts';

/** What helps, by error code. The message of the API says the rest. */
const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'Check the API key. To create one, run: npm run keys -- create',
  FORBIDDEN: 'Use a key with this permission, for example: npm run keys -- create --allow parse,zdr',
  PAYMENT_REQUIRED: 'Use a key with credits left.',
  REQUEST_TIMEOUT: 'Raise the timeout in “More options”, or read fewer pages.',
  DOCUMENT_ENCRYPTED: 'Enter the password of the PDF in “More options”.',
  MODEL_NOT_CONFIGURED:
    'Remove JSON from the output, or configure a language model on the server (LLM_BASE_URL, LLM_MODEL).',
  PAYLOAD_TOO_LARGE: 'Choose a smaller file, or divide it.',
  UNSUPPORTED_FILE_TYPE: 'Choose a file of a supported kind, or give the file its right extension.',
};

export function failureCard({ status, error, code, details, requestId, retryAfterSeconds }: ApiFailure): HTMLElement {
  const advice = retryAfterSeconds
    ? `Send it again in ${countText(retryAfterSeconds, 'second')}.`
    : (ADVICE[code ?? ''] ??
      (status === 0 || status >= 500 ? 'Send it again. If it fails again, look at the log of the server.' : ''));
  const facts: [string, string][] = [
    ['Status', status === 0 ? '' : String(status)],
    ['Code', code ?? ''],
    ['Request id', requestId ?? ''],
  ];
  return element(
    'div',
    { class: 'failure', role: 'alert' },
    element('h2', {}, status === 0 ? 'The request failed' : `The server refused the request`),
    element('p', { class: 'failure-message' }, error),
    // The message of the API contains the first detail.
    ...(details && details.length > 1
      ? [
          element(
            'ul',
            { class: 'failure-details' },
            ...details.map(({ path, message }) =>
              element('li', {}, element('code', {}, path || 'options'), ` ${message}`),
            ),
          ),
        ]
      : []),
    ...(advice === '' ? [] : [element('p', { class: 'advice' }, advice)]),
    element(
      'dl',
      { class: 'facts' },
      ...facts
        .filter(([, value]) => value !== '')
        .flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, element('code', {}, value))]),
    ),
  );
}
