import { Field, ObjectType } from 'type-graphql';

@ObjectType('ItemError', { description: 'Why one item of a batch was rejected.' })
export class ItemErrorType {
  @Field(() => String, { simple: true, description: 'The error code, as in `extensions.code` of an error.' })
  readonly code!: string;

  @Field(() => String, { simple: true, description: 'What is wrong and what to do, for people.' })
  readonly message!: string;
}
