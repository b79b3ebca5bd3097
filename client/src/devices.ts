import { backoffMs, type Clock } from './clock.js';
import * as documents from './documents.js';
import type { IngestResult, ReadingInput, ReadingVerdict } from './event-types.js';
import type { Transport } from './transport.js';

export interface DevicesDeps {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly retries: number;
}

const maxReadings = 100;

/** Sends readings of devices. Needs an API key. */
export class Devices {
  readonly #deps: DevicesDeps;

  constructor(deps: DevicesDeps) {
    this.#deps = deps;
  }

  /** Sends readings, 100 per call, and sends those again whose verdict is `RETRY`. Safe to repeat. */
  async ingest(
    readings: readonly ReadingInput[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<IngestResult> {
    const { clock, retries } = this.#deps;
    const verdicts: ReadingVerdict[] = [];
    let open = readings.map((_, index) => index);
    for (let round = 0; open.length > 0 && round <= retries; round++) {
      if (round > 0) await clock.sleep(backoffMs(round, clock.random()), signal);
      for (let from = 0; from < open.length; from += maxReadings) {
        const indexes = open.slice(from, from + maxReadings);
        for (const verdict of await this.#send(
          indexes.map((index) => readings[index] as ReadingInput),
          signal,
        )) {
          const index = indexes[verdict.index] as number;
          verdicts[index] = { ...verdict, index };
        }
      }
      open = open.filter((index) => verdicts[index]?.kind === 'RETRY');
    }
    return { settledBatchIds: settledOf(verdicts), verdicts };
  }

  async #send(readings: readonly ReadingInput[], signal: AbortSignal | undefined): Promise<readonly ReadingVerdict[]> {
    const { ingest } = await this.#deps.transport.send<{
      readonly ingest: { readonly verdicts: readonly ReadingVerdict[] };
    }>({ document: documents.ingest, variables: { input: { readings } }, signal });
    return ingest.verdicts;
  }
}

/** Ids that are stored. An id that several devices share is stored only if it is for each of them. */
function settledOf(verdicts: readonly ReadingVerdict[]): readonly string[] {
  const idsOf = (of: readonly ReadingVerdict[]) => new Set(of.map(({ batchId }) => batchId));
  const open = idsOf(verdicts.filter(({ kind }) => kind !== 'STORED' && kind !== 'DUPLICATE'));
  return [...idsOf(verdicts)].filter((id) => !open.has(id));
}
