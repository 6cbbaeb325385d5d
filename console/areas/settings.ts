/** Where an instance is set up: guided setup, Settings, and who logs in to it. Mostly forms, which the pages of a project need not load. */
export { default as ApproveLoginPage } from '../pages/connect/approve-login-page.tsx'
export { default as ConsentPage } from '../pages/connect/consent-page.tsx'
export { default as NewProjectPage } from '../pages/projects/new-project-page.tsx'
export { default as SettingsPage } from '../pages/settings/settings-page.tsx'
export { default as SetupPage } from '../pages/setup/setup-page.tsx'
