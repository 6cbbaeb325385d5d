/** A project drawn as a graph. One chunk; its forms and lists are loaded when somebody edits, and the replay by itself. */
export { default as GraphTab } from '../pages/projects/graph-tab.tsx'
