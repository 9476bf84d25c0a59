// Reads an upload with Express and busboy and responds without converting it: the lower bound of a gateway's cost.
import busboy from 'busboy';
import express from 'express';

const app = express();
app.post('/v2/parse', (request, response) => {
  const parser = busboy({ headers: request.headers });
  let bytes = 0;
  parser.on('file', (_name, stream) => {
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
  });
  parser.on('close', () => response.json({ success: true, data: { markdown: String(bytes) } }));
  request.pipe(parser);
});
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
});
process.on('disconnect', () => process.exit(0));
