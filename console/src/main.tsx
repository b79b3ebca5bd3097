import { QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Router } from 'wouter-preact';
import { queryClient } from './data/client.js';
import { watchInput } from './data/http.js';
import { beginSession, checkSession, sessionState } from './data/session.js';
import { useStore } from './lib/store.js';
import { SessionContext } from './shell/context.js';
import { forgetSession, Shell } from './shell/shell.js';
import { SignIn } from './shell/sign-in.js';
import { applyTheme, theme } from './shell/theme.js';
import { Failure, Loading } from './ui/states.js';
import './style/index.css';

function Console() {
  const state = useStore(sessionState);
  useEffect(() => {
    if (state.status === 'out') forgetSession();
  }, [state.status]);
  switch (state.status) {
    case 'checking':
      return <Loading what="the console" />;
    case 'failed':
      return <Failure what="Could not reach the gateway" error={state.error} onRetry={() => void checkSession()} />;
    case 'out':
      return <SignIn reason={state.reason} />;
    case 'in':
      return (
        <SessionContext.Provider value={state.session}>
          <Shell />
        </SessionContext.Provider>
      );
  }
}

applyTheme(theme.get());
watchInput();
beginSession();
const root = document.getElementById('app');
if (root)
  render(
    <QueryClientProvider client={queryClient}>
      <Router base="/console">
        <Console />
      </Router>
    </QueryClientProvider>,
    root,
  );
