import { useState } from 'preact/hooks';
import { send } from '../data/client.js';
import { RotateCredentialsDocument } from '../gql/graphql.js';
import { useOrg, useSession } from '../shell/context.js';
import { FormDialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Handover, type Retrieval } from './handover.js';

interface RotateProps {
  readonly clientId: string;
  /** True for a client of the org itself: an org client must then prove that it knows its own secret. */
  readonly isOrgClient: boolean;
  readonly onClose: () => void;
}

/** Hands out a one-time token for a new secret of a client. */
export function RotateDialog({ clientId, isOrgClient, onClose }: RotateProps) {
  const { orgId } = useOrg();
  const { kind } = useSession();
  const needsProof = kind === 'APP_CLIENT' || (kind === 'ORG_CLIENT' && isOrgClient);
  const [graceHours, setGraceHours] = useState('24');
  const [currentSecret, setCurrentSecret] = useState('');
  const [retrieval, setRetrieval] = useState<Retrieval>();
  if (retrieval) return <Handover title={`New secret of ${clientId}`} retrieval={retrieval} onClose={onClose} />;
  return (
    <FormDialog
      title="Rotate credentials"
      submit="Make a one-time token"
      onClose={onClose}
      keepOpen
      onSubmit={async () => {
        const proof = needsProof ? { currentSecret } : {};
        const input = { orgId, clientId, graceHours: Number(graceHours), ...proof };
        const { rotateCredentials } = await send(RotateCredentialsDocument, { input });
        setRetrieval(rotateCredentials?.secretRetrieval);
      }}
    >
      <p>
        A new secret for <code>{clientId}</code>. Nothing changes until the one-time token is redeemed.
      </p>
      <Field
        label="Hours that the old secret works beside the new one"
        type="number"
        min={0}
        max={168}
        value={graceHours}
        onInput={setGraceHours}
        hint="0 to 168. With 0, the old secret and all its tokens end when the new one is shown."
        required
      />
      {needsProof && (
        <Field
          label="The secret you signed in with"
          type="password"
          autoComplete="current-password"
          value={currentSecret}
          onInput={setCurrentSecret}
          required
        />
      )}
    </FormDialog>
  );
}
