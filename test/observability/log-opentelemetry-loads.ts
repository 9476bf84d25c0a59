// Preloaded into a process, tells on its standard error which modules of OpenTelemetry it loads.
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, next) {
    if (url.includes('/@opentelemetry/')) process.stderr.write(`loaded ${url}\n`);
    return next(url, context);
  },
});
