/** A delivery as lines for people: to whom it goes, and how each try went. */
import { countWords } from '../../schemas/plain-words.ts'
import type { Delivery } from '../../schemas/types.ts'
import { escapeLine, type Style } from './terminal.ts'

/** Status → the style it is shown in. */
export const STATUS_STYLES: Record<Delivery['status'], Style> = {
  running: 'yellow',
  delivered: 'green',
  failed: 'red',
}

/** Who it goes to, by name and masked address; not escaped. */
export function recipientText({ of, recipient }: Delivery): string {
  const { kind, name, address } = recipient
  if (of === 'finding') return `${kind === 'slack' ? 'Slack' : 'webhook'} of agent ${name} (${address})`
  return kind === 'agent' ? `agent ${name}` : `${name} (${kind === 'mcp' ? 'fetched' : address})`
}

/** How it stands, in a few words; not escaped. */
export function progressText({ status, due_at, reason, delivered_at, recipient, tries }: Delivery): string {
  if (status === 'delivered') return `at ${delivered_at}`
  const why = reason ?? ''
  if (status === 'failed') return why
  if (recipient.kind === 'mcp')
    return tries === 0 ? 'waits to be fetched' : `fetched ${countWords(tries, 'time')}, not ended yet`
  const now = recipient.kind === 'agent' ? 'at work or waiting' : 'being sent'
  return [why, due_at === null ? now : `next try ${due_at}`].filter(Boolean).join('; ')
}

/** Its tries, newest first, a line each, and when the next one is; escaped. */
export function attemptLines(delivery: Delivery): string[] {
  const { status, attempts, reason, due_at, tries } = delivery
  const lines = attempts.map(({ at, ms, status: http, error }) => {
    const came = http === null ? '' : ` HTTP ${http}`
    return `  ${at}${came} in ${ms} ms${error === null ? '' : `: ${escapeLine(error)}`}\n`
  })
  if (due_at !== null) lines.unshift(`  next try ${due_at}\n`)
  // What never was tried, such as what went to an agent that is off, has only a reason.
  if (status === 'failed' && attempts.length === 0 && reason !== null) lines.push(`  ${escapeLine(reason)}\n`)
  if (tries > attempts.length && attempts.length > 0)
    lines.push(`  … ${countWords(tries - attempts.length, 'earlier try', 'earlier tries')}\n`)
  return lines
}
