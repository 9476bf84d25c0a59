// Logs each OpenTelemetry module that a process loads; a test preloads this file into the process.
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, next) {
    if (url.includes('/@opentelemetry/')) process.stderr.write(`loaded ${url}\n`);
    return next(url, context);
  },
});
