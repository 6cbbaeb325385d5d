/** What somebody who was called looks at first: incidents, firings, deliveries, events. One chunk: whoever opens one of these pages opens the next without waiting. */

export { default as DeliveriesPage } from '../pages/deliveries/deliveries-page.tsx'
export { default as EventPage } from '../pages/explore/event-page.tsx'
export { default as FiringPage } from '../pages/firings/firing-page.tsx'
export { default as IncidentPage } from '../pages/incidents/incident-page.tsx'
export { default as IncidentsPage } from '../pages/incidents/incidents-page.tsx'
