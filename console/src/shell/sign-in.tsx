import { useEffect, useState } from 'preact/hooks';
import { explain, Problem } from '../data/problem.js';
import {
  checkSession,
  type LinkPreview,
  linkToken,
  previewLink,
  type SignedOutReason,
  signIn,
} from '../data/session.js';
import { useAction } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Icon } from '../ui/icon.js';
import { Loading } from '../ui/states.js';
import { Brand } from './brand.js';

/** Takes the one-time token out of the address, so that it is not in the history of the browser. */
function takeToken(): string | undefined {
  const token = linkToken(location.hash);
  if (token) history.replaceState(null, '', location.pathname + location.search);
  return token;
}

const titles: Readonly<Record<SignedOutReason, string>> = {
  never: 'Sign in',
  'signed-out': 'You are signed out',
  ended: 'Your session has ended',
};

export function SignIn({ reason }: { readonly reason: SignedOutReason }) {
  const [token, setToken] = useState(takeToken);
  const cancel = () => {
    setToken(undefined);
    // There may be a session from before the link was opened.
    void checkSession();
  };
  useEffect(() => {
    document.title = 'Sign in · Tollgate';
  }, []);
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <Brand />
        {token ? (
          <LinkForm token={token} onCancel={cancel} />
        ) : (
          <CredentialsForm title={titles[reason]} returns={reason === 'ended'} />
        )}
      </div>
    </main>
  );
}

function CredentialsForm({ title, returns }: { readonly title: string; readonly returns: boolean }) {
  const [clientId, setClientId] = useState('');
  const [clientSecret, setClientSecret] = useState('');
  const { run, isRunning, error } = useAction(() => signIn({ clientId: clientId.trim(), clientSecret }));
  const waitSecs = useWait(error);
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (waitSecs === 0) void run();
      }}
    >
      <div>
        <h1>{title}</h1>
        <p class="muted small">
          {returns ? 'Sign in to return to where you were.' : 'Use the credentials of a client of your org or app.'}
        </p>
      </div>
      <Field label="Client id" value={clientId} onInput={setClientId} autoComplete="username" required autoFocus />
      <Field
        label="Client secret"
        type="password"
        value={clientSecret}
        onInput={setClientSecret}
        autoComplete="current-password"
        required
      />
      <SignInProblem error={error} waitSecs={waitSecs} />
      <button type="submit" class="button primary" aria-disabled={isRunning || waitSecs > 0}>
        {isRunning ? 'Signing in…' : 'Sign in'}
      </button>
      <p class="hint">
        Platform admin: run <code>tollgate console</code> on the gateway and open the link that it prints.
      </p>
    </form>
  );
}

function SignInProblem({ error, waitSecs }: { readonly error: unknown; readonly waitSecs: number }) {
  if (error === undefined) return null;
  const isWrong = error instanceof Problem && error.code === 'UNAUTHENTICATED';
  const text = isWrong ? 'The client id or the secret is wrong, or the client was deleted.' : explain(error);
  return (
    <p class="problem" role="alert">
      {waitSecs > 0 ? `Too many attempts. You can try again in ${waitSecs} s.` : text}
    </p>
  );
}

/** The seconds until another attempt is allowed, counted down. */
function useWait(error: unknown): number {
  const [secs, setSecs] = useState(0);
  useEffect(() => {
    const wait = error instanceof Problem && error.code === 'RATE_LIMITED' ? (error.details.retryAfterSecs ?? 1) : 0;
    setSecs(Math.ceil(wait));
    if (wait === 0) return;
    const timer = setInterval(() => setSecs((left) => Math.max(0, left - 1)), 1000);
    return () => clearInterval(timer);
  }, [error]);
  return secs;
}

function LinkForm({ token, onCancel }: { readonly token: string; readonly onCancel: () => void }) {
  const [preview, setPreview] = useState<LinkPreview>();
  const [failed, setFailed] = useState<unknown>();
  useEffect(() => {
    previewLink(token).then(setPreview, setFailed);
  }, [token]);
  const { run, isRunning, error } = useAction(() => signIn({ token }));
  const problem = failed ?? error;
  if (problem !== undefined)
    return (
      <div class="form">
        <h1>This link does not work</h1>
        <p class="problem" role="alert">
          {problem instanceof Problem && problem.code === 'UNAUTHENTICATED'
            ? 'It was used before, or is older than two minutes. Run `tollgate console` again for a new one.'
            : explain(problem)}
        </p>
        <button type="button" class="button" onClick={onCancel}>
          Sign in with credentials
        </button>
      </div>
    );
  if (!preview) return <Loading what="the link" />;
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <h1>Sign in as {nameOf(preview)}?</h1>
      <p class="muted small">
        {preview.role === 'READ' ? 'The session is read-only. ' : ''}In the audit trail it is{' '}
        <code>{preview.actor}</code>.
      </p>
      <button type="submit" class="button primary" aria-disabled={isRunning}>
        <Icon name="check" />
        {isRunning ? 'Signing in…' : 'Sign in'}
      </button>
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}

function nameOf({ kind, org, app, clientId }: LinkPreview): string {
  if (kind === 'PLATFORM_ADMIN') return org ? `${org.name} (platform admin)` : 'platform admin';
  return app?.name ?? org?.name ?? clientId ?? 'this client';
}
