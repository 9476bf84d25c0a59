// Is preloaded into a process to log which OpenTelemetry modules it loads.
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, next) {
    if (url.includes('/@opentelemetry/')) process.stderr.write(`loaded ${url}\n`);
    return next(url, context);
  },
});
