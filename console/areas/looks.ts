/** What agents did, and timelines: runs, Explore, usage. One chunk: whoever opens one of these pages opens the next without waiting. */

export { default as ExplorePage } from '../pages/explore/explore-page.tsx'
export { default as ComparePage } from '../pages/runs/compare-page.tsx'
export { default as RunPage } from '../pages/runs/run-page.tsx'
export { default as RunsPage } from '../pages/runs/runs-page.tsx'
export { default as UsagePage } from '../pages/usage/usage-page.tsx'
