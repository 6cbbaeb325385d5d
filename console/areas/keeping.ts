/** How the instance is kept: changes, help, evals. One chunk: whoever opens one of these pages opens the next without waiting. */
export { default as ChangesPage } from '../pages/changes/changes-page.tsx'
export { default as EvalsPage } from '../pages/evals/evals-page.tsx'
export { default as HelpPage } from '../pages/help/help-page.tsx'
