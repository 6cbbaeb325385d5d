/** Where what happened is looked into: incidents, firings, deliveries, runs, timelines. One chunk: whoever opens one of these pages opens the next without waiting. */

export { default as DeliveriesPage } from '../pages/deliveries/deliveries-page.tsx'
export { default as EventPage } from '../pages/explore/event-page.tsx'
export { default as ExplorePage } from '../pages/explore/explore-page.tsx'
export { default as FiringPage } from '../pages/firings/firing-page.tsx'
export { default as IncidentPage } from '../pages/incidents/incident-page.tsx'
export { default as IncidentsPage } from '../pages/incidents/incidents-page.tsx'
export { default as ComparePage } from '../pages/runs/compare-page.tsx'
export { default as RunPage } from '../pages/runs/run-page.tsx'
export { default as RunsPage } from '../pages/runs/runs-page.tsx'
export { default as UsagePage } from '../pages/usage/usage-page.tsx'
