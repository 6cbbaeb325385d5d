/** Projects and guided setup. One chunk: whoever opens one of these pages opens the next without waiting. */

export { default as FindingsPage } from '../pages/projects/findings-page.tsx'
export { default as NewProjectPage } from '../pages/projects/new-project-page.tsx'
export { default as ProjectPage } from '../pages/projects/project-page.tsx'
export { default as ProjectsPage } from '../pages/projects/projects-page.tsx'
export { default as SetupPage } from '../pages/setup/setup-page.tsx'
