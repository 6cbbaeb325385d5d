/** Issue 16, A13: control bytes of a log do not reach who reads text, and are exact in the payload. */
import { expect, it } from 'vitest'
import { fence, renderRows } from '../../../../engine/agents/runs/prompt.ts'
import { atOnce } from '../../../../engine/log/steps.ts'
import { answerRead } from '../../../../engine/log/timeline/read.ts'
import { statsInSteps } from '../../../../engine/log/timeline/stats.ts'
import { escapeLine, escapeText } from '../../../../schemas/plain-text.ts'
import { addSource, event, openHarness, T0 } from '../store/store-harness.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

const TEXT = 'paid\u001b]0;owned\u0007 \u001b[2J\u009b31m \u202egnp'

it('A13: text of an event, its labels and the table of counts come harmless, the payload as it was', () => {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [{ name: 'service', field: 'service', primary: true }])
  const raw = JSON.stringify({ service: 'shop', msg: TEXT })
  harness.append(
    [event({ service: 'shop', user: 'eve\u001b[31m' }, T0, { text: TEXT, raw: Buffer.from(raw) })],
    { sourceId: app },
  )
  const request = { selector: { service: 'shop' }, window: '2h', include_payload: true }
  const answer = answerRead(harness.ctx, request, T0 + 60_000)
  const [row] = answer.rows
  expect(row!.text).toBe('paid\\u001b]0;owned\\u0007 \\u001b[2J\\u009b31m \\u202egnp')
  expect(answer.payload).toContain('user=eve\\u001b[31m')
  expect(answer.payload).not.toMatch(CONTROL)
  expect(renderRows(answer.rows)).toContain('paid\\u001b]0;owned')
  expect(fence('m', renderRows(answer.rows))).not.toMatch(CONTROL)
  expect(JSON.parse(row!.raw!)).toEqual({ service: 'shop', msg: TEXT })
  // Labels are what a selector takes, so they stay what they are.
  expect(row!.labels.user).toBe('eve\u001b[31m')
  expect(atOnce(statsInSteps(harness.ctx, { by: 'user', window: '2h' }, T0 + 60_000)).stats).not.toMatch(
    CONTROL,
  )
})

it('A13: line breaks and tabs of a text stay, those of a line do not', () => {
  expect(escapeText('a\n\tb\r\u0000\u2028')).toBe('a\n\tb\\u000d\\u0000\\u2028')
  expect(escapeLine('a\n\tb')).toBe('a\\u000a\\u0009b')
  expect(escapeText('plain é 😀')).toBe('plain é 😀')
})
