/** The claude_code connector: lines as its plugin posts them. */
import { describe, expect, it } from 'vitest'
import { claudeCode } from '../../../../../engine/sources/connectors/claude-code.ts'
import { validateConfig } from '../../../../../engine/sources/connectors/index.ts'
import { prepared } from '../reach.ts'

const BASE = {
  sessionId: 's1',
  uuid: 'u1',
  type: 'assistant',
  timestamp: '2026-11-20T11:59:00.000Z',
  cwd: '/srv/shop',
  gitBranch: 'main',
  isSidechain: false,
}
const blocks = (...content: unknown[]) => ({ ...BASE, message: { role: 'assistant', model: 'm-1', content } })

const events = (lines: unknown[], config: Record<string, unknown> = {}) =>
  prepared(claudeCode, validateConfig('claude_code', config), {
    items: lines.map((line) => JSON.stringify(line)),
    cursor: null,
  })

const TOKEN = `ghp_${'a1B2'.repeat(9)}`

describe('a line of a session', () => {
  it('is on the session, with what it says as labels', () => {
    const [event] = events([blocks({ type: 'text', text: 'Done.\nAll tests pass.' })])
    expect(event).toMatchObject({
      eventType: 'assistant',
      text: 'Done. All tests pass.',
      ts: Date.parse(BASE.timestamp),
      hasEntity: true,
      raw: null,
    })
    expect(Object.fromEntries(event!.strings)).toEqual({
      session: 's1',
      repo: 'shop',
      branch: 'main',
      model: 'm-1',
      type: 'assistant',
      sidechain: 'false',
    })
  })

  it.each([
    [
      blocks({ type: 'tool_use', name: 'Bash', input: { command: 'npm test' } }),
      'tool_use',
      '→ Bash({"command":"npm test"})',
    ],
    [
      blocks({ type: 'tool_result', content: [{ type: 'text', text: '3 passed' }] }),
      'tool_result',
      '[tool_result] 3 passed',
    ],
    [{ ...BASE, type: 'user', message: { content: 'fix the tests' } }, 'user', 'fix the tests'],
    [{ ...BASE, type: 'summary', summary: 'Tests fixed' }, 'summary', 'Tests fixed'],
    [{ ...BASE, type: 'session_state', state: 'waiting', reason: 'asks' }, 'session_state', 'waiting: asks'],
    [{ ...BASE, type: 'session_flow', flow: 'challenger' }, 'session_flow', 'flow challenger'],
  ])('%# says what it is in a line', (line, eventType, text) => {
    expect(events([line])[0]).toMatchObject({ eventType, text })
  })

  it('shows thoughts only where that is wanted', () => {
    const line = blocks({ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'ok' })
    expect(events([line])[0]!.text).toBe('ok')
    expect(events([line], { include_thinking: true })[0]!.text).toBe('hm ok')
  })

  it('that belongs to no session is left out, and one that is sent again is the same', () => {
    expect(events([{ ...BASE, sessionId: undefined }])).toEqual([])
    const [first, again] = events([blocks(), blocks()])
    expect([first!.dedupeKey, again!.dedupeKey]).toEqual(['s1 u1', 's1 u1'])
  })

  it('without a uuid is told by its content, and by its place where it has no time either', () => {
    const keys = (lines: unknown[]) => events(lines).map(({ dedupeKey }) => dedupeKey)
    const timed = { ...BASE, uuid: undefined, type: 'session_flow', flow: 'build' }
    const untimed = { ...timed, timestamp: undefined }
    const [a, b, c, d, e] = keys([timed, timed, { ...timed, flow: 'test' }, untimed, untimed])
    expect(a).toBe(b)
    expect(new Set([a, c, d, e]).size).toBe(4)
    expect(keys([timed, timed, { ...timed, flow: 'test' }, untimed, untimed])).toEqual([a, b, c, d, e])
  })
})

describe('credentials in a line', () => {
  it.each([
    ['a token', `push with ${TOKEN} now`, 'push with [REDACTED] now'],
    [
      'a header',
      'curl -H "Authorization: Bearer abcdef0123456789"',
      'curl -H "Authorization: Bearer [REDACTED]"',
    ],
    ['a key', `-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----`, '[REDACTED]'],
    ['code that names one', 'const password = readPassword()', 'const password = readPassword()'],
  ])('are taken out of text and payload: %s', (_what, text, clean) => {
    const [event] = events([blocks({ type: 'text', text })])
    expect(event!.text).toBe(clean.replaceAll('\n', ' '))
    const payload = event!.raw ? Buffer.from(event!.raw).toString() : JSON.stringify(text)
    expect(payload).toContain(JSON.stringify(clean))
    if (clean !== text) expect(payload).not.toContain(JSON.stringify(text))
  })

  it('are found where JSON spells them out, in names, and under a name given twice', () => {
    const spelt = `{"sessionId":"s1","type":"user","a":"\\u0067${TOKEN.slice(1)}","a":"x","${TOKEN}":1}`
    const [event] = prepared(claudeCode, {}, { items: [spelt], cursor: null })
    expect(Buffer.from(event!.raw!).toString()).toBe(
      '{"sessionId":"s1","type":"user","a":"x","[REDACTED]":1}',
    )
  })

  it('stay where redaction is switched off', () => {
    const [event] = events([blocks({ type: 'text', text: TOKEN })], { redact: false })
    expect(event).toMatchObject({ text: TOKEN, raw: null })
  })
})

describe('a challenge', () => {
  const challenge = {
    verdict: 'fail',
    sha: '0123456789abcdef0123',
    findings: [{ priority: 'P1', title: 'No test', waived: false }],
    finding_count: 1,
    blocking_count: 1,
    round: 2,
    duration_seconds: 12.5,
  }

  it('is an event of its own, with its verdict and counts as labels', () => {
    const [event] = events([{ ...BASE, type: 'challenge_commit', challenge }])
    expect(event).toMatchObject({
      eventType: 'challenge_commit',
      text: 'Challenger reviewed commit 01234567, round 2: 1 finding (1 blocking) · [P1] No test',
      numbers: { finding_count: 1, blocking_count: 1, round: 2, duration_seconds: 12.5 },
    })
    expect(Object.fromEntries(event!.strings)).toMatchObject({ verdict: 'FAIL', sha: '0123456789ab' })
  })

  it.each([
    [{ verdict: 'pass', sha: '0123456789', finding_count: 0 }, 'commit 01234567: no findings'],
    [{ sha: '0123456789' }, 'commit 01234567: no verdict (timeout)'],
    [
      { verdict: 'fail', plan: 'api', finding_count: 2, blocking_count: 0 },
      'plan api: 2 findings (0 blocking)',
    ],
  ])('%# says how it ended', (one, text) => {
    const [event] = events([{ ...BASE, type: 'challenge_plan', challenge: one }])
    expect(event!.text).toBe(`Challenger reviewed ${text}`)
  })
})
