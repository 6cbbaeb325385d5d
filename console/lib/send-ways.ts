/** What pages that only name ways to send need of them: the commands themselves are loaded where they are shown. */

/** Connectors whose producers need more than an ingest URL. */
export const OWN_WAYS: ReadonlySet<string> = new Set([
  'otlp',
  'syslog',
  'vercel',
  'claude_code',
  'alertmanager',
])

/** In place of a key with the scope ingest, where it is not known. */
export const KEY = 'YOUR_INGEST_KEY'
