/** How the instance is kept: changes, the catalog file, settings, keys, access. One chunk: whoever opens one of these pages opens the next without waiting. */
export { default as CatalogPage } from '../pages/catalog/catalog-page.tsx'
export { default as ChangesPage } from '../pages/changes/changes-page.tsx'
export { default as ApproveLoginPage } from '../pages/connect/approve-login-page.tsx'
export { default as ConnectPage } from '../pages/connect/connect-page.tsx'
export { default as EvalsPage } from '../pages/evals/evals-page.tsx'
export { default as KeysPage } from '../pages/keys/keys-page.tsx'
export { default as ProposalsPage } from '../pages/proposals/proposals-page.tsx'
export { default as SettingsPage } from '../pages/settings/settings-page.tsx'
