import { ArgsType, Field, InputType, ObjectType } from 'type-graphql';
import { connectionType, PageArgs } from '../../graphql/connection.js';
import { LocalDate, SafeInt, Uuid } from '../../graphql/scalars.js';
import { maxCorrectionDays, maxCorrectionsPerCost, maxReasonChars } from './correction.js';
import { CostCorrectionType, CostEntryType } from './cost-entry.types.js';
import { maxLedgerDays } from './ledger.js';

export const CostEntryConnection = connectionType('CostEntry', () => CostEntryType);

@ArgsType()
export class CostRangeArgs extends PageArgs {
  @Field(() => LocalDate, { description: 'The first day, in the time zone of the org.' })
  readonly from!: string;

  @Field(() => LocalDate, { description: `The last day. A range has at most ${maxLedgerDays} days.` })
  readonly to!: string;

  @Field(() => String, { nullable: true, description: 'Only calls with this label. Adds 100 units of complexity.' })
  readonly label?: string | null;
}

@ArgsType()
export class OrgCostsArgs extends CostRangeArgs {
  @Field(() => String, { nullable: true, description: 'Only calls of this app. Adds 100 units of complexity.' })
  readonly appId?: string | null;
}

@InputType({ description: 'A correction of one recorded cost.' })
export class CorrectCostInput {
  @Field(() => Uuid, {
    nullable: true,
    description: 'The org. Required for the platform admin. Default: the org of the caller.',
  })
  readonly orgId?: string | null;

  @Field(() => String, { description: 'The app that submitted the cost.' })
  readonly appId!: string;

  @Field(() => Uuid, { description: 'The `requestId` of the cost.' })
  readonly requestId!: string;

  @Field(() => Uuid, {
    description:
      'Idempotency key, unique within its cost. The same id counts once: a retry with the same payload returns the ' +
      'first correction, a retry with another payload fails with IDEMPOTENCY_CONFLICT.',
  })
  readonly correctionId!: string;

  @Field(() => SafeInt, {
    description:
      'Micro-dollars to add to the cost, -10^12 to 10^12 and not 0. Negative for a credit, ' +
      'which can be at most the cost with its earlier corrections.',
  })
  readonly deltaUsdMicros!: number;

  @Field(() => String, { description: `Why the cost is corrected, 1–${maxReasonChars} characters.` })
  readonly reason!: string;
}

@ObjectType('CorrectCostPayload', {
  description: `The result of \`correctCost\`. A cost has at most ${maxCorrectionsPerCost} corrections.`,
})
export class CorrectCostPayload {
  @Field(() => CostCorrectionType, { simple: true, description: 'The correction as stored.' })
  readonly correction!: CostCorrectionType;

  @Field(() => Boolean, { simple: true, description: 'True if this correction was stored before.' })
  readonly replayed!: boolean;
}

export const correctCostText =
  'Corrects a recorded cost by a credit or a debit. It counts once, on the day and hour of the call, ' +
  `and is audited. A cost can be corrected for ${maxCorrectionDays} days. ` +
  'Totals show it after the next aggregation, EXACT figures at once.';
