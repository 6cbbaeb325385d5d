/** A firing as a message of Slack: what tripped, of whom, and the timeline as it was then. */
import type { FiringMessage } from '../../../schemas/types.ts'
import type { SlackMessage } from './finding.ts'
import { escaped } from './mrkdwn.ts'

const HEADER_MAX = 150
const FIELD_MAX = 300
/** Of the timeline; the newest of it is at its end. */
const PAYLOAD_MAX = 1_500

/** @param publicUrl address of the console; null: without a button. */
export function firingMessage(firing: FiringMessage, publicUrl: string | null): SlackMessage {
  const { trigger, key, entity, fired_at: at, payload, reason, dispatch_id: id } = firing
  const who = entity ? `${entity.label}=${entity.value}` : key
  const field = (name: string, value: string) => ({
    type: 'mrkdwn',
    text: `*${name}*\n${value}`,
    verbatim: true,
  })
  const seconds = Math.floor(Date.parse(at) / 1_000)
  const iso = `${at.slice(0, 16).replace('T', ' ')} UTC`
  const button = {
    type: 'button',
    text: { type: 'plain_text', text: 'View firing' },
    action_id: 'svc_firing',
    url: `${publicUrl?.replace(/\/+$/, '')}/firings/${encodeURIComponent(id)}`,
  }
  return {
    text: escaped(cut(`${trigger} fired${who ? ` for ${who}` : ''}`, FIELD_MAX)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(oneLine(trigger), HEADER_MAX) } },
      {
        type: 'section',
        fields: [
          ...(who ? [field('Entity', escaped(cut(oneLine(who), FIELD_MAX)))] : []),
          field('Fired', `<!date^${seconds}^{date_short_pretty} {time}|${iso}>`),
        ],
      },
      ...(payload.trim()
        ? [
            {
              type: 'section',
              text: { type: 'mrkdwn', text: `\`\`\`\n${code(payload)}\n\`\`\``, verbatim: true },
            },
          ]
        : []),
      ...(publicUrl === null ? [] : [{ type: 'actions', elements: [button] }]),
      {
        type: 'context',
        elements: [
          {
            type: 'mrkdwn',
            text: escaped(cut(oneLine(reason || `Firing ${id}`), FIELD_MAX)),
            verbatim: true,
          },
        ],
      },
    ],
  }
}

/** The end of the text, from a line on; a fence within would end the block. */
function code(payload: string): string {
  const text = escaped(payload.trim()).replaceAll('```', "'''")
  if (text.length <= PAYLOAD_MAX) return text
  const end = text.slice(-PAYLOAD_MAX)
  return `…\n${end.slice(end.indexOf('\n') + 1)}`
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`)
