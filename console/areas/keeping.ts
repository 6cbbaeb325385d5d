/** How the instance is kept: changes, help, logins, evals; and traces, which most who look into what happened never open. One chunk: whoever opens one of these pages opens the next without waiting. */
export { default as ChangesPage } from '../pages/changes/changes-page.tsx'
export { default as ApproveLoginPage } from '../pages/connect/approve-login-page.tsx'
export { default as EntitiesPage } from '../pages/entities/entities-page.tsx'
export { default as EntityPage } from '../pages/entities/entity-page.tsx'
export { default as EvalsPage } from '../pages/evals/evals-page.tsx'
export { default as HelpPage } from '../pages/help/help-page.tsx'
export { default as TracePage } from '../pages/traces/trace-page.tsx'
export { default as TracesPage } from '../pages/traces/traces-page.tsx'
