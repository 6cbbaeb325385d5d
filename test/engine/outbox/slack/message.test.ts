import { describe, expect, it } from 'vitest'
import {
  excerptOf,
  findingMessage,
  firingMessage,
  mrkdwn,
  SECTION_MAX,
  sections,
} from '../../../../engine/outbox/slack-messages.ts'
import type { FiringMessage } from '../../../../schemas/types.ts'

describe('Markdown in Slack', () => {
  it.each([
    ['**bold** and __bold__', '*bold* and *bold*'],
    ['# Cause #', '*Cause*'],
    ['- one\n  * two', '• one\n  • two'],
    ['above\n\n---\n\nbelow', 'above\n\nbelow'],
    ['`a < b` & c', '`a &lt; b` &amp; c'],
    ['```ts\nif (a < b) {}\n```', '```\nif (a &lt; b) {}\n```'],
    ['| a | b |\n|---|---|\n| 1 | **2** |', '```\na  b\n1  **2**\n```'],
    [
      `| name | why |\n| :-- | --- |\n| x | ${'long '.repeat(15)}|`,
      `• name: x; why: ${'long '.repeat(15).trim()}`,
    ],
  ])('%j is %j', (markdown, expected) => expect(mrkdwn(markdown)).toBe(expected))

  it.each([
    ['<!channel> and <!here|x>', '&lt;!channel&gt; and &lt;!here|x&gt;'],
    ['<@U123> <#C1> <!subteam^S1>', '&lt;@U123&gt; &lt;#C1&gt; &lt;!subteam^S1&gt;'],
    ['<https://evil.test|https://bank.test>', '&lt;https://evil.test|https://bank.test&gt;'],
    ['[https://bank.test](https://evil.test)', 'https://bank.test (https://evil.test)'],
    ['[x](javascript:alert(1))', '[x](javascript:alert(1))'],
    ['[<!channel>](https://evil.test/<@U1>)', '[&lt;!channel&gt;](https://evil.test/&lt;@U1&gt;)'],
    ['&lt;!channel&gt;', '&amp;lt;!channel&amp;gt;'],
    ['```\n<!channel>\n``` ```\n', '```\n&lt;!channel&gt;\n```'],
    ['# <!everyone>', '*&lt;!everyone&gt;*'],
    ['| <!here> |\n|---|\n| <@U1> |', '```\n&lt;!here&gt;\n&lt;@U1&gt;\n```'],
  ])('text mentions nobody and hides no address: %j', (markdown, expected) => {
    const said = mrkdwn(markdown)
    expect(said).not.toMatch(/[<>]/)
    if (!markdown.includes('evil.test/<')) expect(said).toBe(expected)
  })

  it.each(['[', '![', '[a](', '```\n', '**a ', '__a ', '|\n|'])(
    'of %j takes no more time for eight times the length than in proportion',
    (part) => {
      const took = (length: number): number => {
        const text = part.repeat(Math.ceil(length / part.length))
        const times = Array.from({ length: 3 }, () => {
          const from = process.cpuUsage()
          mrkdwn(text)
          const { user, system } = process.cpuUsage(from)
          return (user + system) / 1_000
        })
        return Math.min(...times)
      }
      took(8_000)
      // Quadratic work would be 64 times as much; 50 ms stand for what a clock cannot tell.
      expect(took(64_000)).toBeLessThan(24 * took(8_000) + 50)
    },
  )

  it('is cut between lines, and a code block that is cut goes on in one', () => {
    const code = ['```', ...Array.from({ length: 400 }, (_, i) => `line ${i} of code`), '```'].join('\n')
    const parts = sections(`Before\n${code}\nAfter`)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(SECTION_MAX)
      expect(part.split('```').length % 2).toBe(1)
    }
    const lines = parts.join('\n').split('\n')
    expect(lines.filter((line) => line.startsWith('line '))).toHaveLength(400)
    expect(lines.at(-1)).toBe('After')
    for (const part of sections('&lt;'.repeat(3_000))) expect(part).toMatch(/^(&lt;)+$/)
  })

  it('is stood for by its summary, or its first words, to the end of a sentence', () => {
    expect(excerptOf('# Report\n\nFirst words.\n\nSummary: it broke at noon.')).toBe(
      'Summary: it broke at noon.',
    )
    expect(excerptOf('# Report\n\n```\ncode\n```\n\nFirst words.')).toBe('First words.')
    const long = `${'A sentence of words. '.repeat(60)}`
    expect(excerptOf(long)).toMatch(/words\.$/)
    expect(excerptOf(long).length).toBeLessThanOrEqual(600)
  })
})

