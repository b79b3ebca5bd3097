// node stub-store.mjs ENGINE PORT DELAY_MS: a DynamoDB endpoint that acknowledges costs after a fixed time without
// storing them, and passes every other call to the engine. So the store takes no CPU that the measurement must share.
import { createServer, request as send } from 'node:http';

const [engine, port, delayMs] = process.argv.slice(2);
const { hostname, port: enginePort } = new URL(engine);
const transactions = 'DynamoDB_20120810.TransactWriteItems';
const isCost = (body) => body.includes('cost_requests');

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (request.headers['x-amz-target'] === transactions && isCost(body))
      setTimeout(() => response.end('{}'), Number(delayMs));
    else forward(request, body, response);
  });
}).listen(Number(port), '127.0.0.1');

function forward({ method, url, headers }, body, response) {
  const call = send({ hostname, port: enginePort, method, path: url, headers }, (reply) => {
    response.writeHead(reply.statusCode, reply.headers);
    reply.pipe(response);
  });
  call.on('error', () => response.destroy());
  call.end(body);
}
