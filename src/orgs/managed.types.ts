import { Field, InputType, ObjectType } from 'type-graphql';
import { connectionType } from '../graphql/connection.js';
import { DateTime, SafeInt, Uuid } from '../graphql/scalars.js';
import { maxDocumentChars, maxItemsPerCall } from './managed-item.js';

const itemText = 'Names the thing within its org, for example `app:chat`. 1–512 characters.';
const managerText = 'Names the configuration file. 1–64 characters.';
const documentText = 'The document as it was last applied. Null if it was never applied.';
const versionText = 'The version of the thing that resulted when the document was applied.';
const intentText = 'The document that is about to be applied. Null if no change is under way.';
export const managedOrgText =
  'The org. Default: the org of the caller; for the platform admin, the platform itself with its catalog.';

@ObjectType('ManagedItem', {
  description:
    'The record that `tollgate apply` keeps about one thing that a configuration file manages. Tollgate does not ' +
    'interpret the documents.',
})
export class ManagedItemType {
  @Field(() => String, { simple: true, description: itemText })
  readonly item!: string;

  @Field(() => String, { simple: true, description: managerText })
  readonly manager!: string;

  @Field(() => String, { nullable: true, simple: true, description: documentText })
  readonly document?: string;

  @Field(() => SafeInt, { nullable: true, simple: true, description: versionText })
  readonly version?: number;

  @Field(() => String, { nullable: true, simple: true, description: intentText })
  readonly intent?: string;

  @Field(() => DateTime, { simple: true, description: 'When the record was last written.' })
  readonly updatedAt!: Date;
}

export const ManagedItemConnection = connectionType('ManagedItem', () => ManagedItemType);

@InputType({ description: 'A record to save. Without `document` and `intent`, the record is deleted.' })
export class ManagedItemInput {
  @Field(() => String, { description: itemText })
  readonly item!: string;

  @Field(() => String, {
    nullable: true,
    description: `${documentText} At most ${maxDocumentChars} characters. Needs \`version\`.`,
  })
  readonly document?: string | null;

  @Field(() => SafeInt, { nullable: true, description: `${versionText} Needs \`document\`.` })
  readonly version?: number | null;

  @Field(() => String, { nullable: true, description: `${intentText} At most ${maxDocumentChars} characters.` })
  readonly intent?: string | null;
}

@InputType({ description: 'Records of a configuration file to save or delete.' })
export class SetManagedItemsInput {
  @Field(() => Uuid, { nullable: true, description: managedOrgText })
  readonly orgId?: string | null;

  @Field(() => String, { description: managerText })
  readonly manager!: string;

  @Field(() => [ManagedItemInput], { description: `The records, 1–${maxItemsPerCall}.` })
  readonly items!: ManagedItemInput[];
}
