import { QuotaExceeded, type Tollgate } from '@tollgate/client';
import { fromAnthropic } from '@tollgate/client/usage';

/** Any SDK that tells its usage. `send` stands for `anthropic.messages.create`. */
export async function meterAnthropic<Message extends { usage: object }>(
  tollgate: Tollgate,
  send: (model: string) => Promise<Message>,
): Promise<Message | undefined> {
  const estimate = { inputTokens: 1200, maxOutputTokens: 800 };
  try {
    return await tollgate.spend.meter({ estimate }, async ({ modelId }) => {
      const message = await send(modelId);
      return { value: message, usage: fromAnthropic(message.usage) };
    });
  } catch (error) {
    if (error instanceof QuotaExceeded) return undefined;
    throw error;
  }
}
