/** Traces, and what agents from outside and metrics have sent. One chunk: whoever opens one of these pages opens the next without waiting. */
export { default as TracePage } from '../pages/traces/trace-page.tsx'
export { default as TracesPage } from '../pages/traces/traces-page.tsx'
