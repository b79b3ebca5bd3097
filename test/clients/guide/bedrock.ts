import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  ConverseCommand,
} from '@aws-sdk/client-bedrock-runtime';
import type { Tollgate } from '@tollgate/client';
import { meterBedrock } from '@tollgate/client/bedrock';

export const newBedrock = (tollgate: Tollgate, config: BedrockRuntimeClientConfig) =>
  meterBedrock(new BedrockRuntimeClient(config), tollgate);

export async function ask(bedrock: BedrockRuntimeClient, question: string) {
  const reply = await bedrock.send(
    new ConverseCommand({
      modelId: 'chosen by Tollgate',
      messages: [{ role: 'user', content: [{ text: question }] }],
      inferenceConfig: { maxTokens: 500 },
    }),
  );
  return reply.output?.message?.content?.[0]?.text;
}
