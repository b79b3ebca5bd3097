import { useState } from 'preact/hooks';
import { refreshAll, send } from '../data/client.js';
import { explain } from '../data/problem.js';
import { RetrieveSecretDocument, type RetrieveSecretMutation } from '../gql/graphql.js';
import { until } from '../lib/time.js';
import { Dialog, useAction } from '../ui/dialog.js';
import { useTick } from '../ui/fresh.js';
import { CopyButton } from '../ui/states.js';

export interface Retrieval {
  readonly token: string;
  readonly expiresAt: string;
}

interface HandoverProps {
  /** What was made, such as "The app was registered". */
  readonly title: string;
  readonly retrieval: Retrieval;
  readonly onClose: () => void;
}

/** Shows the one-time token of a new secret, to hand it over or to redeem it here. */
export function Handover({ title, retrieval, onClose }: HandoverProps) {
  const [secret, setSecret] = useState<RetrieveSecretMutation['retrieveSecret']>(null);
  useTick(10_000);
  const { run, isRunning, error } = useAction(async () => {
    const { retrieveSecret } = await send(RetrieveSecretDocument, { token: retrieval.token });
    setSecret(retrieveSecret);
    await refreshAll();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="body">
        {secret ? (
          <>
            <p>Store the secret now. It is shown only here.</p>
            <SecretText label="Client id" text={secret.clientId} />
            <SecretText label="Client secret" text={secret.clientSecret} />
          </>
        ) : (
          <>
            <p>
              The secret is made when this one-time token is redeemed. Give the token to the person who needs the
              secret, or show the secret here. The token is valid once, for {until(retrieval.expiresAt)}.
            </p>
            <SecretText label="One-time token" text={retrieval.token} />
          </>
        )}
        {error !== undefined && (
          <p class="problem" role="alert">
            {explain(error)}
          </p>
        )}
      </div>
      <footer>
        {!secret && (
          <button type="button" class="button" aria-disabled={isRunning} onClick={() => void run()}>
            {isRunning ? 'Working…' : 'Show the secret'}
          </button>
        )}
        <button type="button" class="button primary" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  );
}

export const SecretText = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <div class="field">
    <span class="label">{label}</span>
    <div class="row secret">
      <code class="grow">{text}</code>
      <CopyButton text={text} />
    </div>
  </div>
);
