/** Headers that routes read and the API document names, each as a parameter that operations share. */

const text = (pattern: string) => ({ type: 'string', pattern })

export const headerParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    description: 'The same for a call that is sent again: it is stored once, and answered as it was.',
    schema: text('^[\\x21-\\x7e]{1,255}$'),
  },
  BypassCooldown: {
    name: 'X-SVC-Bypass-Cooldown',
    description: 'true: wakes triggers over the source now, even inside their cooldown.',
    schema: { type: 'string' },
  },
  ExportSource: {
    name: 'X-SVC-Source',
    description: 'Name of the source that takes the export; the first of its kind when absent.',
    schema: { type: 'string' },
  },
  LastEvent: {
    name: 'Last-Event-ID',
    description: 'Id of the last event that was seen; those stored since are sent first.',
    schema: text('^evt_[0-9]{1,15}$'),
  },
  LastFrame: {
    name: 'Last-Event-ID',
    description: 'Number of the last frame that was seen; it goes before the query field after.',
    schema: text('^[0-9]{1,9}$'),
  },
  IfMatch: {
    name: 'If-Match',
    description:
      'The ETag of the version that was read: what others wrote since is merged field by field, and 409 names the fields that both changed. Without it the last write wins.',
    schema: text('^((W/)?"[0-9]{1,15}"|\\*)$'),
  },
  IfVersion: {
    name: 'If-Match',
    description:
      'The ETag of the version that was read: 409 where it is another now. Without it the last write wins.',
    schema: text('^((W/)?"[0-9]{1,15}"|\\*)$'),
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    description: 'The ETag of the answer that is there already: 304 says that nothing has changed.',
    schema: { type: 'string' },
  },
  Why: {
    name: 'X-SVC-Why',
    description: 'The reason, for the change history; percent-encoded where it is more than ASCII.',
    schema: { type: 'string', maxLength: 1_500 },
  },
} as const

export type HeaderName = keyof typeof headerParameters
