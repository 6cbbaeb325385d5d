/** Names of one thing, joined. */

export { default as EntitiesPage } from '../pages/entities/entities-page.tsx'
export { default as EntityPage } from '../pages/entities/entity-page.tsx'
