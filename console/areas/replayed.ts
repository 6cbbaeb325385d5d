/** A project played again, on the canvas of the graph. A chunk of its own: whoever looks at the graph need not wait for it. */
export { default as ReplayPage } from '../replay/replay-page.tsx'
