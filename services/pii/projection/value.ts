// Projects one value that is not a document: plain text, or a URL.
import { type Projection, ProjectionBuilder } from './projection.ts';
import { projectUrl } from './url.ts';

export function* projectPlain(source: string): Generator<Projection> {
  const builder = new ProjectionBuilder('text', 'raw');
  builder.copy(source, 0, source.length);
  yield* builder.flush();
}

export function* projectUrlValue(source: string): Generator<Projection> {
  const builder = new ProjectionBuilder('url', 'percent');
  projectUrl(builder, source, 0, source.length);
  yield* builder.flush();
}

/** Whether a text is a URL, or a path from the root of a site, and nothing else. */
export const isUrl = (text: string): boolean => /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|mailto:|tel:|\/)\S*$/i.test(text);
