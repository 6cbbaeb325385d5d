/** Projects, and the sources that bring their events. One chunk: whoever opens one of these pages opens the next without waiting. */

export { default as FindingsPage } from '../pages/projects/findings-page.tsx'
export { default as ProjectPage } from '../pages/projects/project-page.tsx'
export { default as ProjectsPage } from '../pages/projects/projects-page.tsx'
export { default as SourcePage } from '../pages/sources/source-page.tsx'
export { default as SourcesPage } from '../pages/sources/sources-page.tsx'
