import { request } from 'undici';
import { createTables, type TableAdmin } from '../../src/dynamo/table-admin.js';
import type { StoreEndpoint } from '../../src/dynamo/transport.js';

interface Command {
  readonly constructor: { readonly name: string };
  readonly input: unknown;
}

/**
 * Creates the tables of a test gateway with the commands of the program, but without the SDK, which takes 70 ms of CPU
 * per gateway to sign and parse them. Local engines accept any signature.
 */
export async function createTestTables({ endpoint = '', region = '', credentials }: StoreEndpoint, prefix: string) {
  const scope = `${credentials?.accessKeyId}/20000101/${region}/dynamodb/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
  const send = async (command: Command): Promise<unknown> => {
    const { statusCode, body } = await request(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${command.constructor.name.replace(/Command$/, '')}`,
        'x-amz-date': '20000101T000000Z',
        authorization,
      },
      body: JSON.stringify(command.input),
    });
    const output = (await body.json()) as { readonly __type?: string; readonly message?: string };
    if (statusCode === 200) return output;
    throw Object.assign(new Error(output.message), { name: output.__type?.replace(/^.*#/, '') });
  };
  await createTables({ client: { send } as unknown as TableAdmin['client'], prefix, protect: false });
}
