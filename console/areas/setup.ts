/** Guided setup. A chunk of its own: it has all forms, which the pages of a project need not. */
export { default as NewProjectPage } from '../pages/projects/new-project-page.tsx'
export { default as SetupPage } from '../pages/setup/setup-page.tsx'