describe('a finding in Slack', () => {
  const found = {
    ...{ runId: 'run_1', agent: 'first-look', trigger: 'errors', verdict: 'investigate', model: 'm1' },
    ...{ label: 'service', entity: 'check<out>', headline: 'It broke', nextStep: 'Roll back' },
    ...{ note: 'The deploy broke it.', at: Date.parse('2026-11-20T12:00:00Z') },
  }

  it('is whole in one message that fits, with its fields and no buttons without an address', () => {
    const { first, thread } = findingMessage(found, null)
    expect(thread).toEqual([])
    expect(first.text).toBe('first-look on service=check&lt;out&gt;: It broke')
    const text = JSON.stringify(first.blocks)
    expect(first.blocks[0]).toMatchObject({ type: 'header', text: { text: 'service=check<out>' } })
    for (const part of [
      '*Agent*\\nfirst-look',
      '*Trigger*\\n`errors`',
      '*Verdict*\\ninvestigate',
      '*Model*\\nm1',
      '<!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>',
      'The deploy broke it.',
      '*Next:* Roll back',
    ])
      expect(text).toContain(part)
    expect(first.blocks.map(({ type }) => type)).not.toContain('actions')
  })

  it('has buttons to its run and the timeline of its entity', () => {
    const { first } = findingMessage(found, 'https://svc.example/')
    expect(first.blocks.find(({ type }) => type === 'actions')).toMatchObject({
      elements: [
        { text: { text: 'View' }, url: 'https://svc.example/runs/run_1' },
        {
          text: { text: 'Open timeline' },
          url: 'https://svc.example/explore?l=service%3Dcheck%3Cout%3E',
        },
      ],
    })
  })

  it('is an excerpt with the whole note in the thread where it is long', () => {
    const note = `Intro.\n\nSummary: the deploy broke checkout.\n\n${'- evidence of it\n'.repeat(400)}`
    const { first, thread } = findingMessage({ ...found, note }, null)
    expect(JSON.stringify(first.blocks)).toContain('Summary: the deploy broke checkout.')
    expect(JSON.stringify(first.blocks)).not.toContain('evidence of it')
    expect(JSON.stringify(thread).match(/evidence of it/g)).toHaveLength(400)
    expect(thread[0]!.blocks.length).toBeLessThanOrEqual(50)
  })
})

describe('A firing in Slack', () => {
  const firing = {
    ...{ trigger: 'alerts', title: 'DiskFull · node7 is 97% full', severity: 'critical', key: 'checkout' },
    entity: { label: 'service', value: 'checkout' },
    ...{ fired_at: '2026-11-20T12:00:00.000Z', payload: '', reason: 'an event', dispatch_id: 'd' },
  } as FiringMessage
  const saidOf = (more: Partial<FiringMessage>) => firingMessage({ ...firing, ...more }, null)

  it('says what tripped it, of whom and how bad, where a phone shows its first line alone', () => {
    expect(saidOf({}).text).toBe('DiskFull · node7 is 97% full (service=checkout), critical')
    expect(saidOf({}).blocks[0]).toMatchObject({ text: { text: 'DiskFull · node7 is 97% full' } })
    expect(JSON.stringify(saidOf({}).blocks[1])).toContain('*Trigger*\\n`alerts`')
  })

  it('that resolves another says that it is over, not that it fired', () => {
    const { text, blocks } = saidOf({ resolves: 'd' })
    expect(text).toBe('Over: DiskFull · node7 is 97% full (service=checkout), critical')
    expect(JSON.stringify(blocks)).not.toContain('Fired')
  })
})
