/** What draws a project: the graph with its editor, and the replay. One chunk: both draw with the same canvas. */
export { default as GraphTab } from '../pages/projects/graph-tab.tsx'
export { default as ReplayPage } from '../replay/replay-page.tsx'
