import { Arg, Authorized, Ctx, FieldResolver, Int, Mutation, Resolver, Root } from 'type-graphql';
import type { Context } from '../graphql/context.js';
import type { Policy } from '../identity/viewer.js';
import { CostReceiptType } from '../spend/cost.types.js';
import { appFor } from '../spend/cost-app.types.js';
import { labelSpend } from '../spend/day-spend.js';
import { LabelSpendType } from '../spend/spend.types.js';
import type { Admission } from './admission.js';
import { AdmissionType, AdmitInput, AdmittedType, DeniedType, SettleInput } from './admission.types.js';

const chainText = 'The labels of the model ordering, in its order, with their spend of today as last aggregated.';

function chainOf({ subject, day }: Admission, { catalog, loaders }: Context) {
  return Promise.all(
    subject.settings.modelOrdering.map(async (label) =>
      labelSpend(
        { subject, catalog, day, isOver: false },
        label,
        await loaders.total({ ...subject.scope, label, day }),
      ),
    ),
  );
}

@Resolver(() => AdmittedType)
export class AdmittedResolver {
  @Authorized<Policy>('spend:submit')
  @Mutation(() => AdmissionType, {
    nullable: true,
    description:
      'Decides if a model call may be made: takes the tokens of rate limits and reserves the estimated cost on the ' +
      'first label whose quota and budgets allow it. Idempotent by `requestId` within its app.',
  })
  async admit(
    @Arg('input', () => AdmitInput, { description: 'The call that asks for permission.' }) input: AdmitInput,
    @Ctx() context: Context,
  ) {
    return context.admissions.admit(await appFor(context, input), input, context);
  }

  @Authorized<Policy>('spend:submit')
  @Mutation(() => CostReceiptType, {
    nullable: true,
    description:
      'Records the cost of an admitted call and returns the rest of its reservation. Idempotent. After `expiresAt` ' +
      'the cost is recorded too.',
  })
  settle(
    @Arg('input', () => SettleInput, { description: 'The usage of the call.' }) input: SettleInput,
    @Ctx() context: Context,
  ) {
    return context.settlements.settle(context.viewer, input, context.loaders);
  }

  @Authorized<Policy>('spend:submit')
  @Mutation(() => CostReceiptType, {
    nullable: true,
    description:
      'Ends an admitted call without its usage. Idempotent. A call that was not sent costs nothing, counts as no ' +
      'request, is not listed in `costs`, and gives its tokens back.',
  })
  cancelAdmission(
    @Arg('admissionId', () => String, { description: 'The `admissionId` of the call.' }) admissionId: string,
    @Arg('sent', () => Boolean, {
      description:
        'Whether the model may have received the call. If true, the price of the estimated input is recorded, or the ' +
        'whole reservation if the estimate had no tokens.',
    })
    sent: boolean,
    @Ctx() context: Context,
  ) {
    return context.settlements.cancel(context.viewer, { admissionId, sent }, context.loaders);
  }

  @Authorized<Policy>('spend:submit')
  @Mutation(() => AdmittedType, {
    nullable: true,
    description: 'Extends the reservation of an admitted call. Its whole life is at most one hour.',
  })
  renewAdmission(
    @Arg('admissionId', () => String, { description: 'The `admissionId` of the call.' }) admissionId: string,
    @Arg('ttlSecs', () => Int, { description: 'Seconds from now, 1–900.' }) ttlSecs: number,
    @Ctx() context: Context,
  ) {
    return context.settlements.renew(context.viewer, { admissionId, ttlSecs }, context.loaders);
  }

  @FieldResolver(() => [LabelSpendType], { description: chainText })
  chain(@Root() admission: Admission, @Ctx() context: Context) {
    return chainOf(admission, context);
  }
}

@Resolver(() => DeniedType)
export class DeniedResolver {
  @FieldResolver(() => [LabelSpendType], { description: chainText })
  chain(@Root() admission: Admission, @Ctx() context: Context) {
    return chainOf(admission, context);
  }
}
